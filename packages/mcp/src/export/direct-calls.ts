import { PassThrough, type Readable, type Writable } from "node:stream"
import { jsonParts, messageOf } from "@toolwright/toolbox"
import { Lines } from "../lines.ts"
import { INTERNAL_ERROR, isPlainCall, type PlainCall, type RequestId } from "./plain-call.ts"
import { isObject } from "./result.ts"
import type { AnswerCall } from "./server.ts"
import type { Unread } from "./unread.ts"

/** A longer request is left to the protocol's library. */
const LONGEST_DIRECT = 256 * 1024
/** A longer message is passed over: the library, which reads no longer ones, would end the connection. */
const LONGEST_MESSAGE = 10 * 1024 * 1024
/** Of what a host sends while it is not served so much is read, so that it can break off what is under way. */
const MOST_HELD = 1024 * 1024
/**
 * A host that is not served is still read now and then, until it has sent so much: that it has closed its end is only
 * seen behind what it sent before.
 */
const MOST_HELD_IN_ALL = 16 * 1024 * 1024
const NOW_AND_THEN_MS = 1000
/** The library is given so many messages before it has had time to answer, which says how much it answers. */
const MOST_AT_ONCE = 64
/** After so many turns of the event loop the library has heard a greeting, or takes it for none. */
const TURNS_OF_GREETING = 20

/** A line that waits, and whose request it is. */
interface HeldLine {
  readonly line: Buffer
  readonly id?: unknown
}

/** When a host is to be left waiting. */
interface Pacing {
  readonly unread: Unread
  /** Whether so many calls wait for others to end that no more should be begun. */
  isCrowded(): boolean
}

/** What answers calls of a host, once it has been greeted. */
export interface Greeted {
  answer: AnswerCall
  log: (level: "info", data: unknown, logger: string) => Promise<void>
}

/**
 * Stands between a host and the protocol's library, and answers plain calls of tools by itself, as the library would:
 * it checks every message against the whole protocol, which takes longer than the call does. Everything else passes
 * through, byte for byte and in its order, as do calls before the host was greeted. Calls that come in the same breath
 * as the end of the greeting wait until the library has heard it.
 *
 * A host that does not read what it is answered is not served until it does: what it sends waits, and beyond some of it
 * is hardly read, so that the host waits too. What it breaks off meanwhile is broken off, also what had to wait.
 */
