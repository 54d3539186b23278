import type { Readable, Writable } from "node:stream"
import { executeCall } from "@toolwright/toolbox"
import { DirectCalls } from "./direct-calls.ts"
import { mcpConnections, type McpExportOptions } from "./server.ts"

/** What is exported over standard input and output. */
export interface McpStdioOptions extends McpExportOptions {
  /** Calls back when the tools have changed, which the host is then told; returns a function that ends it. */
  onToolsChange?(listener: () => void): () => void
  /** Where the host speaks, and where it is answered; this process's standard input and output unless given. */
  streams?: { input: Readable; output: Writable }
}

/** How long calls may take to end that were broken off with the connection, in milliseconds. */
const PATIENCE_MS = 5000

/**
 * Serves a registry over standard input and output, until the input ends or `signal` is aborted. Calls that are under
 * way then are broken off, and waited for: what they changed, and how they ended, goes on record with them.
 */
export async function mcpOverStdio(
  { onToolsChange, streams, ...options }: McpStdioOptions,
  signal: AbortSignal,
): Promise<void> {
  const { input, output } = streams ?? { input: process.stdin, output: process.stdout }
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio")
  const execute = options.executeCall ?? executeCall
  const running = new Set<Promise<unknown>>()
  const connect = mcpConnections({
    ...options,
    executeCall: (...call) => {
      const result = execute(...call)
      running.add(result)
      const over = (): void => void running.delete(result)
      result.then(over, over)
      return result
    },
  })
  const direct = new DirectCalls(input, output)
  const ends: (() => void)[] = []
  const transport = new StdioServerTransport(direct.rest, output)
  const serve = ({ era }: { era: string }) => {
    const { server, answer } = connect()
    const log = (level: "info", data: unknown, logger: string) => server.sendLoggingMessage({ level, data, logger })
    // In the newer era each request says by itself which version it is of, and what it may be answered with.
    if (era === "legacy") server.oninitialized = () => direct.greet({ answer, log })
    // A host that has gone cannot be told.
    const end = onToolsChange?.(() => void Promise.resolve(server.sendToolListChanged()).catch(() => {}))
    if (end !== undefined) ends.push(end)
    return server
  }
  const handle = serveStdio(serve, { transport })
  const onClose = transport.onclose
  transport.onclose = () => {
    onClose?.()
    direct.close()
  }
  await new Promise<void>((resolve) => {
    input.once("end", resolve)
    input.once("close", resolve)
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve(), { once: true })
  })
  for (const end of ends) end()
  await handle.close()
  direct.close()
  await ended(running)
}

async function ended(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)))
  await Promise.race([Promise.allSettled(running), patience])
  clearTimeout(timer)
}
