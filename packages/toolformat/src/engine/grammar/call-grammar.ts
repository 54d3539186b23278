import {
  chars,
  literal,
  modelJsonNotation,
  repeat,
  schemaExpression,
  sequence,
  type Effort,
  type Expression,
  type Notation,
} from "@toolwright/logits"
import { textInputOf, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import { closeOf } from "../codecs/parameters-reader.ts"
import type { CallSyntax, EnvelopeSyntax, IdPolicy, NamedSyntax, NestedSyntax, ParametersSyntax } from "../syntax.ts"
import { gemmaNotation, KEYWORDS, parametersNotation, tagValue } from "./notations.ts"
import { documentOf, membersExpression, nestedExpression, tagMarks, type MemberMarks } from "./tag-tree.ts"
import { IN_CDATA, textArguments, textMember, type TextRules } from "./text-arguments.ts"

const DIGIT = chars([48, 57])
const ALPHANUMERIC = chars([48, 57], [65, 90], [97, 122])
const ID_CHARACTER = chars([45, 46], [48, 58], [65, 90], [95, 95], [97, 122])

/** What a call is written from beside its tool. */
export interface CallParts {
  readonly ids: IdPolicy
  /** Takes the rules of texts under grammars, which the call's expression names. */
  readonly rules: TextRules
  /** What may be worked out for the schemas of all tools of one grammar. */
  readonly effort: Effort
}

/**
 * One call of one tool, as the syntax prints it; the arguments are held to the tool's schema, or its text to its
 * grammar.
 */
export function callExpression(syntax: CallSyntax, tool: ToolDefinition, parts: CallParts): Expression {
  const { ids } = parts
  const args = (notation: Notation): Expression => argumentsExpression(tool, notation, parts)
  switch (syntax.codec) {
    case "envelope":
      return envelopeExpression(syntax, tool, ids, args(modelJsonNotation))
    case "named":
      return namedExpression(syntax, tool, ids, args(modelJsonNotation))
    case "python":
      return sequence(literal(`${tool.name}(`), args(KEYWORDS), literal(")"))
    case "gemma":
      return sequence(literal(`${syntax.open}${tool.name}`), args(gemmaNotation(syntax)))
    case "channel":
      return sequence(
        literal(`<|channel|>commentary to=${syntax.namespace}${tool.name} <|constrain|>json${syntax.headerEnd}`),
        args(modelJsonNotation),
        literal(syntax.close[0] ?? ""),
      )
    case "nested":
      return nestedCall(syntax, tool, parts)
    case "parameters":
      return parametersCall(syntax, tool, parts)
  }
}

function nestedCall({ prefix }: NestedSyntax, tool: ToolDefinition, { rules, effort }: CallParts): Expression {
  const { name, parameters: schema } = tool
  const marks = tagMarks(prefix)
  const members =
    textMember(tool, marks, [prefix], rules) ??
    membersExpression(schema, schema, marks, (member) => nestedExpression(member, schema, { prefix, effort }))
  return sequence(literal(`${prefix}<invoke name="${name}">`), members, literal(`${prefix}</invoke>`))
}

function parametersCall(syntax: ParametersSyntax, tool: ToolDefinition, parts: CallParts): Expression {
  const { call, lines } = syntax
  const nameEnd = call.nameEnd[0] ?? ""
  const [first = "", rest = ""] = nameEnd.split(/\{index\}|\{id\}/)
  const between = nameEnd.includes("{id}") ? idExpression(parts.ids) : repeat(DIGIT, 1, 3)
  const id = call.idBefore === undefined ? [] : [idExpression(parts.ids), literal(call.idBefore)]
  return sequence(
    literal(call.open[0] ?? ""),
    ...id,
    literal(tool.name),
    rest === "" ? literal(first) : sequence(literal(first), between, literal(rest)),
    literal(lines?.afterName ?? ""),
    parametersBody(syntax, tool, parts),
    literal(call.close[0] ?? ""),
  )
}

function parametersBody(syntax: ParametersSyntax, tool: ToolDefinition, parts: CallParts): Expression {
  const { call, cdata, framed, parameter, typed } = syntax
  const close = parameter.close[0] ?? ""
  if (close.includes("{key}")) return keyedMembers(syntax, tool, parts)
  if (typed?.attribute === "type") return typedMembers(syntax, typed.end, tool, parts)
  const marks = `${slug(call.open[0] ?? parameter.open[0] ?? "")}-${slug(close)}`
  const notation = parametersNotation(syntax, `tags-${marks}-${framed === true ? "framed" : "plain"}`)
  const isText = textInputOf(tool.parameters) !== undefined
  if (isText && cdata === true) return textArguments(tool, notation, parts.rules, IN_CDATA)
  return argumentsExpression(tool, notation, parts)
}

/** Parameters whose opening marks name their values' types. */
function typedMembers(
  { parameter }: ParametersSyntax,
  end: string,
  tool: ToolDefinition,
  { rules, effort }: CallParts,
): Expression {
  const schema = tool.parameters
  const close = parameter.close[0] ?? ""
  const open = parameter.open[0] ?? ""
  const marks: MemberMarks = {
    before: (key, types) =>
      [...new Set([...types].map(jsonTypeName))].map((type) => `${open}${key}" type="${type}"${end}`),
    after: () => close,
  }
  const notation = tagValue("typed-value", [close])
  return (
    textMember(tool, marks, [close], rules) ??
    membersExpression(schema, schema, marks, (member) =>
      schemaExpression(documentOf(member, schema), { notation, relaxed: true, effort }),
    )
  )
}

/** Parameters whose closing marks name their keys. */
function keyedMembers(
  { parameter, lines }: ParametersSyntax,
  tool: ToolDefinition,
  { rules, effort }: CallParts,
): Expression {
  const schema = tool.parameters
  const close = parameter.close[0] ?? ""
  const marks: MemberMarks = {
    before: (key) => [`${parameter.open[0] ?? ""}${key}${parameter.keyEnd[0] ?? ""}`],
    after: (key) => closeOf(close, key) + (lines?.afterParameter ?? ""),
  }
  const stop = [close.split("{key}")[0] ?? ""]
  const notation = tagValue("keyed-value", stop)
  return (
    textMember(tool, marks, stop, rules) ??
    membersExpression(schema, schema, marks, (member) =>
      schemaExpression(documentOf(member, schema), { notation, relaxed: true, effort }),
    )
  )
}

function jsonTypeName(type: string): string {
  return type === "integer" ? "number" : type
}

function slug(text: string): string {
  return text
    .replaceAll(/[^a-zA-Z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .toLowerCase()
}

/** The tool's arguments in a notation; what cannot be expressed exactly is left to validation. */
function argumentsExpression(tool: ToolDefinition, notation: Notation, { rules, effort }: CallParts): Expression {
  if (textInputOf(tool.parameters) !== undefined) return textArguments(tool, notation, rules)
  return schemaExpression(objectSchema(tool.parameters), { notation, relaxed: true, effort })
}

/** Arguments are always an object, whether or not the schema says so. */
function objectSchema(schema: JsonSchema): JsonSchema {
  return schema.type === undefined ? { type: "object", ...schema } : schema
}

function envelopeExpression(
  syntax: EnvelopeSyntax,
  tool: ToolDefinition,
  ids: IdPolicy,
  value: Expression,
): Expression {
  const { header } = syntax
  const object = objectExpression(syntax, tool, ids, value)
  if (header === undefined) return object
  return sequence(literal(`${header.open}${tool.name}${header.end}`), object, literal(header.close[0] ?? ""))
}

function objectExpression(
  { keys, nameAsKey, idFirst }: EnvelopeSyntax,
  tool: ToolDefinition,
  ids: IdPolicy,
  value: Expression,
): Expression {
  const name = JSON.stringify(tool.name)
  if (nameAsKey === true) return sequence(literal(`{${name}: `), value, literal("}"))
  const body = [literal(`"${keys.name}": ${name}, "${keys.arguments}": `), value]
  if (keys.id === undefined) return sequence(literal("{"), ...body, literal("}"))
  const id = [literal(`"${keys.id}": "`), idExpression(ids), literal('"')]
  return idFirst === true
    ? sequence(literal("{"), ...id, literal(", "), ...body, literal("}"))
    : sequence(literal("{"), ...body, literal(", "), ...id, literal("}"))
}

function namedExpression(
  { open, middle, close, idMark, idBefore, nameForm }: NamedSyntax,
  tool: ToolDefinition,
  ids: IdPolicy,
  value: Expression,
): Expression {
  const parts: Expression[] = [literal(open[0] ?? "")]
  if (nameForm === "kimi") parts.push(literal(`functions.${tool.name}:`), repeat(DIGIT, 1, 5))
  else if (idBefore === undefined) parts.push(literal(tool.name))
  else parts.push(idExpression(ids), literal(`${idBefore}${tool.name}`))
  if (idMark !== undefined) parts.push(literal(idMark), idExpression(ids))
  return sequence(...parts, literal(middle[0] ?? ""), value, literal(close[0] ?? ""))
}

function idExpression(ids: IdPolicy): Expression {
  if (ids === "nine") return repeat(ALPHANUMERIC, 9, 9)
  return ids === "ordinal" ? repeat(DIGIT, 1, 6) : repeat(ID_CHARACTER, 1, 64)
}
