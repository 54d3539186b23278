/** Grammars for the text of a tool. */
import { memory, type TextInput, type TextSyntax } from "@toolwright/toolbox"
import { gbnfToLark } from "../gbnf/lark.ts"
import { compileGbnf, type Program } from "../gbnf/program.ts"
import { faultIn } from "./fault.ts"
import { type ReadGrammar, rulesOf } from "./read.ts"

const programOf = memory.derived((read: ReadGrammar): Program => compileGbnf(rulesOf(read)))

/** Requests bring the same grammars again and again. */
const known = memory.latest<TextInput>(32)

/**
 * What the text of a tool has to be: `defineTool({ input: grammar.lark("…") })`.
 *
 * @example
 * const digits = grammar.regex("[0-9]{4}")
 * digits.fault("12") // 'it ends too soon, at line 1, column 3, after "12"; next may come [0-9].'
 */
export const grammar = {
  /** Any text at all. */
  text: textGrammar("text", ""),
  /** Rules and terminals in Lark; `start` is the whole text. @throws ToolwrightError `INVALID_GRAMMAR` */
  lark: (definition: string): TextInput => textGrammar("lark", definition),
  /** A regular expression for the whole text. @throws ToolwrightError `INVALID_GRAMMAR` */
  regex: (definition: string): TextInput => textGrammar("regex", definition),
  /** GBNF; `root` is the whole text. @throws ToolwrightError `INVALID_GRAMMAR` */
  gbnf: (definition: string): TextInput => textGrammar("gbnf", definition),
} as const

/** A grammar of a syntax that is known while the program runs. @throws ToolwrightError `INVALID_GRAMMAR` */
export function textGrammar(syntax: TextSyntax, definition: string): TextInput {
  return known.get(`${syntax} ${definition}`, () => makeGrammar(syntax, definition))
}

function makeGrammar(syntax: TextSyntax, definition: string): TextInput {
  const input: TextInput = {
    syntax,
    definition,
    fault: (text) => (syntax === "text" ? undefined : faultIn(programOf(input), text)),
  }
  if (syntax !== "text") programOf(input)
  return input
}

/** A grammar as one that OpenAI's custom tools take: Lark or a regular expression; none for any text. */
export function asCustomFormat({
  syntax,
  definition,
}: ReadGrammar): { syntax: "lark" | "regex"; definition: string } | undefined {
  if (syntax === "text") return undefined
  return syntax === "gbnf" ? { syntax: "lark", definition: gbnfToLark(definition) } : { syntax, definition }
}
