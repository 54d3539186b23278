import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { readTrace, ToolwrightError, withTrace } from "@toolwright/toolbox"
import { writeTo, type Sink } from "./http/sink.ts"

/** Where to listen, and how to stop. */
export interface ListenOptions {
  /** 8001 unless given; 0 takes any free port. */
  port?: number
  /** The loopback interface unless given. */
  host?: string
  /** Whether a token is asked for: without one, no other interface than the loopback is bound. */
  secured: boolean
  /** How long a stop waits for requests that are under way, in milliseconds; 10 seconds unless given. */
  drainMs?: number
  /** How long an answer may wait for its reader to take more of it, in milliseconds; 30 seconds unless given. */
  stallMs?: number
  /** Connections at once; 2048 unless given. */
  maxConnections?: number
}

/** A server that listens. */
export interface RunningServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Takes no more requests, lets those under way end, and closes. */
  close(): Promise<void>
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "::1"])

/**
 * Serves an application over HTTP.
 *
 * @throws ToolwrightError `TOKEN_REQUIRED` for an address that others can reach without a token; `PORT_IN_USE`,
 *   `LISTEN_FAILED`
 */
export async function listen(
  app: { fetch(request: Request, env?: object): Response | Promise<Response> },
  options: ListenOptions,
): Promise<RunningServer> {
  const {
    port = 8001,
    host = "127.0.0.1",
    secured,
    drainMs = 10_000,
    stallMs = 30_000,
    maxConnections = 2048,
  } = options
  if (!LOOPBACK.has(host) && !secured) {
    throw new ToolwrightError("TOKEN_REQUIRED", `Listening on ${host} lets others in, and no token is set.`, {
      hint: "Set one with --token or TOOLWRIGHT_TOKEN, or listen on 127.0.0.1.",
    })
  }
  const { createAdaptorServer } = await import("@hono/node-server")
  const { RESPONSE_ALREADY_SENT } = await import("@hono/node-server/utils/response")
  const fetch = async (request: Request, env: object): Promise<Response> => {
    const { outgoing } = env as { outgoing?: ServerResponse }
    const sink: Sink = {}
    const response = await app.fetch(request, { ...env, sink })
    // From here on somebody has to read: a reader who takes nothing for this long is gone.
    outgoing?.socket?.setTimeout(stallMs)
    if (sink.source === undefined || outgoing === undefined) return response
    await writeTo(outgoing, response, sink.source)
    return RESPONSE_ALREADY_SENT
  }
  const server = createAdaptorServer({ fetch }) as Server
  continueTraces(server)
  server.maxConnections = maxConnections
  limitPipelining(server)
  server.requestTimeout = 60_000
  server.headersTimeout = 15_000
  server.keepAliveTimeout = 10_000
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(listenError(cause, host, port)))
    // As many may wait to be let in as there may be: a client that finds the queue full comes again only after seconds.
    server.listen({ port, host, backlog: maxConnections }, resolve)
  })
  const bound = (server.address() as AddressInfo).port
  let closing: Promise<void> | undefined
  const close = (): Promise<void> =>
    (closing ??= new Promise((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), drainMs)
      // A connection whose request has just ended would otherwise be kept for the next one.
      const sweep = setInterval(() => server.closeIdleConnections(), 25)
      server.close(() => {
        clearTimeout(timer)
        clearInterval(sweep)
        resolve()
      })
    }))
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    port: bound,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Whatever is done for a request, also while its answer is written, is part of the trace that it says it belongs to.
 */
function continueTraces(server: Server): void {
  const listeners = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[]
  server.removeAllListeners("request")
  for (const listener of listeners)
    server.on("request", (request: IncomingMessage, response: ServerResponse) =>
      withTrace(
        readTrace((name) => request.headers[name]),
        () => listener(request, response),
      ),
    )
}

/** Requests that may wait on one connection: more than browsers and libraries ever send before they read an answer. */
const MOST_PIPELINED = 16

/**
 * Ends connections that send request after request and read no answer: their answers would pile up, and that before
 * any token is looked at.
 */
function limitPipelining(server: Server): void {
  const open = new WeakMap<Socket, number>()
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    const waiting = (open.get(socket) ?? 0) + 1
    open.set(socket, waiting)
    if (waiting > MOST_PIPELINED) socket.destroy()
    response.once("close", () => open.set(socket, open.get(socket)! - 1))
  })
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): ToolwrightError {
  if (cause.code === "EADDRINUSE") {
    return new ToolwrightError("PORT_IN_USE", `Port ${port} on ${host} is taken.`, {
      cause,
      hint: "Choose another with --port, or 0 for any free one.",
    })
  }
  return new ToolwrightError("LISTEN_FAILED", `Cannot listen on ${host}:${port}: ${cause.message}`, { cause })
}
