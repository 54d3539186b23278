/** The lexical families that generated files are written in; `text` has no strings. */
export type Lexis = "python" | "javascript" | "text"

/**
 * Finds the lines that begin inside a string which spans several lines. Their indentation is content: shifting it would
 * change a value.
 *
 * @returns for every line, whether it begins inside a string
 */
export function linesInStrings(source: string, lexis: Lexis): boolean[] {
  if (lexis === "text") return source.split("\n").map(() => false)
  const inside: boolean[] = [false]
  // What we are in: closing quotes, or "}" for an expression inside a template literal.
  const stack: string[] = []
  for (let index = 0; index < source.length; index++) {
    const within = stack.at(-1)
    const character = source[index]!
    if (character === "\n") {
      // A one-line string ends with its line, even where its quote is missing; a backslash before the end continues it.
      if ((within === '"' || within === "'") && source[index - 1] !== "\\") stack.pop()
      const now = stack.at(-1)
      inside.push(now !== undefined && now !== "}" && now !== "{")
      continue
    }
    if (within === undefined || within === "}" || within === "{") {
      if (lexis === "python" && character === "#") index = endOfLine(source, index) - 1
      else if (lexis === "javascript" && source.startsWith("//", index)) index = endOfLine(source, index) - 1
      else if (lexis === "javascript" && source.startsWith("/*", index)) {
        const end = source.indexOf("*/", index + 2)
        const stop = end === -1 ? source.length : end + 2
        for (let at = index; at < stop; at++) if (source[at] === "\n") inside.push(false)
        index = stop - 1
      } else if (lexis === "javascript" && character === "/" && startsRegExp(source, index))
        index = endOfRegExp(source, index)
      else if (character === '"' || character === "'") {
        const triple = lexis === "python" && source.startsWith(character.repeat(3), index)
        stack.push(triple ? character.repeat(3) : character)
        if (triple) index += 2
      } else if (lexis === "javascript" && character === "`") stack.push("`")
      else if (within !== undefined && character === "{") stack.push("{")
      else if (within !== undefined && character === "}") stack.pop()
    } else if (character === "\\") {
      if (source[index + 1] !== "\n") index++
    } else if (source.startsWith(within, index)) {
      index += within.length - 1
      stack.pop()
    } else if (within === "`" && source.startsWith("${", index)) {
      stack.push("}")
      index++
    }
  }
  return inside
}

/**
 * Removes the indentation that all lines have in common, blank lines at both ends, and line ends other than `\n`. Lines
 * inside strings stay
 * as they are. A first line without indentation before a block that has some (as when a text was cut out after its
 * margin) is taken to belong to it.
 */
export function dedent(source: string, lexis: Lexis): string {
  const text = source
    .replace(/\r\n?/gu, "\n")
    .replace(/^(?:[ \t]*\n)+/u, "")
    .replace(/\s+$/u, "")
  const inside = linesInStrings(text, lexis)
  const lines = text.split("\n")
  const counted = lines.map((line, index) =>
    inside[index]! || line.trim() === "" ? undefined : /^[ \t]*/u.exec(line)![0],
  )
  const opens = lexis === "python" ? /[:([{,\\]\s*(?:#.*)?$/u : /[{([,=>\\:]\s*(?:\/\/.*)?$/u
  const cutOut = counted[0] === "" && (lexis === "text" || !opens.test(lines[0] ?? ""))
  const margins = counted.filter((margin, index) => margin !== undefined && !(cutOut && index === 0)) as string[]
  const common = margins.length === 0 ? "" : margins.reduce(commonPrefix)
  return lines
    .map((line, index) =>
      counted[index] === undefined
        ? inside[index]!
          ? line
          : ""
        : line.startsWith(common)
          ? line.slice(common.length)
          : line,
    )
    .join("\n")
}

/** Puts a margin in front of every line that is neither blank nor inside a string. */
export function indent(source: string, margin: string, lexis: Lexis): string {
  const inside = linesInStrings(source, lexis)
  return source
    .split("\n")
    .map((line, index) => (inside[index]! || line === "" ? line : margin + line))
    .join("\n")
}

function commonPrefix(left: string, right: string): string {
  let length = 0
  while (length < left.length && left[length] === right[length]) length++
  return left.slice(0, length)
}

function endOfLine(source: string, index: number): number {
  const end = source.indexOf("\n", index)
  return end === -1 ? source.length : end
}

/** Whether a slash begins a regular expression: it does unless a value stands before it. */
function startsRegExp(source: string, index: number): boolean {
  const before = source.slice(Math.max(0, index - 40), index).trimEnd()
  if (before === "") return true
  if (/\b(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/u.test(before)) return true
  return !/[\w$)\]}'"`]$/u.test(before)
}

function endOfRegExp(source: string, index: number): number {
  let inClass = false
  for (let at = index + 1; at < source.length && source[at] !== "\n"; at++) {
    if (source[at] === "\\") at++
    else if (source[at] === "[") inClass = true
    else if (source[at] === "]") inClass = false
    else if (source[at] === "/" && !inClass) return at
  }
  return index
}