export class DirectCalls {
  /** What the library reads. */
  readonly rest = new PassThrough()
  readonly #input: Readable
  readonly #output: Writable
  readonly #running = new Map<RequestId, AbortController>()
  #greeted: Greeted | undefined
  /** Turns of the event loop that a greeting which is under way may still take. */
  #greetingTurns = 0
  readonly #lines = new Lines(LONGEST_MESSAGE, {
    line: (line) => this.#whole(line),
    tooLong: (begin, end) => this.#passOver(begin, end),
  })
  readonly #pacing: Pacing
  /** What waits, in its order. */
  #held: HeldLine[] = []
  #heldBytes = 0
  /** Messages that the library has been given since the event loop last turned. */
  #given = 0
  #isOver = false
  #looking: ReturnType<typeof setInterval> | undefined

  constructor(input: Readable, output: Writable, pacing: Pacing) {
    this.#input = input
    this.#output = output
    this.#pacing = pacing
    pacing.unread.onRoom(() => this.goOn())
    input.on("data", this.#take)
    for (const end of ["error", "end", "close"]) input.once(end, () => this.#over())
  }

  /** From now on plain calls are answered here. */
  greet(greeted: Greeted): void {
    this.#greeted = greeted
    this.#greetingTurns = 0
    this.goOn()
  }

  /** Reads no more: the connection is closed. */
  close(): void {
    this.#input.off("data", this.#take)
    if (this.#input.listenerCount("data") === 0) this.#input.pause()
    this.#over()
  }

  /** Something has ended or was read: what had to wait may go on. */
  goOn(): void {
    if (this.#held.length > 0 || this.#input.isPaused()) setImmediate(() => this.#release())
  }

  readonly #take = (piece: Buffer): void => {
    this.#lines.take(piece)
    if (this.#waitingBytes > MOST_HELD) this.#pause()
  }

  get #waitingBytes(): number {
    return this.#heldBytes + (this.#mustWait() ? this.#lines.size : 0)
  }

  #pause(): void {
    this.#input.pause()
    this.#looking ??= setInterval(() => {
      if (this.#input.isPaused() && this.#waitingBytes <= MOST_HELD_IN_ALL) this.#input.resume()
    }, NOW_AND_THEN_MS)
  }

  #resume(): void {
    clearInterval(this.#looking)
    this.#looking = undefined
    if (this.#input.isPaused()) this.#input.resume()
  }

  /** A message that is too long is refused, and costs the host no more than that message. */
  #passOver(begin: string, end: string): void {
    const message = `The message is longer than ${LONGEST_MESSAGE / 1024 / 1024} MB, and was not read.`
    this.#send({ error: { code: INVALID_REQUEST, message }, jsonrpc: "2.0", id: idAtEnds(begin, end) })
  }

  #whole(line: Buffer): void {
    const message = messageIn(line)
    if (message?.method === "notifications/cancelled") return this.#cancelled(line, message.params)
    if (!this.#mustWait(message)) return this.#deliver(line, message)
    this.#held.push({ line, id: message?.id })
    this.#heldBytes += line.length
  }

  /** Whether nothing more is to be begun, or no more calls where others are under way. */
  #mustWait(message?: Record<string, unknown>): boolean {
    if (this.#pacing.unread.isFull || this.#given >= MOST_AT_ONCE) return true
    const isCall = message === undefined || message.method === "tools/call"
    return isCall && (this.#held.length > 0 || this.#greetingTurns > 0 || this.#pacing.isCrowded())
  }

  #deliver(line: Buffer, message: Record<string, unknown> | undefined): void {
    const greeted = this.#greeted
    const own = greeted !== undefined && message !== undefined && isPlainCall(message)
    if (own && !this.#running.has(message.id)) void this.#carryOut(message, greeted)
    else this.#give(line)
    if (greeted === undefined && message?.method === "notifications/initialized") this.#awaitGreeting()
  }

  #awaitGreeting(): void {
    if (this.#greetingTurns > 0) return
    this.#greetingTurns = TURNS_OF_GREETING
    const turn = (): void => {
      if (this.#greetingTurns > 0 && --this.#greetingTurns > 0) setImmediate(turn)
      else this.#release()
    }
    setImmediate(turn)
  }

  #give(line: Buffer): void {
    this.rest.write(line)
    if (this.#given++ > 0) return
    setImmediate(() => {
      this.#given = 0
      this.#release()
    })
  }

  /** Goes on with what had to wait, until it has to wait again; once nothing has to, the host is read again. */
  #release(): void {
    if (this.#isOver) return
    let at = 0
    const held = this.#held
    this.#held = []
    for (; at < held.length; at++) {
      const { line } = held[at]!
      const message = messageIn(line)
      if (this.#mustWait(message)) break
      this.#heldBytes -= line.length
      this.#deliver(line, message)
    }
    this.#held = held.slice(at)
    if (this.#held.length > 0 || this.#mustWait()) return
    this.#resume()
  }

  #cancelled(line: Buffer, params: unknown): void {
    const id = isObject(params) ? (params.requestId as RequestId) : undefined
    const running = id === undefined ? undefined : this.#running.get(id)
    if (running !== undefined) return running.abort((params as { reason?: unknown }).reason)
    const at = id === undefined ? -1 : this.#held.findIndex((held) => held.id === id)
    if (at === -1) return this.#give(line)
    this.#heldBytes -= this.#held[at]!.line.length
    this.#held.splice(at, 1)
  }

  async #carryOut({ id, params }: PlainCall, { answer, log }: Greeted): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    this.#running.set(id, controller)
    let told: { result: unknown } | { error: { code: number; message: string } }
    try {
      const notify = async (notification: object): Promise<void> => {
        if (!signal.aborted) this.#send({ ...notification, jsonrpc: "2.0" })
      }
      const result = await answer(params, { signal, notify, log })
      told = { result }
    } catch (thrown) {
      told = { error: { code: INTERNAL_ERROR, message: messageOf(thrown) } }
    }
    this.#running.delete(id)
    // Whoever broke a call off is told nothing more of it.
    if (!signal.aborted) this.#answer(told, id)
    this.goOn()
  }

  #answer(told: object, id: RequestId): void {
    try {
      this.#send({ ...told, jsonrpc: "2.0", id })
    } catch {
      this.#send({ error: { code: INTERNAL_ERROR, message: "Internal error" }, jsonrpc: "2.0", id })
    }
  }

  #send(message: object): void {
    // An answer often holds a long text twice.
    const { json } = jsonParts(message)!
    if (this.#output.writable) this.#output.write(`${json}\n`)
  }

  /** Calls of a host that has gone are broken off. */
  #over(): void {
    this.#isOver = true
    clearInterval(this.#looking)
    this.#greeted = undefined
    this.#held = []
    for (const controller of this.#running.values()) controller.abort()
    this.rest.end()
  }
}

const INVALID_REQUEST = -32600

const ID = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/.source
const ID_AT_BEGIN = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?${ID}\\s*,`)
const ID_AT_END = new RegExp(`,\\s*${ID}\\s*\\}\\s*$`)

/** Which request a message is, by its ends: its own key stands before all else, or behind it. */
function idAtEnds(begin: string, end: string): RequestId | null {
  const found = ID_AT_BEGIN.exec(begin)?.[1] ?? ID_AT_END.exec(end)?.[1]
  try {
    return found === undefined ? null : (JSON.parse(found) as RequestId)
  } catch {
    return null
  }
}

/** What a line says; nothing where it is too long to be looked into, or no message. */
function messageIn(line: Buffer): Record<string, unknown> | undefined {
  if (line.length > LONGEST_DIRECT) return undefined
  try {
    const message: unknown = JSON.parse(line.toString("utf8"))
    return isObject(message) ? message : undefined
  } catch {
    return undefined
  }
}
