import { closeSync, openSync, writeSync } from "node:fs"
import { StringDecoder } from "node:string_decoder"

/** How much of a stream is kept in memory (bytes of its head and of its tail), and how much of it on disk. */
export interface CaptureLimits {
  readonly headBytes: number
  readonly tailBytes: number
  /** Longest log file, in bytes; what comes after it is counted only. */
  readonly logBytes: number
}

export const DEFAULT_LIMITS: CaptureLimits = { headBytes: 16_384, tailBytes: 49_152, logBytes: 20 * 1024 * 1024 }

const WRITTEN_AT_ONCE = 64 * 1024

/** What became of one stream. `text` is all of it, or head, a note of how much is missing, and tail. */
export interface Captured {
  readonly text: string
  readonly bytes: number
  readonly truncated: boolean
  /** The file with the whole stream, when it was longer than what is kept. */
  readonly logFile?: string
}

/** Keeps the head and the tail of a stream in bounded memory; a longer stream goes to a log file as a whole. */
export class Capture {
  bytes = 0
  readonly #limits: CaptureLimits
  readonly #logFile: (() => string) | undefined
  readonly #head: Buffer[] = []
  #headBytes = 0
  /** The last bytes, in a ring that grows up to its limit; `#tailEnd` is where the next byte goes. */
  #tail = Buffer.alloc(0)
  #tailBytes = 0
  #tailEnd = 0
  #dropped = false
  #logged = 0
  #unwritten: Buffer[] = []
  #unwrittenBytes = 0
  #log: { file: string; descriptor: number } | undefined

  /** @param logFile names the file of the log; it is called once the stream outgrows memory, never without a need */
  constructor(limits: CaptureLimits = DEFAULT_LIMITS, logFile?: () => string) {
    this.#limits = limits
    this.#logFile = logFile
  }

  add(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.#log !== undefined) this.#write(chunk)
    let rest = chunk
    const room = this.#limits.headBytes - this.#headBytes
    if (room > 0) {
      const part = Buffer.from(rest.subarray(0, room))
      this.#head.push(part)
      this.#headBytes += part.length
      rest = rest.subarray(part.length)
    }
    if (rest.length === 0) return
    const overflow = this.#tailBytes + rest.length > this.#limits.tailBytes
    if (overflow && this.#log === undefined && this.#logFile !== undefined) this.#open(rest)
    if (overflow) this.#dropped = true
    this.#keep(rest.subarray(Math.max(0, rest.length - this.#limits.tailBytes)))
  }

  finish(): Captured {
    const file = this.#log?.file
    if (this.#log !== undefined) {
      this.#flush()
      closeSync(this.#log.descriptor)
    }
    this.#log = undefined
    const tail = this.#tailInOrder()
    const head = Buffer.concat(this.#head)
    if (!this.#dropped)
      return { text: Buffer.concat([head, tail]).toString("utf8"), bytes: this.bytes, truncated: false }
    const missing = this.bytes - head.length - tail.length
    const text = `${wholeHead(head)}\n[... ${missing} bytes left out here ...]\n${wholeTail(tail)}`
    return { text, bytes: this.bytes, truncated: true, ...(file === undefined ? {} : { logFile: file }) }
  }

  /**
   * Puts bytes behind the last ones; what they displace is the oldest. Each byte is copied once, however small the
   * chunks.
   */
  #keep(bytes: Buffer): void {
    const limit = this.#limits.tailBytes
    const needed = Math.min(limit, this.#tailBytes + bytes.length)
    if (needed > this.#tail.length) {
      const larger = Buffer.alloc(Math.min(limit, Math.max(needed, this.#tail.length * 2, 1024)))
      const before = this.#tailInOrder()
      before.copy(larger)
      this.#tail = larger
      this.#tailEnd = before.length % larger.length
    }
    const { length } = this.#tail
    if (length === 0) return
    const first = Math.min(bytes.length, length - this.#tailEnd)
    bytes.copy(this.#tail, this.#tailEnd, 0, first)
    bytes.copy(this.#tail, 0, first)
    this.#tailEnd = (this.#tailEnd + bytes.length) % length
    this.#tailBytes = Math.min(length, this.#tailBytes + bytes.length)
  }

  #tailInOrder(): Buffer {
    const { length } = this.#tail
    const start = this.#tailEnd - this.#tailBytes
    if (start >= 0) return this.#tail.subarray(start, this.#tailEnd)
    return Buffer.concat([this.#tail.subarray(start + length), this.#tail.subarray(0, this.#tailEnd)])
  }

  #open(rest: Buffer): void {
    const file = this.#logFile!()
    this.#log = { file, descriptor: openSync(file, "wx", 0o600) }
    for (const part of [...this.#head, this.#tailInOrder(), rest]) this.#write(part)
  }

  /** Collects small chunks, so that a program that writes byte by byte costs no call of the system for each. */
  #write(chunk: Buffer): void {
    const part = chunk.subarray(0, Math.max(0, this.#limits.logBytes - this.#logged))
    if (part.length === 0) return
    this.#unwritten.push(Buffer.from(part))
    this.#unwrittenBytes += part.length
    this.#logged += part.length
    if (this.#unwrittenBytes >= WRITTEN_AT_ONCE) this.#flush()
  }

  #flush(): void {
    if (this.#unwrittenBytes === 0) return
    const bytes = Buffer.concat(this.#unwritten)
    this.#unwritten = []
    this.#unwrittenBytes = 0
    for (let at = 0; at < bytes.length;) at += writeSync(this.#log!.descriptor, bytes, at)
  }
}

/** The text of bytes that may be cut inside a character at their end. */
function wholeHead(bytes: Buffer): string {
  return new StringDecoder("utf8").write(bytes)
}

/** The text of bytes that may begin inside a character. */
function wholeTail(bytes: Buffer): string {
  let start = 0
  while (start < Math.min(4, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start++
  return bytes.subarray(start).toString("utf8")
}
