/** Reads a server-sent event stream piece by piece. */
export interface SseReader {
  /** The data of the events that this piece completes. */
  push(text: string): string[]
  /** Servers that close right after the last event may leave out its empty line. */
  end(): string[]
  /** Characters that wait for the end of their event. */
  readonly waiting: number
}

const FEED = 10
const RETURN = 13

/**
 * Splits a server-sent event stream into the data of its events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). Text may be cut
 * anywhere; line ends may be LF, CR LF or CR; lines of one event's data are joined by LF; comments and other fields are
 * passed over. Each character is looked at once, however the text is cut.
 */
export function createSseReader(): SseReader {
  return new Reader()
}

class Reader implements SseReader {
  waiting = 0
  /** Pieces of a line whose end has not come. */
  #line: string[] = []
  #data: string[] = []
  #first = true
  /** The last line ended in CR: an LF that follows belongs to it. */
  #afterReturn = false

  push(text: string): string[] {
    if (text === "") return []
    const events: string[] = []
    let start = this.#begin(text)
    let feed = text.indexOf("\n", start)
    let back = text.indexOf("\r", start)
    while (feed !== -1 || back !== -1) {
      const at = feed === -1 || (back !== -1 && back < feed) ? back : feed
      this.waiting += at - start
      this.#endLine(text.slice(start, at), events)
      start = text.charCodeAt(at) === RETURN ? this.#afterReturnAt(text, at + 1) : at + 1
      if (back === at) back = text.indexOf("\r", start)
      if (feed !== -1 && feed < start) feed = text.indexOf("\n", start)
    }
    if (start < text.length) {
      this.waiting += text.length - start
      this.#line.push(text.slice(start))
    }
    return events
  }

  end(): string[] {
    const events: string[] = []
    this.#endLine("", events)
    this.#readLine("", events)
    return events
  }

  /** Where a piece begins, after what is no part of its text. */
  #begin(text: string): number {
    const start = this.#first && text.startsWith("\uFEFF") ? 1 : 0
    this.#first = false
    const rest = this.#afterReturn
    this.#afterReturn = false
    return rest && text.charCodeAt(start) === FEED ? start + 1 : start
  }

  /** Where the next line begins after a CR, which an LF may follow, if not here then in the next piece. */
  #afterReturnAt(text: string, start: number): number {
    this.#afterReturn = start === text.length
    return text.charCodeAt(start) === FEED ? start + 1 : start
  }

  #endLine(last: string, events: string[]): void {
    const whole = this.#line.length === 0 ? last : [...this.#line, last].join("")
    this.#line = []
    this.#readLine(whole, events)
  }

  #readLine(text: string, events: string[]): void {
    if (text === "") {
      if (this.#data.length > 0) events.push(this.#data.join("\n"))
      this.#data = []
      this.waiting = 0
      return
    }
    const colon = text.indexOf(":")
    const field = colon === -1 ? text : text.slice(0, colon)
    if (field !== "data") return
    const value = colon === -1 ? "" : text.slice(colon + 1)
    this.#data.push(value.startsWith(" ") ? value.slice(1) : value)
    this.waiting++
  }
}
