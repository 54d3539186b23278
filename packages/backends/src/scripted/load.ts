import { readFile, stat } from "node:fs/promises"
import { messageOf, nearest, ToolwrightError, validate } from "@toolwright/toolbox"
import type { Document, LineCounter } from "yaml"
import { findMistakes, type Mistake } from "./mistakes.ts"
import { SCREENPLAY_SCHEMA } from "./schema.ts"
import type { Screenplay } from "./screenplay.ts"

/** Far more than anybody writes. */
const LARGEST_BYTES = 64 * 1024 * 1024

/**
 * Reads a screenplay file. What stands in its place may come from elsewhere: a pipe that nobody writes to, a device
 * without end.
 *
 * @throws ToolwrightError `SCREENPLAY_INVALID` when it is not there, or not a screenplay, with file and line
 */
export async function loadScreenplay(file: string): Promise<Screenplay> {
  let text: string
  try {
    const found = await stat(file)
    if (!found.isFile()) throw new Error("it is no regular file")
    if (found.size > LARGEST_BYTES) throw new Error(`it has more than ${LARGEST_BYTES} bytes`)
    text = await readFile(file, "utf8")
  } catch (cause) {
    throw new ToolwrightError("SCREENPLAY_INVALID", `The screenplay ${file} cannot be read: ${messageOf(cause)}`, {
      cause,
    })
  }
  return parseScreenplay(text, file)
}

/**
 * Parses and checks a screenplay's YAML (or JSON).
 *
 * @param source what errors call it, e.g. the file's path
 * @throws ToolwrightError `SCREENPLAY_INVALID` with every mistake found and its line
 */
export async function parseScreenplay(text: string, source = "screenplay"): Promise<Screenplay> {
  const { LineCounter, parseDocument } = await import("yaml")
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  if (document.errors.length > 0) {
    throw invalid(
      source,
      document.errors.map((error) => ({ at: lineOf(lines, error.pos[0]), message: plainMessage(error.message) })),
    )
  }
  let value: unknown
  try {
    value = document.toJS()
  } catch (cause) {
    throw invalid(source, [{ at: lineOf(lines, 0), message: messageOf(cause) }])
  }
  const mistakes = await mistakesOf(value)
  if (mistakes.length > 0) {
    throw invalid(
      source,
      mistakes.map(({ path, message }) => ({ at: lineOf(lines, offsetOf(document, path)), message })),
    )
  }
  return value as Screenplay
}

async function mistakesOf(value: unknown): Promise<Mistake[]> {
  const found = await validate(SCREENPLAY_SCHEMA, value)
  if (found.length === 0) return findMistakes(value as Screenplay)
  return found.map((error) => {
    const path = error.instancePath
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    const where = path.length === 0 ? "the screenplay" : path.join(".")
    const { additionalProperty, missingProperty, allowedValues, type } = error.params as Record<string, string>
    if (error.keyword === "additionalProperties") {
      const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {})
      const [near] = nearest(additionalProperty!, known)
      const help = near === undefined ? `one of: ${known.join(", ")}` : `did you mean '${near}'?`
      return {
        path: [...path, additionalProperty!],
        message: `unknown key '${additionalProperty}' in ${where}; ${help}`,
      }
    }
    if (error.keyword === "required") return { path, message: `${where} needs '${missingProperty}'` }
    if (error.keyword === "type") return { path, message: `${where} must be ${[type].flat().join(" or ")}` }
    if (error.keyword === "enum")
      return { path, message: `${where} must be one of: ${[allowedValues].flat().join(", ")}` }
    return { path, message: `${where} ${error.message}` }
  })
}

function invalid(source: string, mistakes: readonly { at: string; message: string }[]): ToolwrightError {
  const shown = mistakes.slice(0, 10).map(({ at, message }) => `${source}:${at}: ${message}`)
  if (mistakes.length > shown.length) shown.push(`… and ${mistakes.length - shown.length} more`)
  return new ToolwrightError("SCREENPLAY_INVALID", shown.join("\n"))
}

function lineOf(lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset)
  return `${line}:${col}`
}

/** Where the node at a path begins, or the nearest node above it. */
function offsetOf(document: Document, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined
    if (node?.range !== undefined) return node.range[0]
  }
  return 0
}

/** The library's message on one line, without its own position. */
function plainMessage(message: string): string {
  return message.replaceAll(/\s+/g, " ").trim()
}
