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
  /** Pieces of a line whose end has not come. */
  let line: string[] = []
  let data: string[] = []
  let waiting = 0
  let first = true
  /** The last line ended in CR: an LF that follows belongs to it. */
  let afterReturn = false

  function readLine(text: string, events: string[]): void {
    if (text === "") {
      if (data.length > 0) events.push(data.join("\n"))
      data = []
      waiting = 0
      return
    }
    const colon = text.indexOf(":")
    const field = colon === -1 ? text : text.slice(0, colon)
    if (field !== "data") return
    const value = colon === -1 ? "" : text.slice(colon + 1)
    data.push(value.startsWith(" ") ? value.slice(1) : value)
    waiting += 1
  }

  function endLine(last: string, events: string[]): void {
    const whole = line.length === 0 ? last : [...line, last].join("")
    line = []
    readLine(whole, events)
  }

  return {
    get waiting() {
      return waiting
    },
    push(text) {
      if (text === "") return []
      const events: string[] = []
      let start = first && text.startsWith("\uFEFF") ? 1 : 0
      first = false
      if (afterReturn && text.charCodeAt(start) === FEED) start++
      afterReturn = false
      let feed = text.indexOf("\n", start)
      let back = text.indexOf("\r", start)
      while (feed !== -1 || back !== -1) {
        const at = feed === -1 || (back !== -1 && back < feed) ? back : feed
        waiting += at - start
        endLine(text.slice(start, at), events)
        start = at + 1
        if (text.charCodeAt(at) === RETURN) {
          if (start === text.length) afterReturn = true
          else if (text.charCodeAt(start) === FEED) start++
          back = text.indexOf("\r", start)
        }
        if (feed !== -1 && feed < start) feed = text.indexOf("\n", start)
      }
      if (start < text.length) {
        waiting += text.length - start
        line.push(text.slice(start))
      }
      return events
    },
    end() {
      const events: string[] = []
      endLine("", events)
      readLine("", events)
      return events
    },
  }
}
