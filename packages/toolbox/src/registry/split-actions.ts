import { memory } from "../memory/memory.ts"
import type { JsonObject, JsonSchema } from "../model/schema.ts"
import { setsOf } from "../model/about.ts"
import type { ToolAction, ToolDefinition } from "../model/tool.ts"
import { schemaForCall } from "../validate/branch.ts"

/**
 * A multi-action tool as tools of one action each, `{tool}_{action}` unless the action names itself: models call them
 * right far more often. A tool without actions is returned as it is. The same objects every time.
 */
export function splitActions(tool: ToolDefinition): ToolDefinition[] {
  return tool.actions === undefined ? [tool] : actionsOf(tool)
}

const actionsOf = memory.derived((tool: ToolDefinition): ToolDefinition[] =>
  tool.actions!.list.map((action) => singleAction(tool, tool.actions!.argument, action)),
)

function singleAction(tool: ToolDefinition, argument: string, action: ToolAction): ToolDefinition {
  const {
    actions: _actions,
    oneOf: _oneOf,
    examples: _examples,
    does: _does,
    aliases,
    ...rest
  } = tool as ToolDefinition & { oneOf?: unknown }
  const examples = (
    action.examples ??
    tool.examples?.filter(({ input }) => input[argument] === action.action) ??
    []
  ).map((example) => ({ ...example, input: without(example.input, argument) }))
  const effects = action.effects ?? tool.effects
  return {
    ...rest,
    name: action.name ?? `${tool.name}_${action.action}`.replaceAll("-", "_"),
    description: action.description,
    actionOf: tool.name,
    parameters: withoutArgument(schemaForCall(tool, { [argument]: action.action }), argument),
    ...(aliases?.arguments === undefined ? {} : { aliases: { arguments: aliases.arguments } }),
    ...(examples.length === 0 ? {} : { examples }),
    ...(action.usageHint === undefined ? {} : { usageHint: action.usageHint }),
    ...(action.sets === undefined ? {} : { sets: [...setsOf(tool), ...action.sets] }),
    ...(action.brief === undefined ? {} : { brief: action.brief }),
    ...(effects === undefined ? {} : { effects }),
    ...ofAction(tool, action, argument),
    handler: (args, context) => tool.handler({ [argument]: action.action, ...args }, context),
  }
}

/** What an action says of itself goes before what its tool says; a function of the arguments sees the action. */
function ofAction(tool: ToolDefinition, action: ToolAction, argument: string): Partial<ToolDefinition> {
  const role = action.role ?? tool.role
  const asks = action.asks ?? tool.asks
  const whole = (args: JsonObject): JsonObject => ({ [argument]: action.action, ...args })
  return {
    ...(role === undefined ? {} : { role: typeof role === "function" ? (args) => role(whole(args)) : role }),
    ...(asks === undefined ? {} : { asks }),
    ...(action.ruledAs === undefined ? {} : { ruledAs: action.ruledAs }),
    ...(action.does === undefined ? {} : { does: action.does }),
    ...(tool.doubts === undefined ? {} : { doubts: (args) => tool.doubts!(whole(args)) }),
    ...(tool.subjects === undefined ? {} : { subjects: (args) => tool.subjects!(whole(args)) }),
    ...(tool.reconcile === undefined
      ? {}
      : { reconcile: (call) => tool.reconcile!({ ...call, arguments: whole(call.arguments) }) }),
    ...(tool.preview === undefined ? {} : { preview: (args) => tool.preview!(whole(args)) }),
  }
}

function withoutArgument(schema: JsonSchema, argument: string): JsonSchema {
  // The branch's title and description are the tool's own now: said twice, they only fill windows.
  const { oneOf: _oneOf, anyOf: _anyOf, title: _title, description: _description, required, ...rest } = schema
  const remaining = required?.filter((name) => name !== argument) ?? []
  return {
    ...rest,
    properties: without(schema.properties ?? {}, argument),
    ...(remaining.length === 0 ? {} : { required: remaining }),
  }
}

function without<Value>(object: Record<string, Value>, key: string): Record<string, Value> {
  const { [key]: _removed, ...rest } = object
  return rest
}
