const MARK = Symbol.for("toolwright.error")

/**
 * A grammar that cannot be run. It carries the mark and the fields of the project's errors, so that `ToolwrightError.isInstance`
 * recognises it, without this room having to import any other.
 */
export class GrammarError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly [MARK] = true

  constructor(message: string, options: { code?: string; hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = "GrammarError"
    this.code = options.code ?? "INVALID_GRAMMAR"
    this.hint = options.hint
  }
}
