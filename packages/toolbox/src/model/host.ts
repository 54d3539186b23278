/**
 * Files as tools may touch them: inside the workspace's folders, past nothing that is denied, and kept for `undo` where
 * a history is kept. Paths are absolute, or relative to the first folder. All methods reject with a `ToolwrightError`.
 */
export interface ToolFiles {
  /** A text file's content. */
  read(path: string): Promise<string>
  readBytes(path: string): Promise<Uint8Array>
  /** Creates or replaces a file at once, whole; missing folders above it are made. */
  write(path: string, content: string | Uint8Array): Promise<void>
  /** Names of what is in a folder, by name; those of folders end in `/`. */
  list(path?: string): Promise<string[]>
  /** Deletes a file. */
  remove(path: string): Promise<void>
}

/** How a program is run. */
export interface ProgramOptions {
  /** What it reads from standard input. */
  readonly input?: string
  /** The folder it starts in, in the workspace's first one; that one unless given. */
  readonly folder?: string
  /** Longest time in milliseconds; a minute unless given. */
  readonly timeoutMs?: number
  /** Whether it may use the network; it may not unless this is true. */
  readonly network?: boolean
  /** Variables beside the harmless ones (`PATH`, the locale); keys and tokens of ours are not passed on. */
  readonly env?: Readonly<Record<string, string>>
}

/** How a program ended. A code other than 0 is an outcome, not an error. */
export interface ProgramOutcome {
  /** Nothing where it was ended. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly ended: "exit" | "timeout" | "cancelled" | "output-limit" | "disk-limit" | "memory-limit"
}

/** A request over the network. */
export interface WebRequest {
  readonly method?: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What a server answered. A status of 400 or more is an answer, not an error. */
export interface WebAnswer {
  /** Where the last redirect led. */
  readonly url: string
  readonly status: number
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/**
 * What a tool may use of the machine, under the rules that built-in tools keep. An assembly (`createToolwright`, the
 * command line, a server) brings it; in a bare registry each of them rejects with `NO_HOST`.
 */
export interface ToolHost {
  readonly files: ToolFiles
  /** Runs a program, without a shell, in the sandbox that there is. It ends with the call. */
  runProgram(argv: readonly [string, ...string[]], options?: ProgramOptions): Promise<ProgramOutcome>
  /** Asks a public server; none of this machine or its network, unless the configuration allows it. */
  fetch(url: string, request?: WebRequest): Promise<WebAnswer>
  /** An environment variable; nothing where it is empty. */
  env(name: string): string | undefined
  /** Writes a line for whoever runs the program; no model sees it. */
  log(message: string): void
}
