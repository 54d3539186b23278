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
  const reading: Reading = { source, lexis, inside: [false], stack: [] }
  for (let index = 0; index < source.length; index++) index = passed(reading, index)
  return reading.inside
}

/** A source while it is read. */
interface Reading {
  readonly source: string
  readonly lexis: Lexis
  /** For every line so far, whether it begins inside a string. */
  readonly inside: boolean[]
  /** What we are in: closing quotes, or "}" and "{" for an expression inside a template literal. */
  readonly stack: string[]
}

const isCode = (within: string | undefined): boolean => within === undefined || within === "}" || within === "{"

/** Reads one character, or what begins with it. @returns the last index that was read */
function passed(reading: Reading, index: number): number {
  const { source, stack } = reading
  if (source[index] === "\n") {
    passLineEnd(reading, index)
    return index
  }
  const within = stack.at(-1)
  return within === undefined || isCode(within) ? passCode(reading, index, within) : passString(reading, index, within)
}

/** A one-line string ends with its line, even where its quote is missing; a backslash before the end continues it. */
function passLineEnd({ source, inside, stack }: Reading, index: number): void {
  const within = stack.at(-1)
  if ((within === '"' || within === "'") && source[index - 1] !== "\\") stack.pop()
  inside.push(!isCode(stack.at(-1)))
}

function passCode(reading: Reading, index: number, within: string | undefined): number {
  const { source, lexis, stack } = reading
  const character = source[index]!
  const comment = commentEnd(reading, index)
  if (comment !== undefined) return comment
  if (lexis === "javascript" && character === "/" && startsRegExp(source, index)) return endOfRegExp(source, index)
  if (character === '"' || character === "'") {
    const triple = lexis === "python" && source.startsWith(character.repeat(3), index)
    stack.push(triple ? character.repeat(3) : character)
    return triple ? index + 2 : index
  }
  if (lexis === "javascript" && character === "`") stack.push("`")
  else if (within !== undefined) passBrace(stack, character)
  return index
}

/** Inside a template literal's expression, braces are counted. */
function passBrace(stack: string[], character: string): void {
  if (character === "{") stack.push("{")
  else if (character === "}") stack.pop()
}

/** The last index of a comment that begins here, its line's end left out. */
function commentEnd({ source, lexis, inside }: Reading, index: number): number | undefined {
  if (source.startsWith(lexis === "python" ? "#" : "//", index)) return endOfLine(source, index) - 1
  if (lexis !== "javascript" || !source.startsWith("/*", index)) return undefined
  const end = source.indexOf("*/", index + 2)
  const stop = end === -1 ? source.length : end + 2
  for (let at = index; at < stop; at++) if (source[at] === "\n") inside.push(false)
  return stop - 1
}

function passString({ source, stack }: Reading, index: number, within: string): number {
  if (source[index] === "\\") return source[index + 1] === "\n" ? index : index + 1
  if (source.startsWith(within, index)) {
    stack.pop()
    return index + within.length - 1
  }
  if (within !== "`" || !source.startsWith("${", index)) return index
  stack.push("}")
  return index + 1
}

/**
 * Removes the indentation that all lines have in common, blank lines at both ends, and line ends other than `\n`. Lines
 * inside strings stay as they are. A first line without indentation before a block that has some (as when a text was
 * cut out after its margin) is taken to belong to it.
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
