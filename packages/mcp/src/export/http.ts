import { createMcpHandler } from "@modelcontextprotocol/server"
import { mcpServerFactory, type McpExportOptions } from "./server.ts"

/** The export as a web-standard handler. */
export interface McpHttpExport {
  fetch(request: Request): Promise<Response>
  /** Tells hosts that subscribed that the tools have changed. */
  toolsChanged(): void
  close(): Promise<void>
}

/**
 * Serves a registry over streamable HTTP, to hosts of both protocol eras. Host, origin and token are the surrounding
 * server's matter.
 */
export function mcpOverHttp(options: McpExportOptions): McpHttpExport {
  const handler = createMcpHandler(mcpServerFactory(options), { responseMode: "auto" })
  return {
    fetch: (request) => handler.fetch(request),
    toolsChanged: () => void handler.notify.toolsChanged(),
    close: () => handler.close(),
  }
}
