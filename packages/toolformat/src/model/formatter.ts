import type { ToolCall, ToolDefinition, ToolResult } from "@toolwright/toolbox"
import type { Format } from "../engine/syntax.ts"

/**
 * Something in a model's reply that was not as the format has it. Nothing is ever dropped silently: a fragment that
 * looks like a call is a call, a problem, or content.
 *
 * `at` is the offset of `text` in the whole reply, in UTF-16 code units. `repaired` says that a call came out all the
 * same.
 */
export interface ParseProblem {
  kind:
    | "invalid-arguments"
    | "unterminated-call"
    | "missing-wrapper"
    | "foreign-syntax"
    | "unknown-tool"
    | "call-in-reasoning"
    | "stray-marker"
    | "extra-text"
  at: number
  text: string
  message: string
  repaired: boolean
  /** Its text stands in the content or the reasoning too: whoever shows those does not show it again. */
  shown?: true
  /** The tool of a native call, whose name is not part of `text`. */
  tool?: string
  /** The native call whose arguments could not be read, as its other events name it. */
  call?: { index: number; id: string; name: string }
}

/** One step of parsing. Concatenated `args-delta` texts of a call are the JSON text of its final arguments. */
export type ParseEvent =
  | { type: "text-delta"; text: string }
  | { type: "reasoning-delta"; text: string }
  /** All text so far was reasoning that the prompt had opened: its closing mark came, and no opening one. */
  | { type: "text-was-reasoning" }
  | { type: "call-start"; index: number; id: string; name: string }
  | { type: "args-delta"; index: number; text: string }
  | { type: "call-end"; index: number; call: ToolCall }
  | { type: "problem"; problem: ParseProblem }

/** A step of a reply whose parts the server told apart, so that none of it changes its kind afterwards. */
export type ServerEvent = Exclude<ParseEvent, { type: "text-was-reasoning" }>

/** A whole reply, parsed. */
export interface ParsedReply {
  calls: ToolCall[]
  content: string
  reasoning: string
  problems: ParseProblem[]
}

/**
 * What became of a stretch of the reply. `framing` is marks and the white space around them; `call` and `problem`
 * stretches belong to one call or problem each.
 */
export interface Span {
  kind: "content" | "reasoning" | "call" | "problem" | "framing"
  start: number
  end: number
}

/**
 * A push parser of one reply. Every cutting of the same text gives the same events, adjacent deltas joined. It never
 * throws and runs in time linear in the text. After `end()` it is spent.
 */
export interface ToolCallParser {
  push(text: string): ParseEvent[]
  end(): ParseEvent[]
  /** What became of the text, where the parser keeps account of it; after `end()` of all of it. */
  spans?(): readonly Span[]
}

/** What a parser may know beforehand: the tools on offer (for names, and for the types of untyped values). */
export interface ParserOptions {
  tools?: readonly ToolDefinition[]
  /**
   * Calls inside reasoning: `drop`, the default, takes them for drafts, a problem each, unless the reply ends in that
   * reasoning; `accept` lets them count at once.
   */
  callsInReasoning?: "drop" | "accept"
  /**
   * How many calls the conversation had before this reply, so that ids which are places go on from there. 0 unless
   * given.
   */
  callsBefore?: number
  /** Whether the prompt already opened the reasoning block, so that the reply begins inside it. */
  startsInReasoning?: boolean
}

/** How one model family is told about tools and writes calls. */
export interface ToolFormatter {
  readonly id: string
  readonly aliases: readonly string[]
  /** What it interprets, where that is a declaration: grammars are made of it. */
  readonly declaration?: Format
  /** Sequences at which generation should stop, so that a model does not invent results. */
  readonly stop: readonly string[]
  /** The system-prompt section that lists the tools and says how to call them. */
  formatToolsForPrompt(tools: readonly ToolDefinition[]): string
  /** The tools as the family's API takes them. */
  formatToolsForAPI(tools: readonly ToolDefinition[]): unknown[]
  /**
   * The calls in a whole reply.
   * @throws ToolwrightError `USE_PARSE_API_RESPONSE` from API-only formats, whose calls never stand in text
   */
  parseToolCalls(response: string, options?: ParserOptions): ToolCall[]
  /** The whole reply: calls, content, reasoning, problems. */
  parse(response: string, options?: ParserOptions): ParsedReply
  createParser(options?: ParserOptions): ToolCallParser
  /** Calls as the family writes them, for history. */
  printCalls(calls: readonly ToolCall[], tools?: readonly ToolDefinition[]): string
  /** A result as the family reads it in the next prompt. */
  formatToolResult(call: ToolCall, result: ToolResult): string
  supportsNativeToolUse(): boolean
}
