import { mcpServerFactory, type McpExportOptions } from "./server.ts"

/** Serves a registry over this process's standard input and output, until the input ends or `signal` is aborted. */
export async function mcpOverStdio(options: McpExportOptions, signal: AbortSignal): Promise<void> {
  const { serveStdio } = await import("@modelcontextprotocol/server/stdio")
  const handle = serveStdio(mcpServerFactory(options))
  await new Promise<void>((resolve) => {
    process.stdin.once("end", resolve)
    process.stdin.once("close", resolve)
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve(), { once: true })
  })
  await handle.close()
}
