import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A request as a loopback server saw it. */
export interface SeenRequest {
  method: string
  url: URL
  headers: IncomingMessage["headers"]
  body: string
}

export interface LoopbackServer extends AsyncDisposable {
  readonly origin: string
  readonly port: number
  /** Every request so far, in order. */
  readonly requests: SeenRequest[]
}

/** Answers one request; `response` is ended by it, or left hanging on purpose. */
export type Answer = (request: SeenRequest, response: ServerResponse) => unknown

/** Starts an HTTP server on a free loopback port that answers as a service does, and remembers what it was asked. */
export async function startLoopback(answer: Answer): Promise<LoopbackServer> {
  const requests: SeenRequest[] = []
  const listener: RequestListener = async (incoming, response) => {
    let body = ""
    for await (const chunk of incoming.setEncoding("utf8")) body += String(chunk)
    const seen = {
      method: incoming.method ?? "",
      url: new URL(incoming.url ?? "/", "http://loopback"),
      headers: incoming.headers,
      body,
    }
    requests.push(seen)
    await answer(seen, response)
  }
  const server = createServer(
    (request, response) => void Promise.resolve(listener(request, response)).catch(() => response.destroy()),
  )
  return listening(server, requests)
}

/** Makes a server listen on loopback; disposing it drops every connection. */
export async function listening(server: Server, requests: SeenRequest[] = []): Promise<LoopbackServer> {
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers })
  response.end(JSON.stringify(value))
}
