import { memory } from "../memory/memory.ts"
import type { JsonSchema } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"

/**
 * The tool as a short declaration has it: without the optional arguments, and without the actions, that are seldom
 * needed. The same object every time.
 */
export function briefly(tool: ToolDefinition): ToolDefinition {
  return tool.brief === undefined ? tool : shortened(tool)
}

const shortened = memory.derived((tool: ToolDefinition): ToolDefinition => {
  const kept = new Set(tool.brief)
  const actions = tool.parameters.oneOf?.filter(isAction) ?? []
  const named = actions.filter(({ title }) => kept.has(title!))
  // Of a tool that names no action, all of them stay.
  const parameters = actions.length === 0 ? tool.parameters : withActions(tool.parameters, named, kept)
  return { ...tool, parameters: withArguments(parameters, kept) }
})

function isAction({ title, properties }: JsonSchema): boolean {
  return title !== undefined && Object.values(properties ?? {}).some((property) => property.const !== undefined)
}

/** Only the named actions; branches that say nothing but the action's name are said by its list of values. */
function withActions(schema: JsonSchema, named: readonly JsonSchema[], kept: ReadonlySet<string>): JsonSchema {
  const { oneOf = [], properties = {}, ...rest } = schema
  const branches = (named.length === 0 ? oneOf : named).map((branch) => withArguments(branch, kept))
  const says = branches.some((branch) => Object.keys(branch.properties ?? {}).length > 1)
  return { ...rest, properties: narrowed(properties, named), ...(says ? { oneOf: branches } : {}) }
}

/** The argument that selects the action may have the values that are left. */
function narrowed(properties: Record<string, JsonSchema>, named: readonly JsonSchema[]): Record<string, JsonSchema> {
  const left = new Map<string, Set<unknown>>()
  for (const branch of named)
    for (const [name, { const: value }] of Object.entries(branch.properties ?? {}))
      if (value !== undefined) left.set(name, (left.get(name) ?? new Set()).add(value))
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const values = left.get(name)
      const narrow =
        values === undefined ? {} : { enum: property.enum?.filter((value) => values.has(value)) ?? [...values] }
      return [name, { ...property, ...narrow }]
    }),
  )
}

function withArguments(schema: JsonSchema, kept: ReadonlySet<string>): JsonSchema {
  const { properties = {}, required = [] } = schema
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).filter(
        ([name, { const: value }]) => value !== undefined || required.includes(name) || kept.has(name),
      ),
    ),
  }
}
