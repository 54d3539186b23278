import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

/** What a test server got. */
export interface SeenRequest {
  path: string
  headers: IncomingMessage["headers"]
  body: Record<string, unknown>
}

/** A loopback server whose answers the test writes byte by byte; it ends with the test. */
export async function startServer(
  answer: (response: ServerResponse, request: SeenRequest, count: number) => void | Promise<void>,
): Promise<{ baseUrl: string; requests: SeenRequest[] }> {
  const requests: SeenRequest[] = []
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = []
    incoming.on("data", (piece: Buffer) => pieces.push(piece))
    incoming.on("end", () => {
      const text = Buffer.concat(pieces).toString()
      const request = {
        path: incoming.url ?? "",
        headers: incoming.headers,
        body: text === "" ? {} : (JSON.parse(text) as SeenRequest["body"]),
      }
      requests.push(request)
      void answer(response, request, requests.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests }
}

/** Sends an event stream in pieces, each of which leaves by itself. */
export async function stream(
  response: ServerResponse,
  pieces: Iterable<Uint8Array | string>,
  end = true,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const piece of pieces) {
    response.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (end) response.end()
}

/** One event of a chat stream. */
export function event(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
}
