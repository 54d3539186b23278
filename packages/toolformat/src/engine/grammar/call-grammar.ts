import {
  chars,
  literal,
  modelJsonNotation,
  repeat,
  schemaExpression,
  sequence,
  type Expression,
  type Notation,
} from "@toolwright/logits"
import type { JsonSchema, ToolDefinition } from "@toolwright/toolbox"
import { closeOf } from "../codecs/parameters-reader.ts"
import type { CallSyntax, EnvelopeSyntax, IdPolicy, NamedSyntax, NestedSyntax, ParametersSyntax } from "../syntax.ts"
import { gemmaNotation, KEYWORDS, parametersNotation, tagValue } from "./notations.ts"
import { documentOf, membersExpression, nestedExpression, tagMarks } from "./tag-tree.ts"

const DIGIT = chars([48, 57])
const ALPHANUMERIC = chars([48, 57], [65, 90], [97, 122])
const ID_CHARACTER = chars([45, 46], [48, 58], [65, 90], [95, 95], [97, 122])

/** One call of one tool, as the syntax prints it; the arguments are held to the tool's schema. */
export function callExpression(syntax: CallSyntax, tool: ToolDefinition, ids: IdPolicy): Expression {
  switch (syntax.codec) {
    case "envelope":
      return envelopeExpression(syntax, tool, ids)
    case "named":
      return namedExpression(syntax, tool, ids)
    case "python":
      return sequence(literal(`${tool.name}(`), args(tool, KEYWORDS), literal(")"))
    case "gemma":
      return sequence(literal(`${syntax.open}${tool.name}`), args(tool, gemmaNotation(syntax)))
    case "channel":
      return sequence(
        literal(`<|channel|>commentary to=${syntax.namespace}${tool.name} <|constrain|>json${syntax.headerEnd}`),
        args(tool, modelJsonNotation),
        literal(syntax.close[0] ?? ""),
      )
    case "nested":
      return nestedCall(syntax, tool)
    case "parameters":
      return parametersCall(syntax, tool)
  }
}

function nestedCall({ prefix }: NestedSyntax, { name, parameters: schema }: ToolDefinition): Expression {
  const members = membersExpression(schema, schema, tagMarks(prefix), (member) =>
    nestedExpression(member, schema, prefix),
  )
  return sequence(literal(`${prefix}<invoke name="${name}">`), members, literal(`${prefix}</invoke>`))
}

function parametersCall(syntax: ParametersSyntax, tool: ToolDefinition): Expression {
  const { call, lines } = syntax
  const [first = "", rest = ""] = (call.nameEnd[0] ?? "").split("{index}")
  return sequence(
    literal(`${call.open[0] ?? ""}${tool.name}`),
    rest === "" ? literal(first) : sequence(literal(first), repeat(DIGIT, 1, 3), literal(rest)),
    literal(lines?.afterName ?? ""),
    parametersBody(syntax, tool),
    literal(call.close[0] ?? ""),
  )
}

function parametersBody(syntax: ParametersSyntax, tool: ToolDefinition): Expression {
  const { call, framed, parameter, typed } = syntax
  const close = parameter.close[0] ?? ""
  if (close.includes("{key}")) return keyedMembers(syntax, tool)
  if (typed?.attribute === "type") return typedMembers(syntax, typed.end, tool)
  const marks = `${slug(call.open[0] ?? parameter.open[0] ?? "")}-${slug(close)}`
  return args(tool, parametersNotation(syntax, `tags-${marks}-${framed === true ? "framed" : "plain"}`))
}

/** Parameters whose opening marks name their values' types. */
function typedMembers(
  { parameter }: ParametersSyntax,
  end: string,
  { parameters: schema }: ToolDefinition,
): Expression {
  const close = parameter.close[0] ?? ""
  const open = parameter.open[0] ?? ""
  return membersExpression(
    schema,
    schema,
    {
      before: (key, types) =>
        [...new Set([...types].map(jsonTypeName))].map((type) => `${open}${key}" type="${type}"${end}`),
      after: () => close,
    },
    (member) =>
      schemaExpression(documentOf(member, schema), { notation: tagValue("typed-value", [close]), relaxed: true }),
  )
}

/** Parameters whose closing marks name their keys. */
function keyedMembers({ parameter, lines }: ParametersSyntax, { parameters: schema }: ToolDefinition): Expression {
  const close = parameter.close[0] ?? ""
  return membersExpression(
    schema,
    schema,
    {
      before: (key) => [`${parameter.open[0] ?? ""}${key}${parameter.keyEnd[0] ?? ""}`],
      after: (key) => closeOf(close, key) + (lines?.afterParameter ?? ""),
    },
    (member) =>
      schemaExpression(documentOf(member, schema), {
        notation: tagValue("keyed-value", [close.split("{key}")[0] ?? ""]),
        relaxed: true,
      }),
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
function args({ parameters: schema }: ToolDefinition, notation: Notation): Expression {
  return schemaExpression(objectSchema(schema), { notation, relaxed: true })
}

/** Arguments are always an object, whether or not the schema says so. */
function objectSchema(schema: JsonSchema): JsonSchema {
  return schema.type === undefined ? { type: "object", ...schema } : schema
}

function envelopeExpression(syntax: EnvelopeSyntax, tool: ToolDefinition, ids: IdPolicy): Expression {
  const { header } = syntax
  const object = objectExpression(syntax, tool, ids)
  if (header === undefined) return object
  return sequence(literal(`${header.open}${tool.name}${header.end}`), object, literal(header.close[0] ?? ""))
}

function objectExpression(
  { keys, nameAsKey, idFirst }: EnvelopeSyntax,
  tool: ToolDefinition,
  ids: IdPolicy,
): Expression {
  const value = args(tool, modelJsonNotation)
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
): Expression {
  const parts: Expression[] = [literal(open[0] ?? "")]
  if (nameForm === "kimi") parts.push(literal(`functions.${tool.name}:`), repeat(DIGIT, 1, 5))
  else if (idBefore === undefined) parts.push(literal(tool.name))
  else parts.push(idExpression(ids), literal(`${idBefore}${tool.name}`))
  if (idMark !== undefined) parts.push(literal(idMark), idExpression(ids))
  return sequence(...parts, literal(middle[0] ?? ""), args(tool, modelJsonNotation), literal(close[0] ?? ""))
}

function idExpression(ids: IdPolicy): Expression {
  if (ids === "nine") return repeat(ALPHANUMERIC, 9, 9)
  return ids === "ordinal" ? repeat(DIGIT, 1, 6) : repeat(ID_CHARACTER, 1, 64)
}
