/** What {@link Source.peek} says when the pushed text is used up and more may come. */
export const STARVED = -1
/** What {@link Source.wait} says when the text is over. */
export const END = -2

/** Kept text is joined to blocks of this many code units, so that neither their number nor their length costs much. */
const BLOCK = 2_048

/** A scanner that suspends when it needs more text. Where the text is cut has no meaning to it. */
export type Scan<Result> = Generator<undefined, Result, undefined>

/**
 * The text of one reply as it arrives. Scanners read it by UTF-16 code unit and may go back as far as the oldest mark
 * that is still set; without a mark, what was read is forgotten. Offsets count from the beginning of the reply.
 */
export class Source {
  /** The text at hand. A fast scanner may walk it directly, from `at` on. */
  text = ""
  at = 0
  /** Whether no more text will come. */
  ended = false
  private base = 0
  private marks = 0
  private keptFrom = 0
  private kept: string[] = []
  /** Reads on in the place of the scanner that waits. */
  private pass: (() => boolean) | undefined

  get offset(): number {
    return this.base + this.at
  }

  /**
   * Adds text. Only while the scanner waits.
   *
   * @returns whether the scanner must go on: not where whoever reads on in its place got by without it
   */
  push(text: string): boolean {
    const { at } = this
    if (this.marks > 0) this.keep(this.text.slice(Math.max(0, this.keptFrom - this.base), at))
    this.base += at
    this.text = at < this.text.length ? this.text.slice(at) + text : text
    this.at = 0
    return this.pass === undefined || !this.pass()
  }

  private keep(text: string): void {
    const last = this.kept.length - 1
    const piece = this.kept[last]
    if (piece !== undefined && piece.length < BLOCK) this.kept[last] = piece + text
    else this.kept.push(text)
  }

  end(): void {
    this.ended = true
  }

  /** The code unit at the current place, or {@link STARVED}. */
  peek(): number {
    return this.at < this.text.length ? this.text.charCodeAt(this.at) : STARVED
  }

  /** The code unit at the current place, suspending until there is one, or {@link END}. */
  *wait(): Scan<number> {
    while (this.at >= this.text.length) {
      if (this.ended) return END
      yield
    }
    return this.text.charCodeAt(this.at)
  }

  /**
   * Waits for more text, which `pass` reads without the scanner as long as it can: to wake a scanner costs the more the
   * deeper it is, and most pieces of a reply are nothing but text.
   *
   * @param pass reads on; answers whether all is read, or what is left means nothing yet without the text after it
   */
  *more(pass: () => boolean): Scan<undefined> {
    this.pass = pass
    yield
    this.pass = undefined
  }

  /** Sets a mark: from here on text can be read again, until the mark is released. */
  mark(): number {
    if (this.marks++ === 0) this.keptFrom = this.offset
    return this.offset
  }

  release(): void {
    if (--this.marks === 0) this.kept = []
  }

  /** Goes back to an offset at or after the oldest mark. */
  rewind(offset: number): void {
    let text = this.text
    let base = this.base
    if (offset < base) {
      const pieces: string[] = []
      while (offset < base) {
        const piece = this.kept.pop() ?? ""
        pieces.push(piece)
        base -= piece.length
      }
      text = pieces.reverse().join("") + text
    }
    this.text = text
    this.base = base
    this.at = offset - base
  }

  /** The text from an offset at or after the oldest mark up to the current place. */
  since(offset: number): string {
    if (offset >= this.base) return this.text.slice(offset - this.base, this.at)
    const pieces = [this.text.slice(0, this.at)]
    let base = this.base
    for (let index = this.kept.length - 1; offset < base; index--) {
      const piece = this.kept[index] ?? ""
      base -= piece.length
      pieces.push(base < offset ? piece.slice(offset - base) : piece)
    }
    return pieces.reverse().join("")
  }
}
