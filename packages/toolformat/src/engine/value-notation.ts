/** The ways of writing values, and what a value that is read is given to. */

/**
 * How a family writes values. Every notation is read by the one scanner below, which turns it into JSON as it goes;
 * what the notation does not have but models write all the same is repaired and noted.
 */
export interface Notation {
  /** Python's literals, single quotes, tuples and escapes are at home here, not repairs. */
  python?: boolean
  /** Keys stand without quotes. */
  bareKeys?: boolean
  /** A delimiter around strings in which nothing is escaped. */
  rawQuote?: string
  /** A text without quotes is read up to the next comma or bracket, as a repair. */
  bareTexts?: boolean
}

export const JSON_NOTATION: Notation = {}
export const PYTHON_NOTATION: Notation = { python: true }

/** `done`: a whole value was read. `open`: the reply ended inside. `invalid`: what stands here cannot be read. */
export type Outcome = "done" | "open" | "invalid"

/** Receives the value as JSON text, piece by piece, and names of what had to be repaired. */
export interface ValueSink {
  write(json: string): void
  repaired(what: string): void
  /** The name of a call's next parameter, for an argument without one; undefined when it is not known. */
  positional?(index: number): string | undefined
  /** What is known of the types of the values in it. */
  readonly types?: ValueTypes | undefined
}

/** Follows a value as it is read, so that text that stands for something else is known where it stands. */
export interface ValueTypes {
  /** An object or an array begins, as the value that comes next. */
  enter(list: boolean): void
  leave(): void
  /** A member's key, as JSON. */
  key(json: string): void
  /** Whether the value that comes next may not be text. */
  refusesText(): boolean
  /** Whether the value that comes next may be nothing but text. */
  wantsText(): boolean
  /** A text as what it stands for where it may not be text; the same again where it stands for nothing else. */
  retype(json: string): string
}
