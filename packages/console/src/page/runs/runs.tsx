import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useRef, useState } from "react"
import { get } from "../lib/api.ts"
import { useKeys } from "../lib/keys.ts"
import { ago, count, duration, visible } from "../lib/text.ts"
import { Empty, Loading, Problem } from "../ui/states.tsx"
import { Ask } from "./ask.tsx"
import type { RunDigest, RunList } from "./data.ts"
import { TakeIn } from "./take-in.tsx"
import { Status } from "./status.tsx"

type Filter = Readonly<Record<string, string>>

function useRuns(filter: Filter) {
  return useInfiniteQuery({
    queryKey: ["runs", "pages", filter],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) => {
      const search = new URLSearchParams({ ...filter, limit: "60", ...(pageParam === "" ? {} : { before: pageParam }) })
      return get<RunList>(`runs?${search}`, signal)
    },
    getNextPageParam: (page) => page.next,
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.runs.some(({ status }) => status === "running") === true ? 1500 : 4000,
  })
}

/** All runs, newest first: what runs, what failed, what was done. */
export function Runs() {
  const filter = useSearch({ strict: false }) as Filter
  const navigate = useNavigate()
  const set = (name: string, value: string): void => {
    const { [name]: _old, ...rest } = filter
    void navigate({ to: "/runs", search: value === "" ? rest : { ...rest, [name]: value }, replace: true })
  }
  const asked = { calls: "0", ...filter }
  const runs = useRuns(asked)
  const all = runs.data?.pages.flatMap((page) => page.runs) ?? []
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Runs</h1>
      <Ask />
      <Filters filter={asked} set={set} />
      <div className="min-h-0 flex-1 overflow-auto">
        {runs.isPending ? <Loading what="Asking for the runs" /> : null}
        {runs.isError && runs.data === undefined ? (
          <Problem title="The runs cannot be shown" error={runs.error} retry={() => void runs.refetch()} />
        ) : null}
        {runs.data !== undefined && all.length === 0 ? <NoRuns filtered={Object.keys(filter).length > 0} /> : null}
        {all.length > 0 ? <RunTable runs={all} /> : null}
        {runs.hasNextPage ? (
          <button
            type="button"
            className="button m-3"
            disabled={runs.isFetchingNextPage}
            onClick={() => void runs.fetchNextPage()}
          >
            {runs.isFetchingNextPage ? "Loading…" : "Earlier ones"}
          </button>
        ) : null}
      </div>
    </div>
  )
}

function NoRuns({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <Empty title="No run is like that">Take a filter away.</Empty>
  ) : (
    <Empty title="Nothing has run here yet">
      Every run and every call in this workspace is put on record. Call a tool, or start an agent:{" "}
      <code>toolwright run "…"</code>
    </Empty>
  )
}

/** What a link from elsewhere may have narrowed the list to: it is said, and can be taken away. */
const NARROWED = ["agent", "tool", "surface", "task"] as const

function Filters({ filter, set }: { filter: Filter; set: (name: string, value: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(filter.text ?? "")
  useKeys({ "/": () => input.current?.focus(), f: () => set("only", filter.only === "failed" ? "" : "failed") })
  return (
    <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line bg-panel p-2" role="search">
      <input
        ref={input}
        type="search"
        className="field max-w-72"
        placeholder="Words of the task"
        aria-label="Words of the task"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          set("text", event.target.value)
        }}
      />
      <select
        className="field max-w-52"
        aria-label="How they stand"
        value={filter.only ?? ""}
        onChange={(event) => set("only", event.target.value)}
      >
        <option value="">however they ended</option>
        <option value="failed">failed only</option>
        <option value="open">under way or waiting</option>
      </select>
      <label className="flex items-center gap-1.5 text-[13px]">
        <input
          type="checkbox"
          checked={filter.calls !== "0"}
          onChange={(event) => set("calls", event.target.checked ? "1" : "")}
        />
        single calls too
      </label>
      {NARROWED.map((name) =>
        filter[name] === undefined ? null : (
          <button key={name} type="button" className="button" onClick={() => set(name, "")}>
            {name} {visible(filter[name])} <span aria-hidden>✕</span>
            <span className="sr-only">: show all</span>
          </button>
        ),
      )}
      <TakeIn />
    </div>
  )
}

