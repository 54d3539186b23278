import type { ToolCall, ToolDefinition } from "@toolwright/toolbox"
import type { ParseEvent, ParseProblem, ParserOptions, Span } from "../model/formatter.ts"
import { nextId } from "./ids.ts"
import { Source } from "./source.ts"
import { unreadCalls, type UnreadCall } from "./unread-calls.ts"
import type { Format } from "./syntax.ts"

/** State to which a held-back part of the reply can be taken back. */
interface Hold {
  start: number
  events: ParseEvent[]
  spans: number
  accounted: number
  calls: number
  /** Takes back what was made of the text before it. */
  undo?: () => void
}

/**
 * What is known while a reply is parsed: the text, the events so far, and which of the text is accounted for. Every
 * code unit is accounted for exactly once and in order, so content plus reasoning plus calls plus problems plus framing
 * is the reply.
 */
export class Session {
  readonly source = new Source()
  readonly format: Format
  readonly tools: ReadonlyMap<string, ToolDefinition> | undefined
  readonly callsInReasoning: "drop" | "accept"
  readonly spans: Span[] = []
  accounted = 0
  calls = 0
  /** How far the text was read when the last problem was reported. */
  problemAt = -1
  private events: ParseEvent[] = []
  private hold: Hold | undefined
  /** A problem that may yet turn out to be needless, and what was repaired since. */
  private waiting: ParseEvent[] = []
  /** With what a further call would begin there, and what of that was said because the rest of it did not come. */
  private expected: { readonly openings: readonly string[]; said: string } = { openings: [], said: "" }
  /** What was said and thought, piece by piece, kept where there are tools that it could be meant to call. */
  private readonly said = { content: [] as string[], reasoning: [] as string[] }

  /** Problems that were not repaired. */
  private readonly told: ParseProblem[] = []
  private readonly callsBefore: number

  constructor(format: Format, { tools, callsInReasoning, callsBefore = 0 }: ParserOptions) {
    this.format = format
    this.callsBefore = callsBefore
    this.tools = tools === undefined || tools.length === 0 ? undefined : new Map(tools.map((tool) => [tool.name, tool]))
    this.callsInReasoning = callsInReasoning ?? format.callsInReasoning ?? "drop"
  }

  /** The events since the last time, adjacent deltas of a kind joined. */
  take(): ParseEvent[] {
    const { events } = this
    this.events = []
    return events
  }

  emit(event: ParseEvent): void {
    this.tellWaiting()
    this.append(event)
  }

  private append(event: ParseEvent): void {
    if (this.hold !== undefined) this.hold.events.push(event)
    // a list that grows makes room for many, and most pieces of a reply are one event
    else if (this.events.length === 0) this.events = [event]
    else this.events.push(event)
  }

  /** A piece of text, joined to the one before it if that is of the same kind. */
  private emitText(type: "text-delta" | "reasoning-delta", text: string): void {
    if (this.hold === undefined && this.tools !== undefined)
      this.said[type === "text-delta" ? "content" : "reasoning"].push(text)
    if (this.waiting.length > 0 && !this.mayBeOpening(text)) this.tellWaiting()
    // what may begin a call waits with the problem, so that their order is not a matter of how the text was cut
    const waits = this.waiting.length > 0
    const events = waits ? this.waiting : (this.hold?.events ?? this.events)
    const last = events.length > 0 ? events[events.length - 1] : undefined
    if (last !== undefined && last.type === type) last.text += text
    else if (waits) events.push({ type, text })
    else this.append({ type, text })
  }

  /** A piece of a call's arguments, likewise. */
  emitArguments(index: number, text: string): void {
    const events = this.hold?.events ?? this.events
    const last = events.length > 0 ? events[events.length - 1] : undefined
    if (last !== undefined && last.type === "args-delta" && last.index === index) last.text += text
    else this.append({ type: "args-delta", index, text })
  }

  /** Accounts for the text up to an offset. */
  account(kind: Span["kind"], end: number): void {
    if (end <= this.accounted) return
    const last = this.spans.length > 0 ? this.spans[this.spans.length - 1] : undefined
    if (last !== undefined && last.kind === kind && kind !== "call" && kind !== "problem") last.end = end
    else this.spans.push({ kind, start: this.accounted, end })
    this.accounted = end
  }

  /** Text that is said or thought; it is accounted for by its length. */
  say(kind: "content" | "reasoning", text: string): void {
    if (text === "") return
    this.account(kind, this.accounted + text.length)
    this.emitText(kind === "content" ? "text-delta" : "reasoning-delta", text)
  }

  /** Reports something that was not as it should be. Unless repaired, the text from `at` to here is the problem's. */
  problem(problem: ParseProblem): void {
    if (problem.kind === "unterminated-call" && !problem.repaired) this.waiting.shift()
    this.problemAt = this.source.offset
    if (!problem.repaired) this.told.push(problem)
    if (problem.repaired && this.waiting.length > 0) this.waiting.push({ type: "problem", problem })
    else this.emit({ type: "problem", problem })
  }

