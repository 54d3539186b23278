import type { Readable, Writable } from "node:stream"
import { CallGate, executeCall } from "@toolwright/toolbox"
import { DirectCalls } from "./direct-calls.ts"
import { mcpConnections, type McpExportOptions } from "./server.ts"
import { Unread } from "./unread.ts"

/** What is exported over standard input and output. */
export interface McpStdioOptions extends McpExportOptions {
  /** Calls back when the tools have changed, which the host is then told; returns a function that ends it. */
  onToolsChange?(listener: () => void): () => void
  /** Where the host speaks, and where it is answered; this process's standard input and output unless given. */
  streams?: { input: Readable; output: Writable }
}

/** How long calls may take to end that were broken off with the connection, in milliseconds. */
const PATIENCE_MS = 5000
/** Calls that may wait for others to end; of a host that asks for more, no more is read. */
const MOST_QUEUED = 256

/**
 * Serves a registry over standard input and output, until the input ends or `signal` is aborted. Calls that are under
 * way then are broken off, and waited for: what they changed, and how they ended, goes on record with them. A host that
 * does not read its answers, or asks for more than is done at once, is not refused: it is not read from either.
 */
export async function mcpOverStdio(
  { onToolsChange, streams, ...options }: McpStdioOptions,
  signal: AbortSignal,
): Promise<void> {
  const { input, output } = streams ?? { input: process.stdin, output: process.stdout }
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio")
  const execute = options.executeCall ?? executeCall
  const running = new Set<Promise<unknown>>()
  const gate = options.gate ?? new CallGate()
  const unread = new Unread(output)
  const direct = new DirectCalls(input, output, { unread, isCrowded: () => gate.queued >= MOST_QUEUED })
  const { connect } = mcpConnections(
    {
      ...options,
      gate,
      executeCall: (...call) => {
        const result = execute(...call)
        running.add(result)
        const over = (): void => {
          running.delete(result)
          direct.goOn()
        }
        result.then(over, over)
        return result
      },
    },
    unread,
  )
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
  await new Promise<void>((resolve) => {
    transport.onclose = () => {
      onClose?.()
      direct.close()
      resolve()
    }
    // Who does not read may not be read from either, and is known to have gone by that nothing can be written.
    output.once("close", resolve)
    input.once("end", resolve)
    input.once("close", resolve)
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve(), { once: true })
  })
  for (const end of ends) end()
  await handle.close()
  direct.close()
  unread.close()
  await ended(running)
}

async function ended(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)))
  await Promise.race([Promise.allSettled(running), patience])
  clearTimeout(timer)
}
