import { useQuery } from "@tanstack/react-query"
import { createContext, useContext, useState, type ReactNode } from "react"
import { count, duration, visible } from "../lib/text.ts"
import type { RunDigest } from "../runs/data.ts"
import { Status } from "../runs/status.tsx"
import { Problem } from "../ui/states.tsx"

/** The runs that calls of the shown run asked for, and how one comes to them: over a server, or in a file. */
export interface Nesting {
  asked: readonly RunDigest[]
  /** Those that another run asked for, in the order in which they began. */
  below(run: string): Promise<readonly RunDigest[]>
  /** What leads to a run. */
  link(run: string, content: ReactNode, className: string): ReactNode
}

export const Nested = createContext<Nesting>({
  asked: [],
  below: () => Promise.resolve([]),
  link: (_run, content) => content,
})

/** The runs that one call asked for: as often as it was made. */
export function useAskedBy(call: string | undefined): readonly RunDigest[] {
  const { asked } = useContext(Nested)
  return call === undefined ? [] : asked.filter(({ askedBy }) => askedBy?.call === call)
}

/** Says in the line of a call that it asked an agent, and how that stands. */
export function AskedMark({ call }: { call: string | undefined }) {
  const last = useAskedBy(call).at(-1)
  return last === undefined ? null : (
    <span className="flex-none text-[11px] text-accent">
      ↳ {visible(last.agent)}: {last.status.replaceAll("-", " ")}
    </span>
  )
}

const OPEN = new Set(["running", "waiting", "interrupted"])

/** A tree of runs: each with what it is, and those below it when they are asked for. */
export function RunTree({ runs, label }: { runs: readonly RunDigest[]; label: string }) {
  return (
    <ul aria-label={label} className="m-0 flex flex-col">
      {runs.map((run) => (
        <RunNode key={run.id} run={run} />
      ))}
    </ul>
  )
}

function RunNode({ run }: { run: RunDigest }) {
  const { link } = useContext(Nested)
  const { id, agent, title, ms, calls, asks = 0 } = run
  const [open, setOpen] = useState(false)
  const facts = [ms === undefined ? "" : duration(ms), calls === undefined ? "" : count(calls, "call")]
  return (
    <li>
      <div className="flex items-center gap-2 py-0.5 text-[12.5px]">
        {asks === 0 ? (
          <span className="inline-block w-5 flex-none text-center text-soft" aria-hidden>
            ·
          </span>
        ) : (
          <button
            type="button"
            className="w-5 flex-none rounded text-soft hover:bg-raised"
            aria-expanded={open}
            aria-label={`${count(asks, "run")} below ${visible(agent)}`}
            onClick={() => setOpen(!open)}
          >
            {open ? "▾" : "▸"}
          </button>
        )}
        <Status run={run} />
        {link(
          id,
          <>
            <span className="flex-none font-medium">{visible(agent)}</span>
            <span className="min-w-0 truncate text-soft">{visible(title)}</span>
          </>,
          "flex min-w-0 flex-1 gap-2 overflow-hidden hover:underline",
        )}
        <span className="flex-none text-[11px] text-soft">{facts.filter((fact) => fact !== "").join(", ")}</span>
      </div>
      {open ? <Below run={run} /> : null}
    </li>
  )
}

function Below({ run }: { run: RunDigest }) {
  const { below } = useContext(Nested)
  const { data, error } = useQuery({
    queryKey: ["runs", "below", run.id],
    queryFn: () => below(run.id),
    refetchInterval: OPEN.has(run.status) ? 2000 : (false as const),
  })
  return (
    <div className="ml-2.5 border-l border-line pl-2">
      {error === null ? null : <Problem title="What is below cannot be shown" error={error} />}
      {data === undefined ? null : <RunTree runs={data} label={`Below ${visible(run.agent)}`} />}
    </div>
  )
}

/** What the calls of the shown run asked agents to do, above its events. */
export function AskedRuns() {
  const { asked } = useContext(Nested)
  if (asked.length === 0) return null
  const failed = asked.filter(({ status }) => !OPEN.has(status) && status !== "completed").length
  return (
    <details
      open={asked.length <= 6}
      className="max-h-[30%] flex-none overflow-auto border-b border-line bg-panel px-3 py-1.5"
    >
      <summary className="cursor-pointer text-[12.5px] text-soft">
        {count(asked.length, "run")} that its calls asked for{failed === 0 ? "" : `, ${failed} not completed`}
      </summary>
      <RunTree runs={asked} label="Runs that its calls asked for" />
    </details>
  )
}
