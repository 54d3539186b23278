import { withoutTopCombinators, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"

/**
 * A tool as MCP lists it. Its schema goes out as it is, but for two things that hosts stumble over: a `$schema` of an
 * older dialect, and combinators at the top, which become one object with all of their properties (the tool itself
 * checks the rest).
 */
export function listed(tool: ToolDefinition): Record<string, unknown> {
  const { readOnly, destructive, idempotent, network } = tool.effects ?? {}
  const annotations = {
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(readOnly === undefined ? {} : { readOnlyHint: readOnly }),
    ...(destructive === undefined ? {} : { destructiveHint: destructive }),
    ...(idempotent === undefined ? {} : { idempotentHint: idempotent }),
    ...(network === undefined ? {} : { openWorldHint: network }),
  }
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: objectSchema(tool.parameters),
    ...(tool.outputSchema?.type === "object" ? { outputSchema: withoutDialect(tool.outputSchema) } : {}),
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}

function objectSchema(schema: JsonSchema): JsonSchema {
  return { type: "object", ...withoutTopCombinators(withoutDialect(schema)) }
}

/** The current dialect may be named; hosts refuse schemas of others. */
function withoutDialect(schema: JsonSchema): JsonSchema {
  const { $schema: dialect, ...rest } = schema
  return typeof dialect === "string" && dialect.includes("2020-12") ? schema : rest
}