function RunTable({ runs }: { runs: RunDigest[] }) {
  const [at, setAt] = useState(-1)
  const rows = useRef(new Map<number, HTMLAnchorElement>())
  const move = (by: number) => (): void => {
    const next = Math.max(0, Math.min(runs.length - 1, at + by))
    setAt(next)
    rows.current.get(next)?.focus()
  }
  useKeys({ j: move(1), k: move(-1) })
  return (
    <ul aria-label="Runs" className="divide-y divide-line bg-panel">
      {runs.map((run, index) => (
        <RunItem
          key={run.id}
          run={run}
          depth={0}
          element={(element) => void (element === null ? rows.current.delete(index) : rows.current.set(index, element))}
          focused={() => setAt(index)}
        />
      ))}
    </ul>
  )
}

interface ItemProps {
  run: RunDigest
  /** How deep it stands below one that a person began. */
  depth: number
  element?: (element: HTMLAnchorElement | null) => void
  focused?: () => void
}

/** A run, and below it those that its calls asked for, once somebody wants to see them. */
function RunItem({ run, depth, element, focused }: ItemProps) {
  const [open, setOpen] = useState(false)
  const { asks = 0 } = run
  return (
    <li className={depth === 0 ? "" : "border-t border-line"} style={{ paddingLeft: Math.min(depth, 8) * 20 }}>
      <div className="flex">
        <RunLink run={run} element={element} focused={focused} />
        {asks === 0 ? null : (
          <button
            type="button"
            className="flex-none px-2 text-[12px] text-accent hover:bg-raised"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? "▾" : "▸"} {asks} below
          </button>
        )}
      </div>
      {open ? <Below run={run} depth={depth + 1} /> : null}
    </li>
  )
}

function Below({ run, depth }: { run: RunDigest; depth: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["runs", "below", run.id],
    queryFn: () => get<RunList>(`runs?askedBy=${encodeURIComponent(run.id)}&limit=200`),
    refetchInterval: run.ended === undefined ? 2000 : (false as const),
  })
  if (error !== null)
    return <Problem title="What is below cannot be shown" error={error} retry={() => void refetch()} />
  return (
    <ul aria-label={`Below ${visible(run.title)}`}>
      {(data?.runs ?? []).toReversed().map((each) => (
        <RunItem key={each.id} run={each} depth={depth} />
      ))}
    </ul>
  )
}

function RunLink({ run, element, focused }: Omit<ItemProps, "depth">) {
  return (
    <Link
      ref={element}
      to="/runs/$run"
      params={{ run: run.id }}
      search={{}}
      onFocus={focused}
      className="min-w-0 flex-1 grid grid-cols-[9.5rem_minmax(0,1fr)_auto] items-center gap-x-3 px-3 py-2 hover:bg-raised focus:bg-mark max-sm:grid-cols-[minmax(0,1fr)_auto]"
    >
      <span className="max-sm:order-2 max-sm:justify-self-end">
        <Status run={run} />
      </span>
      <span className="min-w-0 max-sm:order-1">
        <span className="block truncate font-medium">{visible(run.title)}</span>
        <span className="block truncate text-[12px] text-soft">{about(run)}</span>
      </span>
      <span className="text-right text-[12px] whitespace-nowrap text-soft max-sm:order-3 max-sm:col-span-2 max-sm:text-left">
        {run.ms === undefined ? "" : `${duration(run.ms)}, `}
        <time dateTime={new Date(run.started).toISOString()}>{ago(run.started)}</time>
      </span>
    </Link>
  )
}

function about({
  agent,
  surface,
  model,
  rounds,
  calls,
  failedCalls,
  outputTokens,
  message,
  parent,
}: RunDigest): string {
  const ofAgent = agent !== ""
  const parts = [
    ofAgent ? agent : `call over ${surface}`,
    model,
    ofAgent && rounds !== undefined ? count(rounds, "round") : "",
    ofAgent && calls !== undefined ? count(calls, "call") : "",
    ofAgent && (failedCalls ?? 0) > 0 ? `${failedCalls} failed` : "",
    (outputTokens ?? 0) > 0 ? count(outputTokens!, "token") : "",
    parent === undefined ? "" : `branch of ${parent.run}`,
    message?.replaceAll(/\s+/g, " ") ?? "",
  ]
  return visible(parts.filter((part) => part !== "").join(" · "))
}
