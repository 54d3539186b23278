import { ToolwrightError } from "@toolwright/toolbox"

/**
 * Why a template failed: its text is malformed, a step of rendering failed, it refused the conversation itself, or it
 * ran over a limit.
 */
export type TemplateErrorCode = "TEMPLATE_SYNTAX" | "TEMPLATE_FAILED" | "TEMPLATE_REFUSED" | "TEMPLATE_LIMIT"

/** A failure inside a template, with the place in its source (both from 1, columns in UTF-16 code units). */
export class TemplateError extends ToolwrightError {
  readonly line: number
  readonly column: number
  /** What went wrong, without the place; for refusals, the template's own words. */
  readonly reason: string

  constructor(code: TemplateErrorCode, reason: string, place: { line: number; column: number }, hint?: string) {
    super(code, `${reason} (template line ${place.line}, column ${place.column})`, hint === undefined ? {} : { hint })
    this.name = "TemplateError"
    this.line = place.line
    this.column = place.column
    this.reason = reason
  }
}

/** A failure while the place is not yet known; the interpreter adds it. */
export class Failure extends Error {
  readonly code: TemplateErrorCode

  constructor(message: string, code: TemplateErrorCode = "TEMPLATE_FAILED") {
    super(message)
    this.code = code
  }
}

/** Line and column of an offset. */
export function placeOf(source: string, at: number): { line: number; column: number } {
  const before = source.slice(0, at)
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") }
}
