import {
  failure,
  describeFault,
  messageOf,
  schemaFault,
  ToolwrightError,
  type JsonObject,
  type StandardSchema,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
  type ToolSource,
} from "@toolwright/toolbox"
import type { Client } from "@modelcontextprotocol/client"
import { effectsOf, mcpToDialFormat, toToolResult, type DialTool, type McpResult, type McpTool } from "./convert.ts"
import { Link, type OpenLink } from "./link.ts"

/** What a server may ask the person behind the client, and what that one answers. */
export interface ElicitationRequest {
  message: string
  requestedSchema?: unknown
}

export type ElicitationAnswer =
  | { action: "accept"; content: Record<string, string | number | boolean | string[]> }
  | { action: "decline" | "cancel" }

/** Settings that clients of both transports share. */
export interface McpClientOptions {
  /** How the server is called in messages, records and settings. */
  name: string
  /** Longest time for connecting and for listing, in milliseconds; 15 seconds unless given. */
  connectTimeoutMs?: number
  /** Answers what a server asks; everything is declined unless given. */
  elicit?: (request: ElicitationRequest) => Promise<ElicitationAnswer> | ElicitationAnswer
  /** Gets a line for each conversion and each tool that was left out. */
  log?: (line: string) => void
}

/** Most pages of a listing that are read, and most tools. */
const MOST_PAGES = 100
const MOST_TOOLS = 5000

/**
 * An MCP server as a source of tools. It is made by the async `create` of its two kinds, which connect and convert
 * before they
 * return, so that problems show at the start and not in a conversation.
 */
export abstract class BaseMCPClient implements ToolSource, AsyncDisposable {
  readonly provenance: { kind: "mcp"; name: string }
  readonly #link: Link
  readonly #options: McpClientOptions
  readonly #listeners = new Set<() => void>()
  #tools: McpTool[] = []
  #running = 0

  protected constructor(options: McpClientOptions, open: (prepare: (client: Client) => void) => OpenLink) {
    this.#options = options
    this.provenance = { kind: "mcp", name: options.name }
    this.#link = new Link(
      options.name,
      open((client) => this.#prepare(client)),
    )
  }

  /** Converts a tool of a server to the OpenAI form. @throws ToolwrightError `INVALID_MCP_TOOL` */
  static mcpToDialFormat(tool: McpTool): DialTool {
    return mcpToDialFormat(tool)
  }

  /** Connects and converts. @throws ToolwrightError `SOURCE_UNAVAILABLE`, `INVALID_MCP_TOOL` */
  protected async start(): Promise<this> {
    try {
      await this.refresh()
    } catch (thrown) {
      await this.close()
      throw thrown
    }
    return this
  }

  /** Lists the server's tools again. */
  async refresh(): Promise<void> {
    const tools = await this.#listAll()
    const converted = tools.map(mcpToDialFormat)
    this.#tools = tools
    this.#options.log?.(`Converted ${converted.length} tools to DIAL format`)
  }

  /** The tools in the OpenAI form, in the server's order. */
  getTools(): DialTool[] {
    return this.#tools.map(mcpToDialFormat)
  }

