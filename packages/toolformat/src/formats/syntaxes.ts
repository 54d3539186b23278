import type { EnvelopeSyntax, ReasoningSyntax } from "../engine/syntax.ts"

/** Calls as JSON objects in tags, one object each: the most common syntax of open models. */
export function taggedJson(open: readonly string[], close: readonly string[]): EnvelopeSyntax {
  return {
    codec: "envelope",
    keys: { name: "name", args: "arguments" },
    wrapper: { open, close },
    layout: { before: "\n", after: "\n" },
    separator: "\n",
  }
}

/** A bare JSON object or array of objects at the beginning of a line, where a family usually writes marks. */
export const bareJson: EnvelopeSyntax = { codec: "envelope", keys: { name: "name", args: "arguments" }, bare: "line", recovery: true }

/** The same in a Markdown code block. */
export const fencedJson: EnvelopeSyntax = {
  codec: "envelope",
  keys: { name: "name", args: "arguments" },
  wrapper: { open: ["```json", "```tool_call", "```tool_code", "```"], close: ["```"], soft: true },
  layout: { before: "\n", after: "\n" },
  recovery: true,
}

export const think: ReasoningSyntax = { open: ["<think>"], close: ["</think>"] }
