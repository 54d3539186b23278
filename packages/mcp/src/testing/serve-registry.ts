import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import type { McpExportOptions } from "../export/server.ts"
import { mcpOverHttp } from "../export/http.ts"

/** A registry served over MCP on the loopback interface. */
export interface ServedRegistry extends AsyncDisposable {
  readonly url: string
  toolsChanged(): void
}

export async function serveRegistry(options: McpExportOptions, port = 0): Promise<ServedRegistry> {
  const handler = mcpOverHttp(options)
  const server = createServer(async (incoming, outgoing) => {
    const controller = new AbortController()
    outgoing.on("close", () => controller.abort())
    const body = incoming.method === "POST" ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" } : {}
    const request = new Request(`http://localhost${incoming.url}`, {
      method: incoming.method!,
      headers: incoming.headers as Record<string, string>,
      signal: controller.signal,
      ...body,
    } as RequestInit)
    const response = await handler.fetch(request, { caller: incoming.headers.authorization ?? "" })
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    if (response.body === null) outgoing.end()
    else
      Readable.fromWeb(response.body as never)
        .on("error", () => outgoing.destroy())
        .pipe(outgoing)
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    toolsChanged: () => handler.toolsChanged(),
    async [Symbol.asyncDispose]() {
      await handler.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