  /** The tools as definitions, whose handlers call the server. */
  toToolDefinitions(): ToolDefinition[] {
    return this.#tools.map((tool) => {
      const { name, description, parameters } = mcpToDialFormat(tool).function
      return {
        name,
        description,
        category: "utility",
        optionality: "optional",
        schema: parameters,
        effects: effectsOf(tool),
        provenance: this.provenance,
        ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
        ...((tool.title ?? tool.annotations?.title) === undefined
          ? {}
          : { title: tool.title ?? tool.annotations!.title! }),
        handler: (args, context) => this.callTool(name, args, context),
      }
    })
  }

  async list(): Promise<ToolDefinition[]> {
    return this.toToolDefinitions()
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Calls a tool. Never throws: a server that is down, or goes down in the middle, gives a failed result. */
  async callTool(
    name: string,
    args: JsonObject,
    context: Pick<ToolContext, "signal" | "progress">,
  ): Promise<ToolResult> {
    let client: Client
    try {
      client = await this.#link.client()
    } catch (thrown) {
      return failed(thrown)
    }
    this.#running++
    try {
      const result = await client.request(
        { method: "tools/call", params: { name, arguments: args } },
        anything<McpResult>(),
        {
          signal: context.signal,
          // The pipeline bounds the time; the SDK's own limit must not come before it.
          timeout: 2 ** 31 - 1,
          onprogress: ({ progress, total, message }) =>
            context.progress({
              progress,
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
            }),
        },
      )
      return toToolResult(result, this.#tools.find((tool) => tool.name === name)?.outputSchema !== undefined)
    } catch (thrown) {
      if (context.signal.aborted) return failed(thrown)
      if (this.#link.isOpen && isConnectionError(thrown)) await this.#link.drop(this.#running > 1)
      return failed(this.#link.isOpen ? thrown : this.#link.brokenDuring(`the call of '${name}'`, thrown))
    } finally {
      this.#running--
    }
  }

  async close(): Promise<void> {
    this.#listeners.clear()
    await this.#link.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /**
   * Page by page, each with the time limit; what has no object schema for its arguments is left out with a line in the
   * log.
   */
  async #listAll(): Promise<McpTool[]> {
    const client = await this.#link.client()
    const tools: McpTool[] = []
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES && tools.length < MOST_TOOLS; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const answer = await client
        .request({ method: "tools/list", params }, anything<{ tools?: McpTool[]; nextCursor?: string }>(), {
          timeout: this.#options.connectTimeoutMs ?? 15_000,
        })
        .catch((cause: unknown) => {
          throw new ToolwrightError(
            "SOURCE_UNAVAILABLE",
            `The MCP server '${this.#options.name}' does not list its tools: ${messageOf(cause)}`,
            { cause },
          )
        })
      tools.push(...(answer.tools ?? []).filter((tool) => this.#usable(tool)))
      if (answer.nextCursor === undefined || answer.nextCursor === cursor) return tools
      cursor = answer.nextCursor
    }
    this.#options.log?.(`'${this.#options.name}' lists without end; its first ${tools.length} tools are used`)
    return tools.slice(0, MOST_TOOLS)
  }

  #usable(tool: McpTool): boolean {
    const fault = tool.inputSchema === undefined ? undefined : schemaFault(tool.inputSchema)
    const type = tool.inputSchema?.type
    if (fault === undefined && (type === undefined || type === "object")) return true
    const reason =
      fault === undefined
        ? `its inputSchema is of type ${JSON.stringify(type)}, not object`
        : `its inputSchema is malformed: ${describeFault(fault)}`
    this.#options.log?.(`Left out '${tool.name}' of '${this.#options.name}': ${reason}`)
    return false
  }

  #prepare(client: Client): void {
    client.setNotificationHandler("notifications/tools/list_changed", async () => {
      await this.refresh().catch((thrown: unknown) => this.#options.log?.(messageOf(thrown)))
      for (const listener of this.#listeners) listener()
    })
    client.setRequestHandler(
      "elicitation/create",
      async (request) => (await this.#options.elicit?.(request.params as ElicitationRequest)) ?? { action: "decline" },
    )
  }
}

/** Codes of the SDK's errors, and kinds of errors, that come from the connection and not from the server's answer. */
const CONNECTION_CODES = new Set<unknown>(["NOT_CONNECTED", "CONNECTION_CLOSED", "SEND_FAILED"])

function isConnectionError(thrown: unknown): boolean {
  const { name, code, status } = (thrown ?? {}) as { name?: string; code?: unknown; status?: number }
  // 404 to a call is the answer to a session that the server does not know any more.
  return (
    CONNECTION_CODES.has(code) ||
    (name === "SdkHttpError" && status === 404) ||
    (thrown instanceof TypeError && messageOf(thrown).includes("fetch failed"))
  )
}

function failed(thrown: unknown): ToolResult {
  const known = ToolwrightError.isInstance(thrown)
  const hint = known && thrown.hint !== undefined ? { hint: thrown.hint } : {}
  return failure({
    code: known ? thrown.code : "TOOL_FAILED",
    message: messageOf(thrown),
    retryable: known && thrown.code === "SOURCE_UNAVAILABLE",
    ...hint,
  })
}

/**
 * A schema that takes everything: what servers answer is read field by field, so that one bad part loses nothing else.
 */
function anything<Value>(): StandardSchema<unknown, Value> {
  return { "~standard": { version: 1, vendor: "toolwright", validate: (value) => ({ value: value as Value }) } }
}
