import { useRef, useState, type RefObject } from "react"
import { useKeys } from "../lib/keys.ts"
import { count } from "../lib/text.ts"
import { Empty } from "../ui/states.tsx"
import { Detail } from "./detail.tsx"
import { RunList, type ListHandle } from "./list.tsx"
import { AskedRuns } from "./nested.tsx"
import { aroundOf, chosen, placeOf, type Row } from "./rows.ts"
import { TimeLine } from "./time-line.tsx"

interface ViewProps {
  rows: readonly Row[]
  /** Raised with each change of the rows, which grow in place. */
  version?: number
  live: boolean
  loading: boolean
  /** The event that is looked at when it opens. */
  at?: string | undefined
}

/** A run: time line, list, and the detail of the chosen line. Of a server or of a file, it is the same. */
export function RunView({ rows, version = 0, live, loading, at: shownFirst }: ViewProps) {
  const [selected, setSelected] = useState(shownFirst === undefined ? undefined : Number(shownFirst))
  const [text, setText] = useState("")
  const [only, setOnly] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<ListHandle>(null)
  const shown = chosen(rows, { text, only })
  const at = selected === undefined ? -1 : placeOf(shown, selected)
  const select = (seq: number): void => {
    setSelected(seq)
    const index = placeOf(shown, seq)
    if (index >= 0) list.current?.show(index)
  }
  const move = (by: number) => (): void => {
    const row = shown[Math.max(0, Math.min(shown.length - 1, at + by))]
    if (row !== undefined) select(row.seq)
  }
  useKeys({
    j: move(1),
    k: move(-1),
    f: () => setOnly(!only),
    "/": () => input.current?.focus(),
    e: () => setSelected(selected === undefined ? shown[0]?.seq : undefined),
    Escape: () => setSelected(undefined),
  })
  const row = selected === undefined ? undefined : rows[placeOf(rows, selected)]
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <AskedRuns />
      <TimeLine rows={rows} version={version} selected={selected} select={select} />
      <Search input={input} text={text} setText={setText} only={only} setOnly={setOnly}>
        {count(shown.length, "line")}
        {loading ? ", more are coming" : ""}
      </Search>
      <div className="relative flex min-h-0 flex-1">
        {shown.length === 0 && !loading ? (
          <Empty title={rows.length === 0 ? "Nothing has happened yet" : "No line is like that"} />
        ) : (
          <RunList
            rows={shown}
            selected={selected}
            select={select}
            follow={live && selected === undefined}
            handle={list}
          />
        )}
        {row === undefined ? null : (
          <Detail key={row.seq} row={row} around={aroundOf(rows, row)} close={() => setSelected(undefined)} />
        )}
      </div>
    </div>
  )
}

interface SearchProps {
  input: RefObject<HTMLInputElement | null>
  text: string
  setText: (text: string) => void
  only: boolean
  setOnly: (only: boolean) => void
  children: React.ReactNode
}

function Search({ input, text, setText, only, setOnly, children }: SearchProps) {
  return (
    <div
      className="flex flex-none flex-wrap items-center gap-3 border-b border-line bg-panel px-3 py-1.5"
      role="search"
    >
      <input
        ref={input}
        type="search"
        className="field max-w-72"
        placeholder="Words in the run"
        aria-label="Words in the run"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <label className="flex items-center gap-1.5 text-[13px]">
        <input type="checkbox" checked={only} onChange={(event) => setOnly(event.target.checked)} />
        failed only
      </label>
      <span role="status" className="ml-auto text-[12px] text-soft">
        {children}
      </span>
    </div>
  )
}
