/** Lines of a text, each with its line ending; the last may have none. An empty text has no lines. */
export function splitLines(text: string): string[] {
  if (text === "") return []
  const lines: string[] = []
  let start = 0
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
    lines.push(text.slice(start, end + 1))
    start = end + 1
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

/** How many lines {@link splitLines} gives. */
export function countLines(text: string): number {
  if (text === "") return 0
  let count = 0
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) count += 1
  return text.endsWith("\n") ? count : count + 1
}

/** A line without its ending. */
export function withoutEnding(line: string): string {
  return line.endsWith("\r\n") ? line.slice(0, -2) : line.endsWith("\n") ? line.slice(0, -1) : line
}

/** The line ending that a text uses most; `\n` where it has none. */
export function dominantEnding(text: string): "\n" | "\r\n" {
  let crlf = 0
  let lf = 0
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) {
    if (text[end - 1] === "\r") crlf += 1
    else lf += 1
  }
  return crlf > lf ? "\r\n" : "\n"
}
