import type { EventDigest } from "../runs/data.ts"

/** A line of a run. Everything that shows a run shows these: list, time line, tree, comparison, exported file. */
export interface Row {
  kind: "start" | "phase" | "round" | "request" | "reply" | "call" | "note" | "end"
  /** Of the event that it begins with. */
  seq: number
  time: number
  /** Of the event that it ends with; of a call that runs, not yet there. */
  endSeq?: number
  endTime?: number
  round: number
  /** The kind of event. */
  type: string
  name?: string
  callId?: string
  args?: string
  text?: string
  ok?: boolean
  code?: string
  ms?: number
  count?: number
  tokens?: number
  erased?: true
  /** Of a round: the event that holds what the model was sent. */
  request?: number
  /** Of a reply: the event that holds how the model came to it, token by token. */
  traceSeq?: number
  /** Of a call: as what it was read from the reply, what its tool says of its effect, and what a person answered. */
  path?: string
  effect?: string
  answered?: string
  /** Who answered, or takes something back. */
  by?: string
}

/** Events that belong to another line, or say nothing to a person. */
const SILENT = new Set(["round-end", "effect-start", "tool-progress", "call-end", "work-begin", "reply-tokens"])
const KINDS: Readonly<Record<string, Row["kind"]>> = {
  "run-start": "start",
  "round-start": "round",
  "phase-start": "phase",
  request: "request",
  reply: "reply",
  "tool-start": "call",
  "run-end": "end",
}

/** Makes lines of events as they come: each event is looked at once. */
export class RowBuilder {
  readonly rows: Row[] = []
  /** Raised with each change. */
  version = 0
  #round = 0
  readonly #open = new Map<string, Row>()
  /** What is known of calls and replies before their line begins. */
  readonly #paths = new Map<string, string>()
  #trace: number | undefined

  add(events: readonly EventDigest[]): void {
    for (const event of events) this.#one(event)
    this.version++
  }

  #one(event: EventDigest): void {
    const { seq, type, time, bytes: _bytes, ...about } = event
    this.#aside(event)
    if (type === "round-start") this.#round = about.round ?? this.#round + 1
    if (this.#belongs(event)) return
    const kind = type === "tool-end" ? "call" : (KINDS[type] ?? "note")
    const row: Row = { kind, seq, time, type, ...about, round: about.round ?? this.#round }
    if (type === "tool-end" || kind === "reply") row.endTime = time
    if (kind === "reply" && this.#trace !== undefined) row.traceSeq = this.#trace
    if (kind === "reply") this.#trace = undefined
    if (type === "tool-start" && about.callId !== undefined) this.#begin(row, about.callId)
    this.rows.push(row)
  }

  #begin(row: Row, callId: string): void {
    const path = this.#paths.get(callId)
    if (path !== undefined) row.path = path
    this.#paths.delete(callId)
    this.#open.set(callId, row)
  }

  /** What is told of a call or a reply by an event of its own, and shown where that is. */
  #aside({ type, seq, callId = "", text = "", by }: EventDigest): void {
    if (type === "reply-tokens") this.#trace = seq
    if (type === "call-end") this.#paths.set(callId, text)
    const open = this.#open.get(callId)
    if (open === undefined) return
    if (type === "effect-start") open.effect = text
    if (type === "approval-answer") {
      open.answered = text
      if (by !== undefined) open.by = by
    }
  }

  /** Whether an event is told by a line that is there, or by none. */
  #belongs({ type, seq, time, callId = "", ok, code, text, ms }: EventDigest): boolean {
    const open = this.#open.get(callId)
    if (type === "tool-end" && open !== undefined) {
      this.#open.delete(callId)
      Object.assign(open, { endSeq: seq, endTime: time, ok, code, text, ms })
      return true
    }
    // A call that waited for somebody begins again where its run goes on.
    if (type === "tool-start" && open !== undefined) return true
    const last = this.rows.at(-1)
    if (type === "request" && last?.kind === "round" && last.request === undefined) {
      Object.assign(last, { request: seq, text })
      return true
    }
    return SILENT.has(type)
  }
}

export const failed = (row: Row): boolean =>
  row.ok === false || (row.kind === "note" && /problem|refused|error|fallback|retry|stale/.test(row.type))

/** Where the row of an event is: rows stand in the order of their events. */
export function placeOf(rows: readonly Row[], seq: number): number {
  let [low, high] = [0, rows.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const here = rows[middle]!.seq
    if (here === seq) return middle
    if (here < seq) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** The reply that a call was read from, and the round in which the model was asked. */
export function aroundOf(rows: readonly Row[], row: Row): { reply?: Row; request?: number } {
  let reply = row.kind === "reply" ? row : undefined
  for (let at = placeOf(rows, row.seq); at >= 0; at--) {
    const other = rows[at]!
    if (row.kind === "call" && other.kind === "reply") reply ??= other
    if (other.request === undefined && other.type !== "request") continue
    const found = reply === undefined ? {} : { reply }
    return { ...found, request: other.request ?? other.seq }
  }
  return reply === undefined ? {} : { reply }
}

/** What is shown of a run: all lines, or those that failed, or with these words. */
export function chosen(rows: readonly Row[], { text, only }: { text: string; only: boolean }): readonly Row[] {
  if (text === "" && !only) return rows
  const words = text.toLowerCase().split(/\s+/)
  return rows.filter((row) => {
    if (only && !failed(row)) return false
    const all = `${row.type} ${row.name ?? ""} ${row.args ?? ""} ${row.text ?? ""} ${row.code ?? ""}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
}

/** A stretch in which something was done, on a line on which idle time is short. */
export interface Bar {
  row: Row
  from: number
  to: number
}

const LONGEST_GAP = 1000

/** Places lines on one axis: gaps in which nothing was done take a second at most. */
export function timeLine(rows: readonly Row[]): { bars: Bar[]; length: number; idle: number } {
  const spans = rows
    .filter(({ kind }) => kind === "call" || kind === "reply")
    .map((row) => {
      const end = row.endTime ?? row.time
      const begin = row.kind === "reply" ? end - (row.ms ?? 0) : row.time
      return { row, begin, end: Math.max(end, begin + 1) }
    })
    .toSorted((a, b) => a.begin - b.begin)
  const bars: Bar[] = []
  let [shift, reached, idle] = [spans[0]?.begin ?? 0, spans[0]?.begin ?? 0, 0]
  for (const { row, begin, end } of spans) {
    const gap = begin - reached
    if (gap > LONGEST_GAP) {
      shift += gap - LONGEST_GAP
      idle += gap - LONGEST_GAP
    }
    reached = Math.max(reached, end)
    bars.push({ row, from: begin - shift, to: end - shift })
  }
  return { bars, length: Math.max(1, reached - shift), idle }
}
