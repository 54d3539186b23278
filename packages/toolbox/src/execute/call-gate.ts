import { failure, type ToolFailure, type ToolResult } from "../model/result.ts"
import type { ToolDefinition } from "../model/tool.ts"
import type { Middleware } from "./execute.ts"
import { Turns } from "./turns.ts"

/** How much a process that serves calls does and keeps at once. */
export interface CallGateOptions {
  /**
   * Calls that run at once, of all callers; 64 unless given. Of tools that only read this machine sixteen times as many
   * are let in beside them, which run a few at a time.
   */
  maxCalls?: number
  /** Of one caller; all of them unless given. */
  maxCallsPerCaller?: number
  /**
   * Calls at once of tools that only read this machine; 8 unless given. They take no time to speak of, but memory:
   * more of them wait for their turn.
   */
  maxLocalReads?: number
  /** Bytes of requests and answers that are kept at once, of all callers; 256 MiB unless given. */
  maxBytes?: number
  /** Of one caller; all of them unless given. */
  maxBytesPerCaller?: number
}

/** Bytes that are accounted for until they are released. */
export interface Held {
  /** Takes more, or says that there is no room for it. */
  grow(bytes: number): boolean
  /** Takes more even where there is no room: what is there already can only be counted. */
  count(bytes: number): void
  release(): void
}

/** A call that may run; to be left when it has. */
export interface Entered {
  leave(): void
}

interface Used {
  calls: number
  /** Calls of tools that only read this machine, which are no part of `calls`. */
  reads: number
  bytes: number
}

/** So many reads for each other call are let in: they take no time to speak of, and wait for their turn. */
const READS_FOR_CALL = 16

/** Whether a tool only reads this machine. */
const isLocalRead = ({ effects }: Pick<ToolDefinition, "effects">): boolean =>
  effects?.readOnly === true && effects.network !== true

/**
 * The one limit of what callers of a server may have it do at once, whichever way they come: calls, and the bytes of
 * requests and answers. Refusals are results with the codes `TOO_MANY_CALLS` (another call has to end first) and
 * `SERVER_BUSY` (answers have to be read first).
 */
export class CallGate {
  /** The answer where requests and answers that wait take all the room there is. */
  static readonly busy: ToolFailure = failure({
    code: "SERVER_BUSY",
    message: "Too much waits to be read or sent.",
    hint: "Read the answers that wait, or call again in a moment.",
    retryable: true,
  })

  readonly #limits: Required<Omit<CallGateOptions, "maxLocalReads">>
  readonly #all: Used = { calls: 0, reads: 0, bytes: 0 }
  readonly #callers = new Map<string, Used>()
  readonly #reading: Turns
  /** Bytes of answers that are not sent yet. */
  #answers = 0
  readonly #waiting = new Set<() => void>()
  /** Calls that are let in when there is room, the oldest first. */
  readonly #queue = new Set<() => void>()

  constructor(options: CallGateOptions = {}) {
    const { maxCalls = 64, maxLocalReads = 8, maxBytes = 256 * 1024 * 1024 } = options
    const { maxCallsPerCaller = maxCalls, maxBytesPerCaller = maxBytes } = options
    this.#limits = { maxCalls, maxCallsPerCaller, maxBytes, maxBytesPerCaller }
    this.#reading = new Turns(maxLocalReads)
  }

  /** Calls that run, or wait for their turn. */
  get calls(): number {
    return this.#all.calls + this.#all.reads
  }

  /** Calls that wait to be let in. */
  get queued(): number {
    return this.#queue.size
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#all.bytes
  }

