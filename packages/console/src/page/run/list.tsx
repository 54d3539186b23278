import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useImperativeHandle, useRef, type Ref } from "react"
import { count, duration, visible } from "../lib/text.ts"
import { AskedMark } from "./nested.tsx"
import { failed, type Row } from "./rows.ts"
import { saidOf, wordsFor } from "./words.ts"

export interface ListHandle {
  show(index: number): void
}

interface ListProps {
  rows: readonly Row[]
  selected: number | undefined
  select: (seq: number) => void
  /** Stays at the end while it grows. */
  follow: boolean
  handle: Ref<ListHandle>
}

const HEIGHTS: Readonly<Record<Row["kind"], number>> = {
  start: 46,
  phase: 34,
  round: 28,
  request: 28,
  reply: 48,
  call: 48,
  note: 30,
  end: 48,
}

const heightOf = ({ kind, text }: Row): number =>
  kind === "reply" && (text === undefined || text === "") ? HEIGHTS.request : HEIGHTS[kind]

/** The lines of a run. Only those that can be seen are in the page, however many there are. */
export function RunList({ rows, selected, select, follow, handle }: ListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(rows[index]!),
    getItemKey: (index) => rows[index]!.seq,
    overscan: 4,
  })
  useImperativeHandle(handle, () => ({ show: (index) => virtual.scrollToIndex(index, { align: "auto" }) }), [virtual])
  const room = virtual.scrollRect?.height
  useEffect(() => {
    if (follow && rows.length > 0) virtual.scrollToIndex(rows.length - 1, { align: "end" })
  }, [follow, rows.length, room, virtual])
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-auto" tabIndex={0} role="region" aria-label="Events">
      <ol
        className="relative m-0 w-full"
        aria-label={count(rows.length, "line")}
        style={{ height: virtual.getTotalSize() }}
      >
        {virtual.getVirtualItems().map(({ index, start, size, key }) => {
          const row = rows[index]!
          return (
            <li
              key={key}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0"
              style={{ height: size, transform: `translateY(${start}px)` }}
            >
              <Line row={row} selected={row.seq === selected} select={select} />
            </li>
          )
        })}
      </ol>
    </div>
  )
}

function Line({ row, selected, select }: { row: Row; selected: boolean; select: (seq: number) => void }) {
  const bad = failed(row)
  return (
    <button
      type="button"
      aria-current={selected}
      onClick={() => select(row.seq)}
      className={`flex h-full w-full flex-col justify-center overflow-hidden border-l-2 px-3 text-left hover:bg-raised aria-[current=true]:bg-mark ${
        bad ? "border-bad" : selected ? "border-accent" : "border-transparent"
      }`}
    >
      <First row={row} />
      <Second row={row} />
    </button>
  )
}

function First({ row }: { row: Row }) {
  const { kind, name, args, ms, type, round, text } = row
  const end = ms === undefined ? "" : duration(ms)
  if (kind === "round")
    return (
      <span className="truncate text-[11px] text-soft">
        <span className="font-semibold tracking-wide uppercase">Round {round}</span>
        <span className="ml-3">{visible(text ?? "")}</span>
      </span>
    )
  if (kind === "request") return <span className="truncate text-[12px] text-soft">request: {visible(text ?? "")}</span>
  if (kind === "note")
    return (
      <span className="truncate text-[12px]">
        <span className={failed(row) ? "text-bad" : type.startsWith("approval") ? "text-warn" : "text-soft"}>
          {visible(wordsFor(type))}
        </span>{" "}
        {visible(saidOf(row))}
      </span>
    )
  if (kind === "phase")
    return (
      <span className="truncate text-[12.5px]">
        <span className="font-semibold text-accent">Phase {visible(name ?? "")}</span>
        <span className="ml-3 text-soft">{visible(text ?? "")}</span>
      </span>
    )
  return (
    <span className="flex w-full items-baseline gap-2">
      {kind === "call" ? (
        <>
          <Mark row={row} />
          <span className="flex-none font-mono text-[12.5px] font-medium">{visible(name ?? "")}</span>
          <span className="min-w-0 flex-1 truncate font-mono text-[12px] text-soft">{visible(args ?? "")}</span>
          <AskedMark call={row.callId} />
        </>
      ) : (
        <Kind row={row} />
      )}
      <span className="flex-none text-[11px] text-soft">{end}</span>
    </span>
  )
}

function Kind({ row: { kind, code, count: calls = 0, tokens } }: { row: Row }) {
  const parts = [
    kind === "start" ? "task" : kind,
    code === undefined ? "" : visible(code),
    kind === "reply" && calls > 0 ? count(calls, "call") : "",
    tokens === undefined ? "" : count(tokens, "token"),
  ]
  return (
    <span className="min-w-0 flex-1 truncate text-[12px] font-semibold text-soft">
      {parts.filter((part) => part !== "").join(" · ")}
    </span>
  )
}

function Mark({ row }: { row: Row }) {
  if (row.ok === undefined) return <span className="flex-none text-warn">{row.endSeq === undefined ? "…" : "?"}</span>
  return row.ok ? (
    <span className="flex-none text-good" role="img" aria-label="succeeded">
      ✓
    </span>
  ) : (
    <span className="flex-none text-bad" role="img" aria-label="failed">
      ✕
    </span>
  )
}

function Second({ row: { kind, text, ok, code, erased } }: { row: Row }) {
  if (["phase", "round", "request", "note"].includes(kind)) return null
  if (kind === "reply" && (text === undefined || text === "")) return null
  const shown = erased === true ? "(erased)" : (text ?? "").replaceAll(/\s+/g, " ")
  return (
    <span className={`truncate text-[12.5px] ${ok === false ? "text-bad" : kind === "call" ? "text-soft" : ""}`}>
      {ok === false && code !== undefined && kind === "call" ? `${visible(code)}: ` : ""}
      {visible(shown)}
    </span>
  )
}
