/** Where a command writes. */
export interface Output {
  write(text: string): unknown
  /** Width of the terminal, when it is one. */
  readonly columns?: number
}

/** Everything that a command may use of the world, so that it can be run in a test as it runs in a terminal. */
export interface Invocation {
  /** The arguments after the command's name. */
  readonly args: readonly string[]
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path of the folder that the command was started in. */
  readonly cwd: string
  /** Aborted at Ctrl-C or SIGTERM; a command then ends what it started and returns. */
  readonly signal: AbortSignal
  /** Says that whoever was served has gone: what is left of the output is not waited for without end. */
  readonly leave?: () => void
  /** Which of the three streams are a terminal. */
  readonly isTTY: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
}

/**
 * One sub-command. `run` returns the exit code: 0 success, 1 the task failed, 2 wrong usage or configuration, 130
 * interrupted.
 * A thrown `ToolwrightError` is printed with its hint; `USAGE` and configuration errors make the exit code 2, others 1.
 */
export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The whole help text, see `usageText`. */
  readonly usage: string
  /** What there is to know beside it, for the documentation. */
  readonly details?: string
  run(invocation: Invocation): Promise<number>
}

/** What is known of a command without loading it. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  /** Left out of the list, e.g. because it is a second name. */
  readonly hidden?: boolean
  /** @param args the arguments it will be run with, for commands that come in parts; none for its help */
  load(args?: readonly string[]): Promise<Command>
}

/** Why a command is aborted whose output nobody reads any more (`| head`): what only shows something has shown it. */
export const NOBODY_READS = new DOMException("Nobody reads the output any more", "AbortError")

export const EXIT = { success: 0, failure: 1, usage: 2, interrupted: 130 } as const
