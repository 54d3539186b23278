import { failure, type JsonObject, type ToolFailure, type ToolResult } from "@toolwright/toolbox"
import { FILE_LIMIT_BYTES } from "../paths/file-content.ts"
import { finderIn, MOST_MATCHES, type Finder, type Match, type Rung } from "./match.ts"
import { nearestIn, type NearestFinder } from "./nearest.ts"

/** One replacement that a model asks for. */
export interface Edit {
  old_text: string
  new_text: string
  /** Replace every occurrence; otherwise there must be exactly one. */
  replace_all?: boolean
}

/** What one edit did. */
export interface AppliedEdit {
  /** Line of the first replacement in the original. */
  line: number
  replacements: number
  /** How the text was found; anything but `exact` is told to the model. */
  matched: Rung
}

export interface Change {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

export type EditOutcome =
  | { text: string; changes: readonly Change[]; applied: readonly AppliedEdit[] }
  | { refused: ToolResult }

/**
 * Applies several edits to a text, all or none. Every edit is looked up in the original text, so their order does not
 * matter, and overlapping ones are refused. What lies outside the replaced ranges stays as it is, character for
 * character.
 *
 * @param path for messages
 * @returns the new text and the changes in the order of the text; or a failure (`EDIT_NOT_FOUND`, `EDIT_AMBIGUOUS`,
 *   `EDIT_NO_CHANGE`,
 *   `EDIT_EMPTY`, `EDIT_OVERLAP`) that says for each failed edit what is there instead
 */
export function applyEdits(text: string, edits: readonly Edit[], path: string): EditOutcome {
  const problems: EditProblem[] = []
  const applied: AppliedEdit[] = []
  const changes: (Match & { edit: number })[] = []
  const sight = { find: finderIn(text), nearest: nearestIn(text), lines: createLineCounter(text) }
  const work = text.length * edits.length
  if (work > MOST_WORK) return { refused: tooMuchWork(edits.length, path) }
  for (const [index, edit] of edits.entries()) {
    const found = lookUp(text, edit, sight)
    if ("code" in found) {
      problems.push({ ...found, edit: index })
      continue
    }
    applied.push({
      line: sight.lines(found.matches[0]!.start),
      replacements: found.matches.length,
      matched: found.rung,
    })
    for (const match of found.matches) changes.push({ ...match, edit: index })
  }
  changes.sort((a, b) => a.start - b.start || a.end - b.end)
  for (const [index, change] of changes.entries()) {
    const before = changes[index - 1]
    if (before === undefined || before.end <= change.start) continue
    const message = `it overlaps edit ${before.edit + 1} at line ${sight.lines(change.start)}`
    problems.push({ code: "EDIT_OVERLAP", edit: change.edit, message, hint: "Join both into one edit." })
    break
  }
  if (problems.length > 0) return { refused: refusal(problems, edits.length, path) }
  const length = changes.reduce(
    (sum, { start, end, replacement }) => sum + replacement.length - (end - start),
    text.length,
  )
  if (length > FILE_LIMIT_BYTES) return { refused: tooLong(length, path) }
  return { text: splice(text, changes), changes, applied }
}

interface EditProblem {
  code: string
  edit: number
  message: string
  hint: string
  details?: JsonObject
}

/** Characters that all edits of a call may look through together. */
const MOST_WORK = 2_000_000_000

/** Lines that are named where a text is there several times. */
const MOST_LINES_NAMED = 100

interface Sight {
  find: Finder
  nearest: NearestFinder
  lines: (offset: number) => number
}

function lookUp(
  text: string,
  edit: Edit,
  sight: Sight,
): { rung: Rung; matches: readonly Match[] } | Omit<EditProblem, "edit"> {
  if (edit.old_text === "") {
    const hint = "Give the text to replace. To insert, repeat a line that is there and add the new lines to it."
    return { code: "EDIT_EMPTY", message: "old_text is empty", hint }
  }
  if (edit.old_text === edit.new_text) {
    return { code: "EDIT_NO_CHANGE", message: "old_text and new_text are the same", hint: "Leave this edit out." }
  }
  const found = sight.find(edit.old_text, edit.new_text)
  if (found === undefined) return notFound(text, edit, sight)
  if ("tooMany" in found) {
    return {
      code: "EDIT_AMBIGUOUS",
      message: `old_text is there more than ${MOST_MATCHES.toLocaleString("en")} times`,
      hint: "Add lines around it to old_text; no edit changes so many places at once.",
    }
  }
  const { length } = found.matches
  if (length === 1 || edit.replace_all === true) return found
  const lines = found.matches.slice(0, MOST_LINES_NAMED).map((match) => sight.lines(match.start))
  const listed = lines.slice(0, 10).join(", ") + (length > 10 ? ", …" : "")
  return {
    code: "EDIT_AMBIGUOUS",
    message: `old_text is there ${length} times, at lines ${listed}`,
    hint: "Add lines around it to old_text until it is unique, or set replace_all to true to change all of them.",
    details: { lines },
  }
}

function tooMuchWork(count: number, path: string): ToolResult {
  return failure({
    code: "TOO_MANY_EDITS",
    message: `Nothing was changed in ${path}: ${count} edits of a file of this size are too many for one call`,
    hint: "Make several calls with fewer edits each.",
  })
}

function tooLong(length: number, path: string): ToolResult {
  return failure({
    code: "FILE_TOO_LARGE",
    message:
      `Nothing was changed in ${path}: it would have ${length.toLocaleString("en")} characters, and the limit ` +
      "is 50 MB",
    hint: "Replace fewer places, or put less there.",
  })
}

function notFound(text: string, edit: Edit, sight: Sight): Omit<EditProblem, "edit"> {
  const already = edit.new_text.trim().length > 3 ? text.indexOf(edit.new_text) : -1
  if (already !== -1) {
    const message = `old_text is not there, but new_text already is, at line ${sight.lines(already)}`
    return {
      code: "EDIT_NOT_FOUND",
      message,
      hint: "The change seems to be done already; go on, or read the file to see.",
    }
  }
  const near = sight.nearest(edit.old_text)
  if (near.length === 0) {
    const message = "old_text is not there, and nothing like it"
    return { code: "EDIT_NOT_FOUND", message, hint: "Read the file and copy old_text from it exactly." }
  }
  const shown = near.map((block) => `Lines ${block.startLine}–${block.endLine}:\n${block.numbered}`).join("\n")
  return {
    code: "EDIT_NOT_FOUND",
    message: "old_text is not there",
    hint: `Did you mean one of these? Copy old_text from the file exactly, without the line numbers.\n${shown}`,
    details: { nearest: near.map(({ startLine, endLine, similarity }) => ({ startLine, endLine, similarity })) },
  }
}

function refusal(problems: readonly EditProblem[], count: number, path: string): ToolFailure {
  const [first] = problems
  const told = problems.map(({ edit, message }) => (count === 1 ? message : `edit ${edit + 1} of ${count}: ${message}`))
  const hints = problems.map(({ edit, hint }) => (problems.length === 1 ? hint : `Edit ${edit + 1}: ${hint}`))
  const rest = count - problems.length
  const others =
    rest > 0
      ? ` The other ${rest === 1 ? "edit is" : `${rest} edits are`} fine, but all are applied together or not at all.`
      : ""
  return failure({
    code: first!.code,
    message: `Nothing was changed in ${path}: ${told.join("; ")}.${others}`,
    hint: hints.join("\n"),
    details: { edits: problems.map(({ edit, code, message, details }) => ({ edit, code, message, ...details })) },
  })
}

function splice(text: string, changes: readonly Change[]): string {
  const parts: string[] = []
  let at = 0
  for (const change of changes) {
    parts.push(text.slice(at, change.start), change.replacement)
    at = change.end
  }
  parts.push(text.slice(at))
  return parts.join("")
}

/** Counts lines up to places in a text; from one place to a later one only what lies between is looked at. */
function createLineCounter(text: string): (offset: number) => number {
  let at = 0
  let line = 1
  return (offset) => {
    if (offset < at) [at, line] = [0, 1]
    for (let newline = text.indexOf("\n", at); newline !== -1 && newline < offset; newline = text.indexOf("\n", at)) {
      at = newline + 1
      line += 1
    }
    return line
  }
}
