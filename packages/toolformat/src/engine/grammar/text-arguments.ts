/** The one text of a tool that takes a text, where a call has its arguments. */
import {
  chars,
  choice,
  embedText,
  literal,
  repeat,
  sequence,
  type Expression,
  type Notation,
  type StringStyle,
} from "@toolwright/logits"
import { TEXT_ARGUMENT, textInputOf, type ToolDefinition } from "@toolwright/toolbox"
import type { MemberMarks } from "./tag-tree.ts"

/** Takes the rules of grammars that calls are held to, by names of their own. */
export type TextRules = Record<string, Expression>

const TEXT = new Set(["string" as const])

/** Nothing, a space, or a line break with indentation, where a notation lets white space be. */
const SPACE = choice(literal(""), literal(" "), sequence(literal("\n"), repeat(chars([9, 9], [32, 32]), 0, 20)))

/** How a text is written where tags and entities would be read in it: in CDATA, unless it has nothing of the kind. */
export const IN_CDATA: readonly StringStyle[] = [
  { kind: "bare", stop: ["<", "&", "\n"] },
  { kind: "delimited", open: "<![CDATA[", close: "]]>" },
]

/**
 * The arguments of a tool that takes a text: an object of one member in a notation.
 *
 * @param styles how the text may be written; as the notation's strings unless given
 */
export function textArguments(
  tool: ToolDefinition,
  notation: Notation,
  rules: TextRules,
  styles: readonly StringStyle[] = [(notation.nested ?? notation).string],
): Expression {
  const { object, whitespace } = notation
  const space = whitespace === "json" ? [SPACE] : []
  const afterKey = typeof object.afterKey === "string" ? object.afterKey : object.afterKey.string
  return sequence(
    literal(object.open),
    ...space,
    literal(object.beforeKey),
    keyIn(object.key),
    ...space,
    literal(afterKey),
    ...space,
    choice(...styles.map((style) => textOf(tool, style, rules))),
    literal(object.afterValue),
    ...space,
    literal(object.close),
  )
}

/** The same where each argument stands between marks; nothing for a tool that takes arguments. */
export function textMember(
  tool: ToolDefinition,
  marks: MemberMarks,
  stop: readonly string[],
  rules: TextRules,
): Expression | undefined {
  if (textInputOf(tool.parameters) === undefined) return undefined
  return sequence(
    choice(...marks.before(TEXT_ARGUMENT, TEXT).map(literal)),
    textOf(tool, { kind: "bare", stop }, rules),
    literal(marks.after(TEXT_ARGUMENT)),
  )
}

function textOf({ name, parameters }: ToolDefinition, style: StringStyle, rules: TextRules): Expression {
  const prefix = `text-${name.replaceAll(/[^A-Za-z0-9]+/g, "-")}-${Object.keys(rules).length}`
  return embedText(textInputOf(parameters)!, style, prefix, rules)
}

function keyIn(style: StringStyle): Expression {
  if (style.kind === "json") return literal(`"${TEXT_ARGUMENT}"`)
  if (style.kind === "python") return choice(literal(`'${TEXT_ARGUMENT}'`), literal(`"${TEXT_ARGUMENT}"`))
  return literal(style.kind === "bare" ? TEXT_ARGUMENT : style.open + TEXT_ARGUMENT + style.close)
}
