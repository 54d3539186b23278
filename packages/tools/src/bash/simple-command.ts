/** One simple command of a command line: its program, and its arguments as far as they can be told. */
export interface SimpleCommand {
  readonly program: string
  readonly args: readonly Reading[]
  /** Variables that are set for this command alone, or for the shell where there is no program. */
  readonly assigned: readonly string[]
  /** Files that its output goes to or its input comes from. */
  readonly redirects: readonly Reading[]
}

/** A word of a command line: without its quotes, as it stands, where it ends, and whether the shell may change it. */
export interface Reading {
  readonly text: string
  readonly raw: string
  readonly end: number
  readonly variable: boolean
}

/** The same with every simple command, for what looks into arguments. */
export type CommandReading =
  | { readonly programs: readonly string[]; readonly commands: readonly SimpleCommand[] }
  | { readonly refused: string }
