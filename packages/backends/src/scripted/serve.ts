import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { messageOf, ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import type { ChatMessage, OpenAITool } from "@toolwright/toolformat"
import type { Backend, InferRequest } from "../model/backend.ts"
import { completionChunks, wholeCompletion } from "./serve-wire.ts"

/** Settings of a served backend. */
export interface ServeBackendOptions {
  /** 0, any free port, unless given. */
  port?: number
  /** Refuses requests with another key. */
  apiKey?: string
  /** Sends the bytes of a stream in pieces of this size, wherever the cuts fall. */
  cutBytes?: number
}

/** A server on the loopback interface; `close` ends it and every open connection. */
export interface ServedBackend extends AsyncDisposable {
  /** What a client sets as its address, e.g. `http://127.0.0.1:40213/v1`. */
  baseUrl: string
  close(): Promise<void>
}

/**
 * Serves a backend, mostly a scripted one, as an OpenAI-compatible server (`/v1/chat/completions`, streaming or not,
 * and `/v1/models`), so that any client can be tried against a screenplay. It listens on 127.0.0.1 alone.
 */
export async function serveBackend(backend: Backend, options: ServeBackendOptions = {}): Promise<ServedBackend> {
  // Loaded where it is used: it brings all of the web client along, a tenth of what `run` takes to start.
  const { createServer } = process.getBuiltinModule("node:http")
  const server = createServer((request, response) => {
    answer(backend, request, response, options).catch((thrown: unknown) => {
      if (response.headersSent) response.destroy()
      else sendError(response, statusOf(thrown), thrown)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, "127.0.0.1", resolve)
  })
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function answer(
  backend: Backend,
  request: IncomingMessage,
  response: ServerResponse,
  options: ServeBackendOptions,
): Promise<void> {
  if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) {
    return sendError(response, 401, "Incorrect API key provided")
  }
  const path = request.url?.replace(/\?.*/, "")
  if (request.method === "GET" && path === "/v1/models") {
    return sendJson(response, 200, {
      object: "list",
      data: [{ id: backend.modelName(), object: "model", owned_by: "screenplay" }],
    })
  }
  if (request.method !== "POST" || path !== "/v1/chat/completions")
    return sendError(response, 404, `No such page: ${path}`)
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const body = JSON.parse(Buffer.concat(pieces).toString()) as JsonObject
  const controller = new AbortController()
  response.on("close", () => controller.abort())
  const events = backend.infer(readRequest(body), { signal: controller.signal })
  const head = { id: "chatcmpl-1", model: backend.modelName(), created: 0 }
  if (body.stream !== true) return sendJson(response, 200, await wholeCompletion(events, head))

  for await (const chunk of completionChunks(events, head)) {
    if (!response.headersSent)
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
    await write(response, Buffer.from(`data: ${chunk}\n\n`), options.cutBytes)
  }
  response.end()
}

/** Pieces have to leave one by one, or the socket joins them again. */
async function write(response: ServerResponse, bytes: Buffer, size = bytes.length): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size))
    if (size < bytes.length) await new Promise((resolve) => setImmediate(resolve))
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

function sendError(response: ServerResponse, status: number, thrown: unknown): void {
  sendJson(response, status, { error: { message: messageOf(thrown), type: "error", code: status } })
}

/** The HTTP status that a client has to see so that it comes to the same error. */
function statusOf(thrown: unknown): number {
  if (!ToolwrightError.isInstance(thrown)) return thrown instanceof SyntaxError ? 400 : 500
  const statuses: Record<string, number> = {
    MODEL_UNAUTHORIZED: 401,
    MODEL_NOT_FOUND: 404,
    MODEL_SERVER_ERROR: 503,
    MODEL_TIMEOUT: 408,
  }
  return statuses[thrown.code] ?? 400
}

interface WireMessage {
  role: string
  content?: string | null | { text?: string }[]
  reasoning_content?: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
  name?: string
}

function readRequest(body: JsonObject): InferRequest {
  const {
    messages,
    tools,
    tool_choice: toolChoice,
    grammar,
    response_format: format,
  } = body as {
    messages?: WireMessage[]
    tools?: OpenAITool[]
    tool_choice?: "auto" | "none" | "required"
    grammar?: string
    response_format?: { json_schema?: { schema?: JsonObject } }
  }
  const schema = format?.json_schema?.schema
  return {
    messages: (messages ?? []).map(readMessage),
    ...(tools === undefined ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(grammar === undefined ? {} : { grammar }),
    ...(schema === undefined ? {} : { jsonSchema: schema }),
  }
}

function readMessage(message: WireMessage): ChatMessage {
  const { content: given, tool_calls: calls = [] } = message
  const content = Array.isArray(given) ? given.map((part) => part.text ?? "").join("") : (given ?? "")
  if (message.role === "tool") {
    // The wire does not say whether a result was a success.
    return {
      role: "tool",
      content,
      callId: message.tool_call_id ?? "",
      name: message.name ?? "",
      success: true,
    }
  }
  if (message.role !== "assistant") return { role: message.role === "user" ? "user" : "system", content }
  const toolCalls = calls.map((call) => ({
    id: call.id,
    name: call.function.name,
    arguments: JSON.parse(call.function.arguments) as JsonObject,
  }))
  return { role: "assistant", content, ...(toolCalls.length === 0 ? {} : { toolCalls }) }
}
