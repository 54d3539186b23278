import type { ToolCall } from "@toolwright/toolbox"
import type { AskEvent } from "../ask.ts"
import type { AnswerEvent, AnswerNote } from "./answer.ts"
import type { SourceEvent } from "./sources.ts"

/** What a reply's events come to: told at once, or first to be looked at. */
export type Heard =
  | Extract<AnswerEvent, { type: "text-delta" | "reasoning-delta" | "waiting" | "retry" }>
  | { type: "called"; call: ToolCall }
  /** A call that could not be read. `text` is what of it was told nowhere else. */
  | { type: "unread"; text: string; note: AnswerNote }
  | { type: "slip"; note: AnswerNote }

/**
 * Turns what is told of a reply while it comes into whole things. A call that has begun is not told before it has
 * ended, since what is cut off in the middle would be broken JSON, and its text would have to be told once more.
 */
export function hear(event: SourceEvent): Heard | undefined {
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
      return event.text === "" ? undefined : { type: event.type, text: event.text }
    case "call-start":
    case "args-delta":
      return { type: "waiting" }
    case "call-end":
      return { type: "called", call: { id: event.callId, name: event.name, arguments: event.arguments } }
    case "model-retry":
      return { ...event, type: "retry" }
    case "grammar-refused":
      return { type: "slip", note: { code: event.type, message: event.reason, tool: event.tool } }
    case "tools-found": {
      const found = event.tools.length === 0 ? "nothing" : event.tools.join(", ")
      return { type: "slip", note: { code: event.type, message: `The model searched for '${event.query}': ${found}.` } }
    }
    case "parse-problem":
      return heardOf(event)
    default:
      return undefined
  }
}

function heardOf(problem: Extract<AskEvent, { type: "parse-problem" }>): Heard | undefined {
  const { kind, message, repaired, shown } = problem
  const tool = problem.tool === undefined ? {} : { tool: problem.tool }
  const note = { code: kind, message, ...tool }
  // Whoever holds the call against the tools tells of that.
  if (repaired && kind === "unknown-tool") return undefined
  if (repaired && kind === "invalid-arguments") return { type: "slip", note: { ...note, code: "repaired-arguments" } }
  // What a model makes up behind its own call is no content, and is not lost either.
  if (repaired) return { type: "slip", note: kind === "extra-text" ? { ...note, text: problem.text } : note }
  return { type: "unread", text: shown === true ? "" : textOf(problem), note }
}

/** What the model wrote; of a native call, whose name stands apart, as the JSON that it would have become. */
function textOf({ kind, text, tool }: Extract<AskEvent, { type: "parse-problem" }>): string {
  if (tool === undefined) return text
  const head = `{"name": ${JSON.stringify(tool)}`
  // Of a native call that broke off before its arguments, the name is all there is.
  return kind === "unterminated-call" && text === tool ? head : `${head}, "arguments": ${text}`
}
