/** What is known of an error code, for a person, a program, the command line and a server. */
export interface ErrorCodeEntry {
  /** What it says, in a clause. */
  readonly means: string
  /** The exit code of the command line: 2 where the command line or the configuration has to change; 1 unless given. */
  readonly exit?: 2
  /** The status of an HTTP request that ends in it; 500 unless given. */
  readonly status?: number
  /** Seconds after which a caller over HTTP may come again. */
  readonly retryAfter?: number
  /** The same call may succeed later; a failure says otherwise where it knows better. */
  readonly retryable?: true
  /**
   * It says nothing of a tool's call, but of the server: its answer has the status, where other failures are results.
   */
  readonly ofServer?: true
}

/** Codes of one area, each with what is known of it. */
export const entries = <const Codes extends string>(
  codes: Readonly<Record<Codes, ErrorCodeEntry>>,
): Readonly<Record<Codes, ErrorCodeEntry>> => codes
