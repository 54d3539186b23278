import {
  canonicalJson,
  ChangeWatch,
  plainName,
  plainText,
  toldHere,
  type JsonObject,
  type ToldBefore,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { effectsOfAnnotations, mcpToDialFormat, type McpTool } from "./convert.ts"

type Call = (
  name: string,
  args: JsonObject,
  context: Pick<ToolContext, "signal" | "progress" | "idempotencyKey">,
) => Promise<ToolResult> | ToolResult

/**
 * A server's tools as definitions. They keep their identity as long as the server tells the same of them. One that is
 * told otherwise than it was when it was let in says so, so that it has to be approved anew.
 */
export class Definitions {
  readonly #provenance: { kind: "mcp"; name: string }
  readonly #call: Call
  readonly #log: (line: string) => void
  /** Nothing where the server may change its tools. */
  readonly #watch: ChangeWatch | undefined
  /** By the server's own names. */
  readonly #made = new Map<string, { told: string; definition: ToolDefinition }>()

  constructor(options: {
    name: string
    call: Call
    log: (line: string) => void
    /** Whether the server may tell of a tool otherwise than it did at first. */
    acceptChanges: boolean
    told?: ToldBefore | undefined
    onLetIn: () => void
  }) {
    const { name, call, log, acceptChanges, told = toldHere(), onLetIn } = options
    this.#provenance = { kind: "mcp", name }
    this.#call = call
    this.#log = log
    this.#watch = acceptChanges ? undefined : new ChangeWatch({ source: name, told, log, onLetIn })
  }

  /** The definitions of the tools that a server lists, in its order. Of two with one name, the first stands. */
  of(tools: readonly McpTool[]): ToolDefinition[] {
    const names = new Set<string>()
    const definitions = tools.flatMap((tool) => {
      const definition = this.#definition(tool)
      if (names.has(definition.name)) {
        this.#log(`Left out a second tool named '${definition.name}' of '${this.#provenance.name}'`)
        return []
      }
      names.add(definition.name)
      return [definition]
    })
    const listed = new Set(tools.map((tool) => tool.name))
    for (const name of this.#made.keys()) if (!listed.has(name)) this.#made.delete(name)
    return this.#watch?.mark(definitions) ?? definitions
  }

  #definition(tool: McpTool): ToolDefinition {
    const own = mcpToDialFormat(tool).function.name
    const told = canonicalJson(PARTS.map((key) => tool[key]))
    const made = this.#made.get(own)
    if (made?.told === told) return made.definition
    const definition = this.#make(tool, own)
    this.#made.set(own, { told, definition })
    return definition
  }

  #make(tool: McpTool, own: string): ToolDefinition {
    const { description, parameters } = mcpToDialFormat(tool).function
    const title = tool.title ?? tool.annotations?.title
    return {
      name: plainName(own),
      description: plainText(description),
      category: "utility",
      optionality: "optional",
      parameters: parameters,
      effects: effectsOfAnnotations(tool),
      provenance: this.#provenance,
      ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
      ...(typeof title === "string" ? { title: plainText(title, 200) } : {}),
      handler: (args, context) => this.#call(own, args, context),
    }
  }
}

/** What a definition is made from. */
const PARTS = [
  "description",
  "inputSchema",
  "outputSchema",
  "annotations",
  "title",
] as const satisfies readonly (keyof McpTool)[]
