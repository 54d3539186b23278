/** Grammars of tool calls that are written as one JSON object, and of text in which calls may stand. */
import { groundSchema } from "../grounding/rules.ts"
import { modelJsonNotation } from "../grammar/notation.ts"
import {
  type Expression,
  type Grammar,
  grammarOf,
  literal,
  optional,
  repeat,
  chars,
  choice,
  sequence,
  until,
} from "../grammar/rules.ts"
import { schemaExpression, type SchemaGrammarOptions } from "./schema-grammar.ts"
import { type CallKeys, DEFAULT_KEYS, NO_ARGUMENTS, type ToolSignature } from "../grammar/tool-call-schema.ts"

/**
 * A call of one of the tools: `{"name": …, "args": …}`, the name first, so that it is known which schema the arguments
 * have. White space may stand wherever JSON allows it. With the option grounding, the rules of each tool count; bind
 * the whole grammar to the conversation with `bindGrammar`.
 *
 * @throws ToolwrightError `SCHEMA_REFUSED` where a tool's parameters cannot be expressed, `INVALID_GRAMMAR` where there
 *   are no tools
 */
export function toolCallExpression(
  tools: readonly ToolSignature[],
  keys: CallKeys = DEFAULT_KEYS,
  options: SchemaGrammarOptions = {},
): Expression {
  const space = repeat(chars([0x09, 0x0a], [0x0d, 0x0d], [0x20, 0x20]), 0)
  const text = (value: string): Expression => literal(JSON.stringify(value))
  const { grounding, ...plain } = options
  const calls = tools.map(({ name, parameters = NO_ARGUMENTS }) => {
    const schema = grounding === undefined ? parameters : groundSchema(parameters, grounding, name)
    return sequence(
      text(name),
      space,
      literal(","),
      space,
      text(keys.arguments),
      space,
      literal(":"),
      space,
      schemaExpression(schema, { notation: modelJsonNotation, ...plain }),
    )
  })
  return sequence(
    literal("{"),
    space,
    text(keys.name),
    space,
    literal(":"),
    space,
    choice(...calls),
    space,
    literal("}"),
  )
}

export interface TextOrCallsOptions {
  /** More than one call may stand in the text; the default is one. */
  readonly many?: boolean
  /** There has to be a call. */
  readonly required?: boolean
}

/**
 * Free text in which calls may stand. Each call has to begin with the trigger, which the text itself cannot contain.
 * Where an engine has lazy grammars, the trigger tells it when to begin.
 */
export function textOrCalls(
  call: Expression,
  trigger: string,
  { many = false, required = false }: TextOrCallsOptions = {},
): Grammar {
  const further = sequence(call, until(trigger))
  const calls = many ? repeat(further, required ? 1 : 0) : required ? further : optional(further)
  return grammarOf(sequence(until(trigger), calls), {}, [{ text: trigger }])
}
