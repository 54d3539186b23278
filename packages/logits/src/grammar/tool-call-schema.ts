/** Tool calls as one JSON value that holds the name and the arguments. */
import type { JsonSchema, Schema } from "../schema/json-schema.ts"

/** A tool, as far as grammars care. */
export interface ToolSignature {
  readonly name: string
  /** The schema of its arguments; none means no arguments. */
  readonly parameters?: Schema
}

/** The keys under which name and arguments stand. */
export interface CallKeys {
  readonly name: string
  readonly arguments: string
}

export const DEFAULT_KEYS: CallKeys = { name: "name", arguments: "args" }

/** The schema of a call of one tool: `{"name": …, "args": …}`, both required, nothing else, name first. */
export function toolCallSchema(
  name: string,
  argsSchema: Schema = NO_ARGUMENTS,
  keys: CallKeys = DEFAULT_KEYS,
): JsonSchema {
  return callObject(name, embedded(argsSchema, 0), keys)
}

/** The schema of a call of any one of the tools and of no other. */
export function multiToolCallSchema(tools: readonly ToolSignature[], keys: CallKeys = DEFAULT_KEYS): JsonSchema {
  const definitions: Record<string, Schema> = {}
  const calls = tools.map((tool, index) => {
    definitions[`tool${index}`] = embedded(tool.parameters ?? NO_ARGUMENTS, index)
    return callObject(tool.name, { $ref: `#/$defs/tool${index}` }, keys)
  })
  return { oneOf: calls, $defs: definitions }
}

export const NO_ARGUMENTS: JsonSchema = { type: "object", properties: {}, additionalProperties: false }

function callObject(name: string, args: Schema, keys: CallKeys): JsonSchema {
  return {
    type: "object",
    properties: { [keys.name]: { const: name }, [keys.arguments]: args },
    required: [keys.name, keys.arguments],
    additionalProperties: false,
  }
}

/** A schema as a document of its own inside another: its references keep their meaning. */
function embedded(schema: Schema, index: number): Schema {
  if (typeof schema !== "object") return schema
  return { ...schema, $id: typeof schema["$id"] === "string" ? schema["$id"] : `toolwright-tool:/${index}` }
}
