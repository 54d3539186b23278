import { failure, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { countLines } from "../text/lines.ts"
import { findMatches, type Match, type Rung } from "./match.ts"
import { nearestBlocks } from "./nearest.ts"

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
 * matter, and
 * overlapping ones are refused. What lies outside the replaced ranges stays as it is, character for character.
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
  for (const [index, edit] of edits.entries()) {
    const found = lookUp(text, edit)
    if ("code" in found) {
      problems.push({ ...found, edit: index })
      continue
    }
    applied.push({
      line: lineAt(text, found.matches[0]!.start),
      replacements: found.matches.length,
      matched: found.rung,
    })
    changes.push(...found.matches.map((match) => ({ ...match, edit: index })))
  }
  changes.sort((a, b) => a.start - b.start || a.end - b.end)
  for (const [index, change] of changes.entries()) {
    const before = changes[index - 1]
    if (before === undefined || before.end <= change.start) continue
    const message = `it overlaps edit ${before.edit + 1} at line ${lineAt(text, change.start)}`
    problems.push({ code: "EDIT_OVERLAP", edit: change.edit, message, hint: "Join both into one edit." })
    break
  }
  if (problems.length > 0) return { refused: refusal(problems, edits.length, path) }
  return { text: splice(text, changes), changes, applied }
}

interface EditProblem {
  code: string
  edit: number
  message: string
  hint: string
  details?: JsonObject
}

function lookUp(text: string, edit: Edit): { rung: Rung; matches: readonly Match[] } | Omit<EditProblem, "edit"> {
  if (edit.old_text === "") {
    const hint = "Give the text to replace. To insert, repeat a line that is there and add the new lines to it."
    return { code: "EDIT_EMPTY", message: "old_text is empty", hint }
  }
  if (edit.old_text === edit.new_text) {
    return { code: "EDIT_NO_CHANGE", message: "old_text and new_text are the same", hint: "Leave this edit out." }
  }
  const found = findMatches(text, edit.old_text, edit.new_text)
  if (found === undefined) return notFound(text, edit)
  if (found.matches.length === 1 || edit.replace_all === true) return found
  const lines = found.matches.map((match) => lineAt(text, match.start))
  const listed = lines.slice(0, 10).join(", ") + (lines.length > 10 ? ", …" : "")
  return {
    code: "EDIT_AMBIGUOUS",
    message: `old_text is there ${lines.length} times, at lines ${listed}`,
    hint: "Add lines around it to old_text until it is unique, or set replace_all to true to change all of them.",
    details: { lines },
  }
}

function notFound(text: string, edit: Edit): Omit<EditProblem, "edit"> {
  const already = edit.new_text.trim().length > 3 ? text.indexOf(edit.new_text) : -1
  if (already !== -1) {
    const message = `old_text is not there, but new_text already is, at line ${lineAt(text, already)}`
    return {
      code: "EDIT_NOT_FOUND",
      message,
      hint: "The change seems to be done already; go on, or read the file to see.",
    }
  }
  const near = nearestBlocks(text, edit.old_text)
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

function refusal(problems: readonly EditProblem[], count: number, path: string): ToolResult {
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

function lineAt(text: string, offset: number): number {
  return countLines(text.slice(0, offset + 1)) || 1
}
