/**
 * What could be done next, as a thing that tools do (`ToolDefinition.does`) and the arguments that are known. Whoever
 * makes the error knows no tool; the pipeline, which knows what is on offer, turns it into a call or leaves it out.
 */
export interface NextStep {
  does: string
  arguments?: Readonly<Record<string, unknown>>
}

const MARK = Symbol.for("toolwright.error")

/**
 * The one base class of everything this project throws. Tool failures are results, not exceptions; this is for wrong
 * use of the library, wrong configuration, and backends that cannot answer.
 *
 * `code` is stable and upper-case. `hint` says what to do. Recognise one with {@link ToolwrightError.isInstance}, which
 * holds across duplicated packages.
 */
export class ToolwrightError extends Error {
  readonly code: string
  readonly hint: string | undefined
  readonly next: NextStep | undefined
  /** Milliseconds after which the same may be tried again, where that is known. */
  readonly retryAfterMs: number | undefined
  readonly [MARK] = true

  constructor(
    code: string,
    message: string,
    options: { cause?: unknown; hint?: string; next?: NextStep; retryAfterMs?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = "ToolwrightError"
    this.code = code
    this.hint = options.hint
    this.next = options.next
    this.retryAfterMs = options.retryAfterMs
  }

  /** Code, message and hint, for logs that write an error as a text. */
  override toString(): string {
    const said = `${this.name} [${this.code}]: ${this.message}`
    return this.hint === undefined ? said : `${said}\n${this.hint}`
  }

  static isInstance(value: unknown): value is ToolwrightError {
    try {
      return typeof value === "object" && value !== null && (value as { [MARK]?: boolean })[MARK] === true
    } catch {
      // A proxy may throw at any question.
      return false
    }
  }
}

/** The message of anything that can be thrown, even of what cannot be written as text. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) return String(thrown.message || thrown.name)
    return typeof thrown === "string" ? thrown : String(thrown)
  } catch {
    return `something without a message (${typeof thrown})`
  }
}

/** What an error says, as the parts of a failed result. */
export function partsOf(thrown: ToolwrightError): { code: string; message: string; hint?: string; next?: NextStep } {
  const { code, message, hint, next } = thrown
  return { code, message, ...(hint === undefined ? {} : { hint }), ...(next === undefined ? {} : { next }) }
}
