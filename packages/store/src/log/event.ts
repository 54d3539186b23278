import type { SqlValue } from "../database/driver.ts"

/** An event to be written. Its body is JSON that holds no secret: redaction is the business of whoever writes. */
export interface NewEvent {
  type: string
  /** JSON text. */
  body: string
  /** Milliseconds since 1970. */
  time: number
}

/** An event of a run as it was written. */
export interface LogEvent {
  /** The run that it belongs to: of a branch, an earlier one for what is shared. */
  run: string
  seq: number
  type: string
  time: number
  fence: number
  /** JSON text; undefined once it was erased. */
  body: string | undefined
  hash: string
}

/** The values of a row of `run_events` but for its fence, in the order of the insert statement. */
export interface PreparedEvent {
  seq: number
  type: string
  time: number
  body: string | null
  bodyRef: string | null
  salt: string
  hash: string
}

export function valuesOf({ seq, type, time, body, bodyRef, salt, hash }: PreparedEvent): SqlValue[] {
  return [seq, type, time, body, bodyRef, salt, hash]
}
