import { grammarToGbnf, type GroundingRules } from "@toolwright/logits"
import type { JsonSchema, ToolDefinition } from "@toolwright/toolbox"
import { grammarFor } from "@toolwright/toolformat"
import { POCKET_TOOLS } from "./tools.ts"

/** Tools that the model was not trained on and can still call, where a request names one. */
export type OtherTools = () => readonly ToolDefinition[]

/**
 * Those of some tools that can be called by their names: the grammar writes the name and the arguments' keys, so that
 * texts, numbers and truth values are left to the model.
 */
export function nameableTools(tools: readonly ToolDefinition[]): ToolDefinition[] {
  return tools.filter(({ name, parameters }) => {
    const { properties = {}, required = [] } = parameters
    return !POCKET_TOOLS.includes(name) && required.every((key) => isPlain(properties[key]))
  })
}

/** The tool that a request names word for word; the longest name where several are in it. */
export function namedTool(request: string, others: OtherTools): ToolDefinition | undefined {
  const words = new Set(request.split(/[^\w-]+/))
  const named = nameableTools(others()).filter(({ name }) => words.has(name))
  return named.sort((a, b) => b.name.length - a.name.length)[0]
}

/** GBNF of a call of this tool and nothing else, with its required arguments out of what was said. */
export function namedCall({ name, parameters, ...tool }: ToolDefinition, said: string): string {
  const required = parameters.required ?? []
  const properties = Object.fromEntries(required.map((key) => [key, parameters.properties![key]!]))
  const rules: GroundingRules = {
    [name]: Object.fromEntries(
      Object.entries(properties).flatMap(([key, schema]) => {
        const kind = kindOf(key, schema)
        return kind === undefined ? [] : [[key, kind]]
      }),
    ),
  }
  const only: ToolDefinition = {
    ...tool,
    name,
    parameters: { type: "object", properties, required, additionalProperties: false },
  }
  return grammarToGbnf(
    grammarFor("hermes", [only], { grounding: { text: said, rules }, mode: "call", parallel: false }),
  )
}

function isPlain(schema: JsonSchema | undefined): boolean {
  return typeof schema?.type === "string" && ["string", "integer", "number", "boolean"].includes(schema.type)
}

function kindOf(key: string, { type }: JsonSchema): "path" | "span" | "number" | undefined {
  if (type === "integer" || type === "number") return "number"
  if (type !== "string") return undefined
  return /path|file|folder|dir/i.test(key) ? "path" : "span"
}
