import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

/**
 * What a tool call answered: the text of its content, whether it is an error, and how many bytes the answer took on the
 * wire.
 */
export interface OfficialAnswer {
  text: string
  isError: boolean
  structured: unknown
  bytes: number
}

export interface OfficialServer extends Disposable {
  /** Rejects when there is no answer within the time, in milliseconds. */
  call(name: string, args: object, timeoutMs?: number): Promise<OfficialAnswer>
}

interface Reply {
  id?: number
  result?: { content?: { text?: string }[]; isError?: boolean; structuredContent?: unknown }
  error?: { message: string }
}

/** Starts MCP's filesystem server on a directory and speaks its protocol: JSON-RPC 2.0, one message per line. */
export async function startOfficialServer(file: string, root: string): Promise<OfficialServer> {
  const server = spawn(process.execPath, [file, root], { stdio: ["pipe", "pipe", "ignore"] })
  const waiting = new Map<number, (answer: OfficialAnswer) => void>()
  createInterface({ input: server.stdout }).on("line", (line) => {
    const { id, result, error } = JSON.parse(line) as Reply
    if (id === undefined) return
    const text = error?.message ?? result?.content?.map((part) => part.text ?? "").join("\n") ?? ""
    const isError = error !== undefined || result?.isError === true
    waiting.get(id)?.({ text, isError, structured: result?.structuredContent, bytes: Buffer.byteLength(line) })
  })
  const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  let last = 0
  const request = (method: string, params: object, timeoutMs: number) =>
    new Promise<OfficialAnswer>((resolve, reject) => {
      const id = (last += 1)
      const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      waiting.set(id, (answer) => {
        clearTimeout(timer)
        resolve(answer)
      })
      send({ id, method, params })
    })
  await request(
    "initialize",
    { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "comparison", version: "1" } },
    30_000,
  )
  send({ method: "notifications/initialized" })
  return {
    call: (name, args, timeoutMs = 60_000) => request("tools/call", { name, arguments: args }, timeoutMs),
    [Symbol.dispose]: () => void server.kill("SIGKILL"),
  }
}
