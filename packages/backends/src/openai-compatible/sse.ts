/**
 * Splits a server-sent event stream into the data of its events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). Text may be cut
 * anywhere; line
 * ends may be LF, CR LF or CR; lines of one event's data are joined by LF; comments and other fields are passed over.
 */
export function createSseReader(): { push(text: string): string[]; end(): string[] } {
  let rest = ""
  let data: string[] = []
  let first = true

  function readLine(line: string, events: string[]): void {
    if (line === "") {
      if (data.length > 0) events.push(data.join("\n"))
      data = []
      return
    }
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    if (field !== "data") return
    const value = colon === -1 ? "" : line.slice(colon + 1)
    data.push(value.startsWith(" ") ? value.slice(1) : value)
  }

  return {
    push(text) {
      if (text === "") return []
      rest += first && text.startsWith("\uFEFF") ? text.slice(1) : text
      first = false
      const events: string[] = []
      let start = 0
      for (let at = nextEnd(rest, 0); at !== -1; at = nextEnd(rest, start)) {
        // A CR at the very end may be half of a CR LF.
        if (rest[at] === "\r" && at === rest.length - 1) break
        readLine(rest.slice(start, at), events)
        start = at + (rest[at] === "\r" && rest[at + 1] === "\n" ? 2 : 1)
      }
      rest = rest.slice(start)
      return events
    },
    /** Servers that close right after the last event may leave out its empty line. */
    end() {
      const events: string[] = []
      if (rest !== "") readLine(rest.replace(/\r$/, ""), events)
      readLine("", events)
      rest = ""
      return events
    },
  }
}

function nextEnd(text: string, from: number): number {
  const feed = text.indexOf("\n", from)
  const carriage = text.indexOf("\r", from)
  if (feed === -1 || carriage === -1) return Math.max(feed, carriage)
  return Math.min(feed, carriage)
}
