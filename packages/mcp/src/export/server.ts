import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type AuthInfo,
  type McpServerFactory,
} from "@modelcontextprotocol/server"
import { promptDefinition, renderPrompt, type PromptRegistry } from "@toolwright/prompts"
import {
  CallGate,
  executeCall,
  failure,
  sizeOf,
  type Middleware,
  type PermissionPolicy,
  type ToolEvent,
  type Toolset,
} from "@toolwright/toolbox"
import { listed } from "./listing.ts"
import { toMcpResult, within } from "./result.ts"
import { IDEMPOTENCY_KEY } from "../idempotency-key.ts"
import type { Unread } from "./unread.ts"

/** What is exported. */
export interface McpExportOptions {
  tools: Toolset
  prompts?: PromptRegistry
  middleware?: readonly Middleware[]
  permissions?: PermissionPolicy
  /** Carries out a call; `executeCall` unless given, which leaves no record. */
  executeCall?: typeof executeCall
  /** Time limit in milliseconds of tools that set none. */
  toolTimeoutMs?: number
  /** What callers may have done at once; where it is shared with another surface, the same one. */
  gate?: CallGate
  /** Largest result in characters; 16 Mi unless given. */
  maxResultChars?: number
  /** Shown to the model by hosts that do so. */
  instructions?: string
}

/** What a call of a tool names. */
export interface CallParams {
  name: string
  arguments?: Record<string, unknown> | undefined
  _meta?: Record<string, unknown> | undefined
}

/** What an answer to a call may need of the connection that the call came by. */
export interface CallConnection {
  readonly signal: AbortSignal
  notify(notification: { method: string; params: Record<string, unknown> }): Promise<void>
  log(level: "info", data: unknown, logger: string): Promise<void>
}

/** Carries out a call of one connection: the result as the protocol has it. */
export type AnswerCall = (params: CallParams, connection: CallConnection) => Promise<Record<string, unknown>>

/**
 * Makes MCP servers over a registry, one for each connection or request. Two handlers answer for all tools, whatever
 * their number, so a request costs the same with five tools and with five hundred.
 */
export function mcpServerFactory(options: McpExportOptions): McpServerFactory {
  const { connect } = mcpConnections(options)
  return (context) => connect(context).server
}

/** What answers over a registry: servers of the protocol's library, and calls without one. */
export interface McpConnections {
  /** One server, for a connection or a request, and what answers its calls. */
  connect(context?: { authInfo?: AuthInfo }): { server: Server; answer: AnswerCall }
  /** What answers the calls of one caller. */
  answerOf(caller: Caller): AnswerCall
}

/** Who calls, as an opaque name, empty where nobody is told apart; and where what is answered is counted. */
export interface Caller {
  readonly name: string
  readonly held?: { count(bytes: number): void } | undefined
}

/** How a server of this package calls itself. */
export const SERVER_INFO = { name: "toolwright", version: "0.1.0" }

/**
 * As {@link mcpServerFactory}, with what answers the calls of each.
 *
 * @param unread what the host of the one connection has not read yet: where it is known, calls wait for their turn and
 *   are not refused, and begin as fast as their answers are read
 */
export function mcpConnections(options: McpExportOptions, unread?: Unread): McpConnections {
  let seen = -1
  let list: Record<string, unknown>[] = []
  const tools = (): Record<string, unknown>[] => {
    if (seen !== options.tools.version) {
      list = options.tools.list().map(listed)
      seen = options.tools.version
    }
    return list
  }
  const gate = options.gate ?? new CallGate()
  const middleware = [...(options.middleware ?? []), gate.middleware, ...(unread === undefined ? [] : [paced(unread)])]
  const maxResultChars = options.maxResultChars ?? 16 * 1024 * 1024
  const answerOf = (caller: Caller) => answering({ ...options, middleware, gate, maxResultChars, unread }, caller)
  let connections = 0
  const connect: McpConnections["connect"] = ({ authInfo } = {}) => {
    // Over HTTP each request has a server of its own, and the token says who asks; otherwise the connection does.
    const name = authInfo === undefined ? `connection ${++connections}` : authInfo.clientId
    const capabilities = {
      tools: { listChanged: true },
      logging: {},
      ...(options.prompts === undefined ? {} : { prompts: {} }),
    }
    const server = new Server(SERVER_INFO, {
      capabilities,
      ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
    })
    server.setRequestHandler("tools/list", () => ({ tools: tools() }) as never)
    const answer = answerOf({ name, held: authInfo?.extra?.held as Caller["held"] })
    server.setRequestHandler("tools/call", (request, context) => answer(request.params, context.mcpReq) as never)
    if (options.prompts !== undefined) exportPrompts(server, options.prompts)
    return { server, answer }
  }
  return { connect, answerOf }
}