  /**
   * Reports that a mark is missing after calls, once it is sure that the reply does not end inside a further call: what
   * is told of that one says it all.
   *
   * @param openings with what a further call would begin
   */
  problemUnlessCutOff(problem: ParseProblem, openings: readonly string[]): void {
    this.problem(problem)
    if (this.hold !== undefined || this.waiting.length > 0) return
    this.waiting = this.events.splice(-1)
    this.expected = { openings, said: "" }
  }

  private mayBeOpening(text: string): boolean {
    const { expected } = this
    expected.said = (expected.said + text).trimStart()
    return expected.openings.some((opening) => opening.startsWith(expected.said))
  }

  /** Nothing more can come that would make a problem needless. */
  tellWaiting(): void {
    if (this.waiting.length === 0) return
    const { waiting } = this
    this.waiting = []
    this.events.push(...waiting)
  }

  /**
   * At the end of the reply: tells of text that is clearly a call, and that nobody read or told of; in what was
   * thought, only where the reply consists of it and the call is its end.
   */
  tellUnreadCalls(marks: readonly string[]): void {
    const { tools } = this
    if (tools === undefined) return
    const parameters = (name: string): string[] => Object.keys(tools.get(name)?.parameters.properties ?? {})
    const kind = this.said.content.length === 0 && this.calls === 0 ? "reasoning" : "content"
    const text = this.said[kind].join("")
    const from = kind === "content" ? 0 : text.trimEnd().length
    if (kind === "reasoning" && !/[\])}>]\s*$/.test(text)) return
    for (const call of unreadCalls(text, { names: tools, marks, parameters }))
      if (call.end >= from) this.tellUnread(kind, text.slice(call.at, call.end), call)
  }

  private tellUnread(kind: "content" | "reasoning", text: string, call: UnreadCall): void {
    const at = this.offsetOf(kind, call.at)
    const end = this.offsetOf(kind, call.end - 1) + 1
    if (this.told.some((problem) => problem.at < end && at < problem.at + problem.text.length)) return
    const message = `This looks like a call of '${call.name}', in a form that is not read here. Nothing was called.`
    this.problem({ kind: "foreign-syntax", at, text, message, repaired: false, shown: true })
  }

  /** The place in the reply of a place in what was said or thought. */
  private offsetOf(kind: "content" | "reasoning", place: number): number {
    let left = place
    for (const span of this.spans) {
      if (span.kind !== kind) continue
      if (left < span.end - span.start) return span.start + left
      left -= span.end - span.start
    }
    return this.accounted
  }

  /** What was said so far turns out to be thought: the prompt had opened the reasoning. */
  takeForReasoning(): void {
    const [moved, said] = [this.spans.filter(({ kind }) => kind === "content"), { ...this.said }]
    for (const span of moved) span.kind = "reasoning"
    this.said.reasoning = [...said.content, ...said.reasoning]
    this.said.content = []
    const before = this.hold?.undo
    if (this.hold !== undefined)
      this.hold.undo = () => {
        for (const span of moved) span.kind = "content"
        Object.assign(this.said, said)
        before?.()
      }
    this.emit({ type: "text-was-reasoning" })
  }

  nextId(given: string | undefined, name: string): string {
    return nextId(this.format.ids, given, name, this.callsBefore + this.calls)
  }

  get holding(): boolean {
    return this.hold !== undefined
  }

  /**
   * From an offset on, which must be accounted for and still at hand, events wait until it is known whether they count.
   */
  holdBack(start: number): void {
    if (this.hold !== undefined) return
    this.tellWaiting()
    this.source.mark()
    this.hold = { start, events: [], spans: this.spans.length, accounted: this.accounted, calls: this.calls }
  }

  /** What was held back counts. Answers the calls in it. */
  accept(): ToolCall[] {
    const { hold } = this
    this.tellWaiting()
    if (hold === undefined) return []
    this.hold = undefined
    this.source.release()
    for (const event of hold.events) {
      if (event.type === "text-delta" || event.type === "reasoning-delta") this.emitText(event.type, event.text)
      else this.emit(event)
    }
    return callsOf(hold.events)
  }

  /**
   * What was held back, up to an offset, does not count.
   *
   * @returns its text, now no longer accounted for, and the calls that were in it
   */
  reject(end: number): { at: number; text: string; calls: ToolCall[] } {
    const { hold } = this
    if (hold === undefined) return { at: end, text: "", calls: [] }
    const text = this.source.since(hold.start).slice(0, end - hold.start)
    this.hold = undefined
    this.source.release()
    this.spans.length = hold.spans
    hold.undo?.()
    const last = this.spans.at(-1)
    if (last !== undefined) last.end = hold.accounted
    this.accounted = hold.accounted
    this.calls = hold.calls
    return { at: hold.start, text, calls: callsOf(hold.events) }
  }
}

function callsOf(events: readonly ParseEvent[]): ToolCall[] {
  return events.flatMap((event) => (event.type === "call-end" ? [event.call] : []))
}
