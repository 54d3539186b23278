/** Tools whose input is one text, where it may be under a grammar, in place of arguments. See `docs/own-tools.md`. */
import { ToolwrightError } from "./errors.ts"
import type { JsonSchema } from "./schema.ts"

/** How a grammar is written: `text` has none. */
export type TextSyntax = "text" | "lark" | "regex" | "gbnf"

/** What a tool's text has to be. `grammar` of `@toolwright/logits` makes one. */
export interface TextInput {
  readonly syntax: TextSyntax
  /** The grammar as it was written; empty where there is none. */
  readonly definition: string
  /** Where a text leaves the grammar, and what may stand there, as a sentence; nothing where it is in it. */
  fault(text: string): string | undefined
}

/** The one argument of a tool that takes a text. */
export const TEXT_ARGUMENT = "input"

/**
 * Where the parameters of a tool keep what its text has to be: under a symbol, so that it goes wherever they go and is
 * never printed. A model is told of it in the argument's description.
 */
const TEXT_INPUT: unique symbol = Symbol.for("toolwright.text-input")

/** The parameters of a tool that takes a text: one argument, which tells the grammar in words. */
export function textParameters(input: TextInput): JsonSchema {
  const { syntax, definition } = input
  const told =
    syntax === "text" ? "The text" : `A text of this grammar (${SPOKEN[syntax]}), and nothing else:\n${definition}`
  const parameters: JsonSchema = {
    type: "object",
    properties: { [TEXT_ARGUMENT]: { type: "string", description: told } },
    required: [TEXT_ARGUMENT],
    additionalProperties: false,
  }
  return Object.assign(parameters, { [TEXT_INPUT]: input })
}

const SPOKEN = { lark: "Lark", regex: "a regular expression for all of it", gbnf: "GBNF" } as const

/** What the text of a tool has to be, by its parameters; nothing for a tool that takes arguments. */
export function textInputOf(parameters: object | undefined): TextInput | undefined {
  return (parameters as { [TEXT_INPUT]?: TextInput } | undefined)?.[TEXT_INPUT]
}

/** @throws ToolwrightError `INVALID_TOOL` */
export function checkTextInput(name: string, input: unknown): asserts input is TextInput {
  const { syntax, definition, fault } = (input ?? {}) as Partial<Record<keyof TextInput, unknown>>
  if (typeof syntax === "string" && typeof definition === "string" && typeof fault === "function") return
  throw new ToolwrightError("INVALID_TOOL", `Tool '${name}': its input is no grammar.`, {
    hint: 'Write input: grammar.lark("start: …"), with grammar from "toolwright"; or parameters with a schema.',
  })
}