type Answering = McpExportOptions &
  Required<Pick<McpExportOptions, "middleware" | "gate" | "maxResultChars">> & { unread: Unread | undefined }

/** Calls of one caller, within the gate's limits; what is answered is counted until it is sent. */
function answering(options: Answering, { name: caller, held }: Caller): AnswerCall {
  const { tools, gate, middleware, permissions, toolTimeoutMs, maxResultChars: most, unread } = options
  const execute = options.executeCall ?? executeCall
  const always = {
    middleware,
    ...(caller === "" ? {} : { caller }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(toolTimeoutMs === undefined ? {} : { timeoutMs: toolTimeoutMs }),
  }
  return async (params, connection) => {
    const { name, arguments: args = {} } = params
    const entered = gate.enter(caller, tools.get(name))
    const admitted =
      "refused" in entered && unread !== undefined
        ? await gate.admit(caller, tools.get(name), connection.signal)
        : entered
    if (admitted === undefined) return toMcpResult(undefined, CANCELLED)
    if ("refused" in admitted) return toMcpResult(undefined, admitted.refused)
    const settings = {
      ...always,
      signal: connection.signal,
      ...keyOf(params, caller),
      onEvent: progressTo(connection, params, unread),
    }
    const result = await execute(tools, { name, arguments: args }, settings).finally(() => admitted.leave())
    const answer = toMcpResult(tools.get(name), within(result, most))
    held?.count(sizeOf(answer, most))
    return answer
  }
}

/** What came of a call that was broken off before it began. */
const CANCELLED = failure({ code: "CANCELLED", message: "The call was cancelled before it began." })

/** Lets calls begin as fast as answers are read. */
function paced(unread: Unread): Middleware {
  return async ({ signal }, next) => {
    const room = unread.room(signal)
    if (room !== undefined) await room
    return next()
  }
}

const LONGEST_KEY = 256

/** The key of a call, where the host gave it one: what one caller names is nothing to another. */
function keyOf(
  { _meta: meta }: { _meta?: Record<string, unknown> | undefined },
  caller: string,
): { idempotencyKey?: string } {
  const key = meta?.[IDEMPOTENCY_KEY]
  if (typeof key !== "string" || key === "" || key.length > LONGEST_KEY) return {}
  return { idempotencyKey: [caller, key].filter(Boolean).join("/") }
}

/** Steps of one call that are told whatever comes; of more than these twenty a second, and the rest is passed over. */
const STEPS_TOLD = 100
const STEP_MS = 50
const LONGEST_STEP = 2000

/**
 * Tells a host of a call's progress: as progress where it asked for it, or else in its log. What is told waits in memory
 * until the host has read it, so that a tool in a loop, and a host that reads nothing, are told of sparingly.
 */
function progressTo(
  connection: CallConnection,
  { name, _meta: meta }: CallParams,
  unread: Unread | undefined,
): (event: ToolEvent) => void {
  const token = meta?.progressToken as string | number | undefined
  let steps = 0
  let told = 0
  let last = 0
  return (event) => {
    if (event.type !== "tool-progress" || unread?.isFull === true) return
    const { progress = ++steps, total } = event
    const now = performance.now()
    if (told >= STEPS_TOLD && now - last < STEP_MS) return
    told++
    last = now
    const message = event.message?.slice(0, LONGEST_STEP)
    if (token === undefined) {
      // A host that wants no progress may still listen to the log.
      if (message !== undefined) void connection.log("info", message, name).catch(() => {})
      return
    }
    const params = {
      progressToken: token,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    }
    // A client that has gone away needs no progress.
    void connection.notify({ method: "notifications/progress", params }).catch(() => {})
  }
}

function exportPrompts(server: Server, prompts: PromptRegistry): void {
  server.setRequestHandler("prompts/list", () => ({
    prompts: prompts
      .list()
      .map(promptDefinition)
      .map(({ name, description, arguments: args }) => ({ name, description, arguments: args })),
  }))
  server.setRequestHandler("prompts/get", (request) => {
    const prompt = prompts.get(request.params.name)
    if (prompt === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Prompt '${request.params.name}' not found`)
    const { success, content, error } = renderPrompt(prompt, request.params.arguments ?? {})
    if (!success) throw new ProtocolError(ProtocolErrorCode.InvalidParams, error ?? "The prompt cannot be rendered.")
    return {
      description: prompt.description,
      messages: [{ role: "user" as const, content: { type: "text" as const, text: content } }],
    }
  })
}
