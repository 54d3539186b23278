import type {
  JsonObject,
  JsonSchema,
  ToolAction,
  ToolContext,
  ToolDefinition,
  ToolSpecification,
} from "@toolwright/toolbox"
import { definePathTool } from "./paths/path-tool.ts"

/** One action of a multi-action tool: its own arguments and its own code. */
export interface ActionSpecification extends Omit<ToolAction, "action"> {
  properties: Record<string, JsonSchema>
  required?: readonly string[]
  execute(args: JsonObject, context: ToolContext): unknown
}

export interface MultiActionSpecification extends Omit<
  ToolSpecification<JsonObject>,
  "parameters" | "execute" | "actions" | "examples"
> {
  /** The argument that selects the action; `action` unless given. */
  argument?: string
  actions: Record<string, ActionSpecification>
}

/**
 * Defines a tool of several actions: its schema has one `oneOf` branch for each, so that each is validated by its own
 * arguments, and the registry can present each as a tool of its own (`{tool}_{action}`). Examples are written without
 * the action.
 */
export function defineMultiActionTool(specification: MultiActionSpecification): ToolDefinition {
  const { argument = "action", actions, ...rest } = specification
  const names = Object.keys(actions)
  const list = Object.entries(actions).map(
    ([action, { properties: _properties, required: _required, execute: _run, ...about }]) => ({
      ...about,
      action,
      ...(about.examples === undefined
        ? {}
        : {
            examples: about.examples.map((example) => ({
              ...example,
              input: { [argument]: action, ...example.input },
            })),
          }),
    }),
  )
  return definePathTool({
    ...rest,
    parameters: {
      type: "object",
      properties: { [argument]: { type: "string", enum: names, description: "What to do" } },
      required: [argument],
      oneOf: Object.entries(actions).map(([action, { description, properties, required = [] }]) => ({
        type: "object",
        title: action,
        description,
        properties: { [argument]: { const: action }, ...properties },
        required: [argument, ...required],
        additionalProperties: false,
      })),
    },
    actions: { argument, list },
    examples: list.flatMap((action) => action.examples ?? []),
    execute: (args, context) => actions[String(args[argument])]!.execute(args, context),
  })
}