  /** Why a call of this caller could not start now, if that is so. @param tool what is called, where that is known */
  refusal(caller: string, tool: Pick<ToolDefinition, "effects"> = {}): ToolFailure | undefined {
    const { maxCalls, maxCallsPerCaller, maxBytes, maxBytesPerCaller } = this.#limits
    const own = this.#callers.get(caller) ?? { calls: 0, reads: 0, bytes: 0 }
    const [kind, times] = isLocalRead(tool) ? (["reads", READS_FOR_CALL] as const) : (["calls", 1] as const)
    const [most, mostOfOne] = [maxCalls * times, maxCallsPerCaller * times]
    if (this.#all[kind] >= most) return tooMany(`${most} calls are running; no more run at once.`)
    if (own[kind] >= mostOfOne) return tooMany(`${mostOfOne} of your calls are running; no more run at once.`)
    if (this.#all.bytes >= maxBytes || own.bytes >= maxBytesPerCaller) return CallGate.busy
    return undefined
  }

  /** Lets a call in, or says why not. @param tool what is called, where that is known */
  enter(caller: string, tool: Pick<ToolDefinition, "effects"> = {}): Entered | { refused: ToolFailure } {
    const refused = this.refusal(caller, tool)
    if (refused !== undefined) return { refused }
    const kind = isLocalRead(tool) ? "reads" : "calls"
    this.#change(caller, { [kind]: 1 })
    let inside = true
    return {
      leave: () => {
        if (!inside) return
        inside = false
        this.#change(caller, { [kind]: -1 })
        this.#admitNext()
      },
    }
  }

  /**
   * Lets a call in as soon as there is room, in the order of asking: for a surface that takes no more of its caller
   * meanwhile, and so need not refuse anything. @returns nothing once the signal is aborted
   */
  admit(
    caller: string,
    tool: Pick<ToolDefinition, "effects"> | undefined,
    signal: AbortSignal,
  ): Promise<Entered | undefined> {
    return new Promise((resolve) => {
      const settle = (entered?: Entered): void => {
        this.#queue.delete(look)
        signal.removeEventListener("abort", leave)
        resolve(entered)
      }
      const leave = (): void => settle()
      const look = (): void => {
        const entered = this.enter(caller, tool)
        if (!("refused" in entered)) settle(entered)
      }
      if (signal.aborted) return resolve(undefined)
      signal.addEventListener("abort", leave, { once: true })
      this.#queue.add(look)
      look()
    })
  }

  #admitNext(): void {
    for (const look of this.#queue) look()
  }

  /** Accounts for bytes of a caller: a request that is read, an answer that is not sent yet. */
  hold(caller: string): Held {
    let held = 0
    let answered = 0
    let released = false
    const add = (bytes: number): void => {
      held += bytes
      this.#change(caller, { bytes })
    }
    return {
      grow: (bytes) => {
        const { maxBytes, maxBytesPerCaller } = this.#limits
        const own = this.#callers.get(caller)?.bytes ?? 0
        if (this.#all.bytes + bytes > maxBytes || own + bytes > maxBytesPerCaller) return false
        if (!released) add(bytes)
        return true
      },
      count: (bytes) => {
        if (released) return
        add(bytes)
        answered += bytes
        this.#answers += bytes
      },
      release: () => {
        if (released) return
        released = true
        this.#change(caller, { bytes: -held })
        this.#answers -= answered
        for (const wake of this.#waiting) wake()
        this.#admitNext()
      },
    }
  }

  /**
   * Lets calls of tools that only read this machine run a few at a time, in their order, as fast as answers are read.
   */
  readonly middleware: Middleware = ({ tool, signal }, next) => (isLocalRead(tool) ? this.#read(signal, next) : next())

  async #read(signal: AbortSignal, next: () => Promise<ToolResult>): Promise<ToolResult> {
    // Nearly always there is a turn, and room: then nothing is waited for.
    const turn = this.#reading.take(signal)
    if (turn !== true && !(await turn)) return next()
    try {
      const room = this.#room(signal)
      if (room !== true && !(await room)) return CallGate.busy
      const result = await next()
      this.#expect(result.output.length)
      return result
    } finally {
      this.#reading.give()
    }
  }

  /** Counts an answer until the surface that sends it has counted it, which it does before anything else happens. */
  #expect(bytes: number): void {
    this.#answers += bytes
    soon(() => {
      this.#answers -= bytes
      for (const wake of this.#waiting) wake()
    })
  }

  /** Waits until the answers that are being sent leave room for another one, for some time. */
  #room(signal: AbortSignal): Promise<boolean> | boolean {
    const isRoom = (): boolean => this.#answers < this.#limits.maxBytes / 4
    if (isRoom()) return true
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        signal.removeEventListener("abort", settle)
        resolve(isRoom())
      }
      const look = (): void => {
        if (isRoom()) settle()
      }
      const timer = setTimeout(settle, PATIENCE_MS)
      this.#waiting.add(look)
      signal.addEventListener("abort", settle, { once: true })
    })
  }

  #change(caller: string, { calls = 0, reads = 0, bytes = 0 }: Partial<Used>): void {
    const own = this.#callers.get(caller) ?? { calls: 0, reads: 0, bytes: 0 }
    for (const used of [this.#all, own]) {
      used.calls += calls
      used.reads += reads
      used.bytes += bytes
    }
    if (own.calls === 0 && own.reads === 0 && own.bytes === 0) this.#callers.delete(caller)
    else this.#callers.set(caller, own)
  }
}

/**
 * Does something once what is being done is over. A timer would wake the process once more; a browser has nothing else.
 */
const soon: (then: () => void) => void =
  (globalThis as { setImmediate?: (then: () => void) => void }).setImmediate ?? ((then) => void setTimeout(then, 0))

/** How long a call waits for answers to be read before it is refused, in milliseconds. */
const PATIENCE_MS = 5000

function tooMany(message: string): ToolFailure {
  return failure({ code: "TOO_MANY_CALLS", message, hint: "Call again when one has ended.", retryable: true })
}
