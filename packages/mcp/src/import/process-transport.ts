import { spawn, type ChildProcessByStdio } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import type { Transport } from "@modelcontextprotocol/client"
import { Lines } from "../lines.ts"

/** How a server process is started. */
export interface ProcessOptions {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd?: string
  /** Longest message, in bytes; a longer one ends the connection. */
  maxBytes: number
}

/** How long a server may take to end after its input has, and again after it was asked to, in milliseconds. */
const PATIENCE_MS = 1000
/** How long the rest of a dead server's output is waited for: a process that it started may hold the pipe open. */
const REST_MS = 100

const groups = new Set<number>()
let watching = false

/**
 * Talks to a server over its standard input and output, one message a line. The server leads a process group of its
 * own, and whatever the group still holds goes with it, when the connection is closed, when the server dies, and when
 * this process exits: servers are often started through `npx`, `sh` or a script, and ending only those would leave the
 * server behind.
 */
export class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport["onmessage"]>
  /** The last of what the server wrote to its error output. */
  said = ""
  readonly #options: ProcessOptions
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #ended: Promise<void> = Promise.resolve()
  readonly #lines: Lines
  #isClosed = false

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#lines = new Lines(options.maxBytes, {
      line: (line) => this.#deliver(line.toString("utf8").trim()),
      tooLong: () => this.#refuse(),
    })
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#options
    const child = spawn(command, args, {
      env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      ...(cwd === undefined ? {} : { cwd }),
    })
    this.#child = child
    await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject))
    watch(child.pid!)
    child.on("error", (error) => this.onerror?.(error))
    child.stdin.on("error", (error) => this.onerror?.(error))
    child.stderr.on("data", (text) => (this.said = (this.said + String(text)).slice(-2000)))
    child.stdout.on("data", (piece: Buffer) => this.#take(piece))
    this.#ended = new Promise((resolve) => {
      child.once("exit", () => {
        const rest = setTimeout(finish, REST_MS)
        child.stdout.once("close", finish)
        function finish(): void {
          clearTimeout(rest)
          resolve()
        }
      })
    })
    void this.#ended.then(() => this.#over())
  }

  async send(message: Parameters<Transport["send"]>[0]): Promise<void> {
    const child = this.#child
    if (child === undefined || this.#isClosed || !child.stdin.writable) throw new Error("The server process has ended.")
    if (child.stdin.writableLength > this.#options.maxBytes) {
      this.#over()
      throw new Error("The server process does not read what it is sent.")
    }
    const sent = child.stdin.write(`${JSON.stringify(message)}\n`)
    if (!sent) await Promise.race([this.#ended, new Promise<void>((resolve) => child.stdin.once("drain", resolve))])
  }

  /** Ends the server's input, then asks its group to end, then ends it. */
  async close(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined || this.#isClosed) return
    child.stdin.end()
    if (!(await within(this.#ended, PATIENCE_MS))) {
      signal(child.pid, "SIGTERM")
      await within(this.#ended, PATIENCE_MS)
    }
    this.#over()
  }

  #over(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const child = this.#child!
    signal(child.pid!, "SIGKILL")
    groups.delete(child.pid!)
    child.stdout.destroy()
    child.stderr.destroy()
    this.onclose?.()
  }

  #take(piece: Buffer): void {
    this.#lines.take(piece)
    // Its end may never come.
    if (this.#lines.isTooLong) this.#refuse()
  }

  #refuse(): void {
    this.onerror?.(new Error(`The server sent a message of more than ${this.#options.maxBytes} bytes.`))
    this.#over()
  }

  /** What is no JSON-RPC is noise, such as a greeting, and passed over. */
  #deliver(line: string): void {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      return
    }
    if ((message as { jsonrpc?: unknown } | null)?.jsonrpc === "2.0") this.onmessage?.(message as never)
  }
}

/** Ends what is left when this process exits; nothing asynchronous runs then. */
function watch(group: number): void {
  groups.add(group)
  if (watching) return
  watching = true
  process.on("exit", () => {
    for (const each of groups) signal(each, "SIGKILL")
  })
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name)
  } catch {
    // Nobody is left.
  }
}

async function within(ended: Promise<void>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), milliseconds)))
  const result = await Promise.race([ended.then(() => true as const), late])
  clearTimeout(timer)
  return result
}
