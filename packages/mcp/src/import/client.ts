import {
  failure,
  describeFault,
  messageOf,
  plainLine,
  plainText,
  schemaFault,
  sizeOf,
  ToolwrightError,
  type JsonObject,
  type StandardSchema,
  type ToldBefore,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
  type ToolSource,
} from "@toolwright/toolbox"
import type { Client } from "@modelcontextprotocol/client"
import { mcpToDialFormat, toToolResult, type DialTool, type McpResult, type McpTool } from "./convert.ts"
import { Definitions } from "./definitions.ts"
import { ConnectionLost, DirectRequests, type CallOwner, type CallToSend } from "./direct-requests.ts"
import { guardInbound } from "./inbound.ts"
import { Link, type OpenLink } from "./link.ts"
import { Coalesced } from "./repeat.ts"
import { UNANSWERED } from "./unanswered.ts"
import { IDEMPOTENCY_KEY } from "../idempotency-key.ts"

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
  /**
   * Whether the server may tell of a tool otherwise than when it was let in: a description, arguments, effects. Unless
   * it may, a call of such a tool has to be approved, by whoever stands behind `approve`, and is refused where nobody
   * does. The approval lets the tool in as it is told then.
   */
  acceptChanges?: boolean
  /** What was told of its tools before; what this connection was told first unless given. */
  told?: ToldBefore
  /** Gets a line for each conversion and each tool that was left out. */
  log?: (line: string) => void
}

/** Most pages of a listing that are read, and most tools. */
const MOST_PAGES = 100
/** A whole listing may take as long as so many of its pages. */
const LISTING_PAGES = 4
/** Tools that are left out, of which a line in the log says why. */
const MOST_TOLD = 20
const MOST_TOOLS = 5000

/**
 * An MCP server as a source of tools. It is made by the async `create` of its two kinds, which connect and convert
 * before they return, so that problems show at the start and not in a conversation.
 */
export abstract class BaseMCPClient implements ToolSource, AsyncDisposable {
  readonly provenance: { kind: "mcp"; name: string }
  readonly #link: Link
  readonly #options: McpClientOptions
  readonly #listeners = new Set<() => void>()
  readonly #definitions: Definitions
  readonly #changes = new Coalesced(() => this.#readChanges())
  #tools: McpTool[] = []
  /** By the client whose connection they go over. */
  readonly #direct = new WeakMap<Client, DirectRequests>()
  #running = 0
  #asked: number[] = []
  #asking = false

