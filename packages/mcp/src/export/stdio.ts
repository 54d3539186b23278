import { mcpServerFactory, type McpExportOptions } from "./server.ts"

/** What is exported over standard input and output. */
export interface McpStdioOptions extends McpExportOptions {
  /** Calls back when the tools have changed, which the host is then told; returns a function that ends it. */
  onToolsChange?(listener: () => void): () => void
}

/** Serves a registry over this process's standard input and output, until the input ends or `signal` is aborted. */
export async function mcpOverStdio({ onToolsChange, ...options }: McpStdioOptions, signal: AbortSignal): Promise<void> {
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio")
  const factory = mcpServerFactory(options)
  const ends: (() => void)[] = []
  const handle = serveStdio(async (context) => {
    const server = await factory(context)
    // A host that has gone cannot be told.
    const end = onToolsChange?.(() => void Promise.resolve(server.sendToolListChanged()).catch(() => {}))
    if (end !== undefined) ends.push(end)
    return server
  })
  await new Promise<void>((resolve) => {
    process.stdin.once("end", resolve)
    process.stdin.once("close", resolve)
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve(), { once: true })
  })
  for (const end of ends) end()
  await handle.close()
}
