import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useRef, useState } from "react"
import { count, duration, visible } from "../lib/text.ts"
import { useKeys } from "../lib/keys.ts"
import { runQuery, runsQuery, type RunDetail } from "../runs/data.ts"
import { Status } from "../runs/status.tsx"
import { Empty, Loading, Problem } from "../ui/states.tsx"
import { align, MOST_COMPARED, type Pair } from "./align.ts"
import type { Row } from "./rows.ts"
import { useRunEvents } from "./store.ts"

/** Two runs side by side, call beside call: where they went apart. */
export function Compare() {
  const { a = "", b = "" } = useSearch({ strict: false }) as { a?: string; b?: string }
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Two runs side by side</h1>
      <div className="grid flex-none grid-cols-2 gap-2 border-b border-line bg-panel p-2">
        <Choose side="a" run={a} other={b} />
        <Choose side="b" run={b} other={a} />
      </div>
      {a === "" || b === "" ? (
        <Empty title="Choose two runs">Their calls are set side by side, with what differs.</Empty>
      ) : (
        <Both key={`${a} ${b}`} a={a} b={b} />
      )}
    </div>
  )
}

function Choose({ side, run, other }: { side: "a" | "b"; run: string; other: string }) {
  const navigate = useNavigate()
  const runs = useQuery(runsQuery({ limit: 200 })).data?.runs ?? []
  const offered = runs.filter(({ id, agent }) => id !== other && agent !== "")
  const isThere = run === "" || offered.some(({ id }) => id === run)
  const choose = (id: string): void =>
    void navigate({ to: "/compare", search: side === "a" ? { a: id, b: other } : { a: other, b: id }, replace: true })
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <select
        className="field"
        aria-label={side === "a" ? "First run" : "Second run"}
        value={run}
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">Choose a run</option>
        {isThere ? null : <option value={run}>{run}</option>}
        {offered.map(({ id, title, status }) => (
          <option key={id} value={id}>
            {visible(`${title.slice(0, 80)} (${status}, ${id})`)}
          </option>
        ))}
      </select>
      {run === "" ? null : <About run={run} />}
    </div>
  )
}

function About({ run }: { run: string }) {
  const { data } = useQuery(runQuery(run))
  if (data === undefined) return null
  return (
    <p className="m-0 flex flex-wrap items-center gap-2 text-[12px] text-soft">
      <Status run={data} />
      <Link to="/runs/$run" params={{ run }} search={{}} className="text-accent underline">
        open
      </Link>
      <span>{visible(factsOf(data))}</span>
    </p>
  )
}

const factsOf = ({ model, rounds, calls, ms, outputTokens }: RunDetail): string =>
  [
    model,
    rounds === undefined ? "" : count(rounds, "round"),
    calls === undefined ? "" : count(calls, "call"),
    ms === undefined ? "" : duration(ms),
    outputTokens === undefined || outputTokens === 0 ? "" : count(outputTokens, "token"),
  ]
    .filter((fact) => fact !== "")
    .join(" · ")

const WORDS: Readonly<Record<Pair["difference"], string>> = {
  none: "the same",
  end: "another end",
  arguments: "other arguments",
  "only a": "only in the first",
  "only b": "only in the second",
}

function Both({ a, b }: { a: string; b: string }) {
  const [only, setOnly] = useState(false)
  const [first, second] = [useRunEvents(a), useRunEvents(b)]
  useKeys({ f: () => setOnly(!only) })
  const problem = first.problem ?? second.problem
  if (problem !== undefined) return <Problem title="These runs cannot be compared" error={problem} />
  if (first.loading || second.loading) return <Loading what="Reading both" />
  const pairs = align(first.builder.rows, second.builder.rows)
  const shown = only ? pairs.filter(({ difference }) => difference !== "none") : pairs
  const differ = pairs.filter(({ difference }) => difference !== "none").length
  return (
    <>
      <div className="flex flex-none flex-wrap items-center gap-3 border-b border-line bg-panel px-3 py-1.5">
        <label className="flex items-center gap-1.5 text-[13px]">
          <input type="checkbox" checked={only} onChange={(event) => setOnly(event.target.checked)} />
          differences only
        </label>
        <span role="status" className="ml-auto text-[12px] text-soft">
          {differ} of {count(pairs.length, "place")} differ
          {pairs.length > MOST_COMPARED ? `; the first ${MOST_COMPARED} calls of each are compared` : ""}
        </span>
      </div>
      {shown.length === 0 ? (
        <Empty title={pairs.length === 0 ? "Neither has made a call" : "Their calls are the same"} />
      ) : (
        <Pairs pairs={shown} runs={[a, b]} />
      )}
    </>
  )
}

const ROW = 62

function Pairs({ pairs, runs }: { pairs: Pair[]; runs: [string, string] }) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: pairs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 10,
  })
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-auto" tabIndex={0} role="region" aria-label="Calls of both">
      <ol className="relative m-0" aria-label={count(pairs.length, "place")} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start, key }) => {
          const { a, b, difference } = pairs[index]!
          return (
            <li
              key={key}
              aria-setsize={pairs.length}
              aria-posinset={index + 1}
              className={
                "absolute inset-x-0 top-0 grid grid-cols-2 gap-px border-b border-l-2 border-b-line " +
                `${difference === "none" ? "border-l-transparent" : "border-l-warn"}`
              }
              style={{ height: ROW, transform: `translateY(${start}px)` }}
            >
              <span className="sr-only">{WORDS[difference]}</span>
              <Side row={a} run={runs[0]} difference={difference} />
              <Side row={b} run={runs[1]} difference={difference} />
            </li>
          )
        })}
      </ol>
    </div>
  )
}

function Side({ row, run, difference }: { row: Row | undefined; run: string; difference: Pair["difference"] }) {
  if (row === undefined) return <span className="bg-ground" />
  return (
    <Link
      to="/runs/$run"
      params={{ run }}
      search={{ at: String(row.seq) }}
      className="flex min-w-0 flex-col justify-center bg-panel px-3 hover:bg-raised"
    >
      <span className="flex items-baseline gap-2">
        <span className={row.ok === true ? "text-good" : "text-bad"}>
          <span aria-hidden>{row.ok === true ? "✓" : "✕"}</span>
          <span className="sr-only">{row.ok === true ? "succeeded" : "failed"}</span>
        </span>
        <span className="flex-none font-mono text-[12.5px] font-medium">{visible(row.name ?? "")}</span>
        <span
          className={`truncate font-mono text-[12px] ${difference === "arguments" ? "text-warn" : "text-soft"}`}
          title={visible(row.args ?? "")}
        >
          {visible(row.args ?? "")}
        </span>
      </span>
      <span className={`truncate text-[12.5px] ${difference === "end" ? "text-warn" : "text-soft"}`}>
        {visible((row.text ?? "").replaceAll(/\s+/g, " "))}
      </span>
    </Link>
  )
}
