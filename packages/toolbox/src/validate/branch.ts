import { memory } from "../memory/memory.ts"
import type { JsonObject, JsonSchema } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"

/** The `oneOf` branches of a multi-action tool by their action, in the schema's order. */
export function actionBranches(tool: ToolDefinition): Map<string, JsonSchema> {
  const branches = new Map<string, JsonSchema>()
  const argument = tool.actions?.argument
  if (argument === undefined) return branches
  for (const branch of tool.parameters.oneOf ?? tool.parameters.anyOf ?? []) {
    const discriminator = branch.properties?.[argument]
    const values = discriminator?.const === undefined ? (discriminator?.enum ?? []) : [discriminator.const]
    for (const value of values) branches.set(String(value), branch)
  }
  return branches
}

/**
 * The schema that a call of this action must meet: the branch, with what the whole schema says beside it. Without
 * branches (or for an unknown action) the whole schema. The same object for the same action, so that it is compiled
 * once.
 */
export function schemaForCall(tool: ToolDefinition, args: JsonObject): JsonSchema {
  const argument = tool.actions?.argument
  if (argument === undefined) return tool.parameters
  return mergedBranches(tool).get(String(args[argument])) ?? tool.parameters
}

const mergedBranches = memory.derived((tool: ToolDefinition): Map<string, JsonSchema> => {
  const { oneOf: _one, anyOf: _any, ...around } = tool.parameters
  return new Map(
    [...actionBranches(tool)].map(([action, branch]) => [action, mergeObjectSchemas(around as JsonSchema, branch)]),
  )
})

function mergeObjectSchemas(outer: JsonSchema, branch: JsonSchema): JsonSchema {
  const required = [...new Set([...(outer.required ?? []), ...(branch.required ?? [])])]
  return {
    ...outer,
    ...branch,
    properties: { ...outer.properties, ...branch.properties },
    ...(required.length === 0 ? {} : { required }),
  }
}