  protected constructor(options: McpClientOptions, open: (prepare: (client: Client) => void) => OpenLink) {
    this.#options = options
    this.provenance = { kind: "mcp", name: options.name }
    this.#definitions = new Definitions({
      name: options.name,
      call: (name, args, context) => this.callTool(name, args, context),
      log: (line) => this.#log(line),
      acceptChanges: options.acceptChanges ?? false,
      told: options.told,
      onLetIn: () => this.#listeners.forEach((listener) => listener()),
    })
    const connect = open((client) => this.#prepare(client))
    this.#link = new Link(options.name, async () => {
      const opened = await connect()
      if (opened.direct === true) this.#direct.set(opened.client, new DirectRequests(opened.transport))
      guardInbound(opened.transport, {
        onListChanged: () => this.#changes.ask(),
        onFlood: () => this.#log(`'${options.name}' asks for more than can be answered; its connection was closed`),
      })
      return opened
    })
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
    this.#log(`Converted ${converted.length} tools to DIAL format`)
  }

  /** Looks up what may have changed. */
  protected changed(): void {
    this.#changes.ask()
  }

  #log(line: string): void {
    this.#options.log?.(plainLine(line))
  }

  /** The tools in the OpenAI form, in the server's order. */
  getTools(): DialTool[] {
    return this.#tools.map(mcpToDialFormat)
  }

  /** The tools as definitions, whose handlers call the server. */
  toToolDefinitions(): ToolDefinition[] {
    return this.#definitions.of(this.#tools)
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
    context: Pick<ToolContext, "signal" | "progress"> & Partial<Pick<ToolContext, "idempotencyKey">>,
  ): Promise<ToolResult> {
    let client: Client
    try {
      client = await this.#link.client()
    } catch (thrown) {
      return failed(thrown)
    }
    this.#running++
    try {
      const params = { name, arguments: args, ...keyed(context.idempotencyKey) }
      const owner: CallOwner = {
        signal: context.signal,
        onprogress: ({ progress, total, message }) =>
          context.progress({
            progress,
            ...(total === undefined ? {} : { total }),
            ...(message === undefined ? {} : { message }),
          }),
      }
      const direct = this.#direct.get(client)
      const result = await (direct === undefined ? requested(client, params, owner) : direct.call(params, owner))
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
    this.#changes.stop()
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
    let characters = 0
    const perPage = this.#options.connectTimeoutMs ?? 15_000
    const until = performance.now() + LISTING_PAGES * perPage
    const leftOut = this.#leftOut()
    for (let page = 0; page < MOST_PAGES && characters <= MOST_LISTED; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const answer = await client
        .request({ method: "tools/list", params }, anything<{ tools?: McpTool[]; nextCursor?: string }>(), {
          timeout: Math.max(1, Math.min(perPage, until - performance.now())),
        })
        .catch((cause: unknown) => {
          throw new ToolwrightError(
            "SOURCE_UNAVAILABLE",
            `The MCP server '${this.#options.name}' does not list its tools: ${messageOf(cause)}`,
            { cause },
          )
        })
      const listed: unknown = answer.tools
      for (const tool of Array.isArray(listed) ? (listed as unknown[]) : []) {
        if (!this.#usable(tool, leftOut)) continue
        characters += sizeOf(tool, MOST_CHARACTERS)
        if (tools.length === MOST_TOOLS || characters > MOST_LISTED) return this.#cutOff(tools)
        tools.push(tool)
      }
      if (answer.nextCursor === undefined || answer.nextCursor === cursor) return tools
      cursor = answer.nextCursor
      characters += sizeOf(cursor, MOST_LISTED)
    }
    return this.#cutOff(tools)
  }

  #cutOff(tools: McpTool[]): McpTool[] {
    this.#log(`'${this.#options.name}' lists more than can be taken; its first ${tools.length} tools are used`)
    return tools
  }

  #usable(tool: unknown, leftOut: (name: string, why: string) => void): tool is McpTool {
    if (typeof tool !== "object" || tool === null) return false
    const wrong = this.#faultOf(tool as McpTool)
    if (wrong !== undefined) leftOut(String((tool as McpTool).name).slice(0, 200), wrong)
    return wrong === undefined
  }

  /** Says of the first tools of a listing that are left out why, and of the others only that there are more. */
  #leftOut(): (name: string, why: string) => void {
    let count = 0
    return (name, why) => {
      if (++count <= MOST_TOLD) this.#log(`Left out '${name}' of '${this.#options.name}': ${why}`)
      else if (count === MOST_TOLD + 1) this.#log(`Left out more tools of '${this.#options.name}'`)
    }
  }

  #faultOf(tool: McpTool): string | undefined {
    const type = tool.inputSchema?.type
    if (sizeOf(tool, MOST_CHARACTERS) > MOST_CHARACTERS)
      return `what the server tells of it has more than ${MOST_CHARACTERS} characters, or is nested too deeply`
    const odd = oddPart(tool)
    if (odd !== undefined) return `its ${odd} is not what the protocol says`
    const fault = tool.inputSchema === undefined ? undefined : schemaFault(tool.inputSchema)
    if (fault !== undefined) return `its inputSchema is malformed: ${describeFault(fault)}`
    if (type === undefined || type === "object") return undefined
    return `its inputSchema is of type ${JSON.stringify(type)}, not object`
  }

  #prepare(client: Client): void {
    client.setNotificationHandler("notifications/tools/list_changed", () => this.#changes.ask())
    client.setRequestHandler("elicitation/create", (request) => this.#elicit(request.params as ElicitationRequest))
  }

  async #readChanges(): Promise<void> {
    const before = this.toToolDefinitions()
    try {
      await this.refresh()
    } catch (thrown) {
      return this.#log(messageOf(thrown))
    }
    const after = this.toToolDefinitions()
    if (before.length === after.length && after.every((tool, index) => tool === before[index])) return
    for (const listener of this.#listeners) listener()
  }

  /** One question at a time, and a few a minute, reach the person; the others are declined. */
  async #elicit({ message, ...request }: ElicitationRequest): Promise<ElicitationAnswer> {
    const now = performance.now()
    this.#asked = this.#asked.filter((time) => time > now - 60_000)
    const { elicit } = this.#options
    if (elicit === undefined || this.#asking || this.#asked.length >= MOST_QUESTIONS) return { action: "decline" }
    this.#asked.push(now)
    this.#asking = true
    try {
      return await elicit({ ...request, message: plainText(String(message)) })
    } finally {
      this.#asking = false
    }
  }
}

/** A call as the protocol's library makes it. */
function requested(client: Client, params: CallToSend, owner: CallOwner): Promise<McpResult> {
  return client.request({ method: "tools/call", params: { ...params } }, anything<McpResult>(), {
    ...owner,
    // The pipeline bounds the time; the SDK's own limit must not come before it.
    timeout: 2 ** 31 - 1,
  } as never)
}

/** The part of a listed tool that has not the kind of value that it must have. */
function oddPart({ name, description, inputSchema, outputSchema, annotations }: McpTool): string | undefined {
  const isMapping = (value: unknown): boolean =>
    value === undefined || (typeof value === "object" && value !== null && !Array.isArray(value))
  // One without any name is a fault of the server's author, and told at the start.
  if ((name ?? "") !== "" && typeof name !== "string") return "name"
  if (description !== undefined && typeof description !== "string") return "description"
  const mappings = { inputSchema, outputSchema, annotations }
  return Object.entries(mappings).find(([, value]) => !isMapping(value))?.[0]
}

/** Characters that a server may tell of one tool, and of all together. */
const MOST_CHARACTERS = 256 * 1024
const MOST_LISTED = 32 * 1024 * 1024
/** Questions of a server to the person behind the client, in a minute. */
const MOST_QUESTIONS = 10

/** Codes of the SDK's errors, and kinds of errors, that come from the connection and not from the server's answer. */
const CONNECTION_CODES = new Set<unknown>(["NOT_CONNECTED", "CONNECTION_CLOSED", "SEND_FAILED", UNANSWERED])

function isConnectionError(thrown: unknown): boolean {
  const { name, code, status } = (thrown ?? {}) as { name?: string; code?: unknown; status?: number }
  // 404 to a call is the answer to a session that the server does not know any more.
  return (
    thrown instanceof ConnectionLost ||
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
    message: plainText(messageOf(thrown)),
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

/** For a server that does nothing twice under one key; others pass it over. */
function keyed(key: string | undefined): { _meta?: JsonObject } {
  return key === undefined ? {} : { _meta: { [IDEMPOTENCY_KEY]: key } }
}
