import { createMcpHandler } from "@modelcontextprotocol/server"
import { DirectHttp } from "./direct-http.ts"
import { mcpConnections, type McpExportOptions } from "./server.ts"

/** A request that the surrounding server has let in. */
export interface LetIn {
  body?: unknown
  /** Who asks, as an opaque name; empty where nobody is told apart. */
  caller?: string
  /** Counts bytes of answers until they are sent. */
  held?: { count(bytes: number): void }
}

/** The export as a web-standard handler. */
export interface McpHttpExport {
  /** @param letIn what the surrounding server has found out: the body, if it was read, and who asks */
  fetch(request: Request, letIn?: LetIn): Promise<Response>
  /** Tells hosts that subscribed that the tools have changed. */
  toolsChanged(): void
  close(): Promise<void>
}

/**
 * Serves a registry over streamable HTTP, to hosts of both protocol eras. Host, origin and token are the surrounding
 * server's matter.
 */
export function mcpOverHttp(options: McpExportOptions): McpHttpExport {
  const { connect, answerOf } = mcpConnections(options)
  const handler = createMcpHandler((context) => connect(context).server, { responseMode: "auto" })
  const direct = new DirectHttp()
  return {
    fetch: (request, { body, caller = "", held } = {}) =>
      direct.answer(request, body, () => answerOf({ name: caller, held })) ??
      handler.fetch(request, {
        ...(body === undefined ? {} : { parsedBody: body }),
        authInfo: { token: "", clientId: caller, scopes: [], extra: { held } },
      }),
    toolsChanged: () => void handler.notify.toolsChanged(),
    async close() {
      await Promise.all([direct.close(), handler.close()])
    },
  }
}
