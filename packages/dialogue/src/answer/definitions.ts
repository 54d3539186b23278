import { hideGrounded, ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import type { OpenAITool } from "@toolwright/toolformat"

/** Sets of tools that are kept, with what is worked out about them. */
const MAX_SETS = 16

/** Clients send the same tools with every request: the same definitions then, so that grammars are not made anew. */
export function rememberDefinitions(): (tools: readonly OpenAITool[]) => readonly ToolDefinition[] {
  const known = new Map<string, readonly ToolDefinition[]>()
  return (tools) => {
    const key = JSON.stringify(tools)
    const definitions = known.get(key) ?? tools.map(definitionOf)
    known.delete(key)
    known.set(key, definitions)
    if (known.size > MAX_SETS) known.delete(known.keys().next().value!)
    return definitions
  }
}

/** A client may annotate its arguments as our own tools do; what is no such annotation stays as it came. */
function annotated(schema: ToolDefinition["parameters"]): ToolDefinition["parameters"] {
  try {
    return hideGrounded(schema)
  } catch {
    return schema
  }
}

/** A tool that belongs to the client: it is told to the model and never run here. */
function definitionOf({ function: { name, description, parameters } }: OpenAITool): ToolDefinition {
  return {
    name,
    description: description ?? "",
    category: "utility",
    optionality: "optional",
    parameters: annotated(parameters ?? { type: "object" }),
    // Its schema is a stranger's: patterns in it are run by the engine that takes linear time.
    provenance: { kind: "rest", name: "client" },
    handler() {
      throw new ToolwrightError("CLIENT_TOOL", `The tool '${name}' belongs to the client.`)
    },
  }
}
