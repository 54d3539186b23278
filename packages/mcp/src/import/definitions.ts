import type { JsonObject, ToolContext, ToolDefinition, ToolResult } from "@toolwright/toolbox"
import { canonicalJson } from "@toolwright/toolbox"
import { effectsOf, mcpToDialFormat, type McpTool } from "./convert.ts"
import { plainName, plainText } from "./plain.ts"

type Call = (
  name: string,
  args: JsonObject,
  context: Pick<ToolContext, "signal" | "progress" | "idempotencyKey">,
) => Promise<ToolResult> | ToolResult

/**
 * A server's tools as definitions. They keep their identity as long as the server tells the same of them. What was told
 * of a tool first is remembered: one that is told otherwise later says so, so that it has to be approved anew.
 */
export class Definitions {
  readonly #provenance: { kind: "mcp"; name: string }
  readonly #call: Call
  readonly #acceptChanges: boolean
  readonly #log: (line: string) => void
  /** By the server's own names. */
  readonly #first = new Map<string, McpTool>()
  readonly #made = new Map<string, { told: string; definition: ToolDefinition }>()

  constructor(options: {
    name: string
    call: Call
    log: (line: string) => void
    /** Whether the server may tell of a tool otherwise than it did at first. */
    acceptChanges: boolean
  }) {
    this.#provenance = { kind: "mcp", name: options.name }
    this.#call = options.call
    this.#acceptChanges = options.acceptChanges
    this.#log = options.log
  }

  /** The definitions of the tools that a server lists, in its order. Of two with one name, the first stands. */
  of(tools: readonly McpTool[]): ToolDefinition[] {
    const names = new Set<string>()
    return tools.flatMap((tool) => {
      const definition = this.#definition(tool)
      if (names.has(definition.name)) {
        this.#log(`Left out a second tool named '${definition.name}' of '${this.#provenance.name}'`)
        return []
      }
      names.add(definition.name)
      return [definition]
    })
  }

  #definition(tool: McpTool): ToolDefinition {
    const own = mcpToDialFormat(tool).function.name
    const told = canonicalJson(PARTS.map(([key]) => tool[key]))
    const made = this.#made.get(own)
    if (made?.told === told) return made.definition
    const first = this.#first.get(own) ?? tool
    if (first === tool && this.#first.size < MOST_REMEMBERED) this.#first.set(own, tool)
    const changed = this.#acceptChanges ? [] : changesOf(first, tool)
    if (changed.length > 0)
      this.#log(`'${own}' of '${this.#provenance.name}' is not what it was at first: ${changed.join(", ")} changed`)
    const definition = this.#make(tool, own, changed)
    this.#made.set(own, { told, definition })
    return definition
  }

  #make(tool: McpTool, own: string, changed: readonly string[]): ToolDefinition {
    const { description, parameters } = mcpToDialFormat(tool).function
    const title = tool.title ?? tool.annotations?.title
    return {
      name: plainName(own),
      description: plainText(description),
      category: "utility",
      optionality: "optional",
      parameters: parameters,
      effects: effectsOf(tool),
      provenance: this.#provenance,
      ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
      ...(typeof title === "string" ? { title: plainText(title, 200) } : {}),
      ...(changed.length === 0 ? {} : { changed: changed.join(", ") }),
      handler: (args, context) => this.#call(own, args, context),
    }
  }
}

/** Tools whose first telling is remembered: a server may make new names for ever. */
const MOST_REMEMBERED = 10_000

const PARTS = [
  ["description", "its description"],
  ["inputSchema", "its arguments"],
  ["outputSchema", "what it answers"],
  ["annotations", "what it says of its effects"],
  ["title", "its title"],
] as const satisfies readonly (readonly [keyof McpTool, string])[]

function changesOf(first: McpTool, now: McpTool): string[] {
  return PARTS.filter(([key]) => canonicalJson(first[key]) !== canonicalJson(now[key])).map(([, words]) => words)
}
