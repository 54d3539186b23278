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
  readonly #tail: Buffer[] = []
  #headBytes = 0
  #tailBytes = 0
  #dropped = false
  #logged = 0
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
    // A copy, for a slice would keep the whole pipe buffer alive.
    const kept = Buffer.from(rest.subarray(Math.max(0, rest.length - this.#limits.tailBytes)))
    this.#tail.push(kept)
    this.#tailBytes += kept.length
    this.#trim()
  }

  finish(): Captured {
    const file = this.#log?.file
    if (this.#log !== undefined) closeSync(this.#log.descriptor)
    this.#log = undefined
    const tail = Buffer.concat(this.#tail)
    const head = Buffer.concat(this.#head)
    if (!this.#dropped)
      return { text: Buffer.concat([head, tail]).toString("utf8"), bytes: this.bytes, truncated: false }
    const missing = this.bytes - head.length - tail.length
    const text = `${wholeHead(head)}\n[... ${missing} bytes left out here ...]\n${wholeTail(tail)}`
    return { text, bytes: this.bytes, truncated: true, ...(file === undefined ? {} : { logFile: file }) }
  }

  #trim(): void {
    while (this.#tailBytes > this.#limits.tailBytes) {
      const first = this.#tail[0]!
      const excess = this.#tailBytes - this.#limits.tailBytes
      if (first.length <= excess) this.#tail.shift()
      else this.#tail[0] = Buffer.from(first.subarray(excess))
      this.#tailBytes -= Math.min(first.length, excess)
    }
  }

  #open(rest: Buffer): void {
    const file = this.#logFile!()
    this.#log = { file, descriptor: openSync(file, "wx", 0o600) }
    for (const part of [...this.#head, ...this.#tail, rest]) this.#write(part)
  }

  #write(chunk: Buffer): void {
    const part = chunk.subarray(0, Math.max(0, this.#limits.logBytes - this.#logged))
    if (part.length === 0) return
    writeSync(this.#log!.descriptor, part)
    this.#logged += part.length
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
