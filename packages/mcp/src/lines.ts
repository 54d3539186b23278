const NEWLINE = 10
/** So many bytes are kept of either end of a line that is too long. */
const KEPT_OF_ENDS = 512

/** What comes of a line once its end has come. */
export interface LineReader {
  line(line: Buffer): void
  /** In place of a line that was too long, which is not kept. */
  tooLong(begin: string, end: string): void
}

/** Puts lines together from the pieces that they come in. */
export class Lines {
  readonly #reader: LineReader
  readonly #longest: number
  #pieces: Buffer[] = []
  #size = 0
  /** The ends of a line that is too long. */
  #ends: { begin: Buffer; end: Buffer } | undefined

  constructor(longest: number, reader: LineReader) {
    this.#longest = longest
    this.#reader = reader
  }

  /** Bytes that are kept of a line whose end has not come yet. */
  get size(): number {
    return this.#size
  }

  /** Whether the line whose end has not come yet is too long already. */
  get isTooLong(): boolean {
    return this.#ends !== undefined
  }

  take(piece: Buffer): void {
    let start = 0
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, start)) {
      this.#part(piece.subarray(start, end + 1))
      this.#end()
      start = end + 1
    }
    if (start < piece.length) this.#part(piece.subarray(start))
  }

  #part(piece: Buffer): void {
    if (this.#ends !== undefined) {
      this.#ends.end = lastOf([this.#ends.end, piece])
      return
    }
    this.#pieces.push(piece)
    this.#size += piece.length
    if (this.#size <= this.#longest) return
    const begin = Buffer.from(Buffer.concat(this.#pieces).subarray(0, KEPT_OF_ENDS))
    this.#ends = { begin, end: lastOf(this.#pieces) }
    this.#pieces = []
    this.#size = 0
  }

  #end(): void {
    const [pieces, ends] = [this.#pieces, this.#ends]
    this.#pieces = []
    this.#size = 0
    this.#ends = undefined
    if (ends !== undefined) this.#reader.tooLong(ends.begin.toString("utf8"), ends.end.toString("utf8"))
    else this.#reader.line(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
  }
}

function lastOf(pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(pieces.map((piece) => piece.subarray(-KEPT_OF_ENDS))).subarray(-KEPT_OF_ENDS)
}
