import type { Dirent, Stats } from "node:fs"
import type { WriteOptions } from "./atomic-write.ts"
import type { FileContent, OpenedFile } from "./file-content.ts"
import type { Access, Located, PathPolicy, PathPolicyConfig } from "./policy.ts"
import type { ChangeHistory, HistoryConfig } from "../undo/history.ts"
import type { Root } from "./roots.ts"
import type { WalkEntry, WalkOptions, WalkSummary } from "./walk.ts"

export interface WorkspaceConfig extends Omit<PathPolicyConfig, "loaded"> {
  /**
   * Where the journal of unfinished writes and long outputs lie; a directory of this user's in the system's temporary
   * one unless given.
   */
  stateDirectory?: string
  /** Where what is changed is kept, so that it can be taken back; nothing is kept unless given. */
  history?: HistoryConfig
  /**
   * Absolute paths of files and folders that are loaded as code outside every sandbox: no tool and no command writes
   * them.
   */
  loaded?: readonly string[] | (() => readonly string[])
}

export interface Written {
  readonly shown: string
  readonly stat: Stats
  readonly created: boolean
  readonly hash: string
}

export interface Listing {
  readonly entries: Dirent[]
  /** By name, for the selected entries that still exist. */
  readonly stats: ReadonlyMap<string, Stats>
  readonly shown: string
  /** Entries that the path rules keep from everybody, and which are not among `entries`. */
  readonly denied: number
}

/**
 * The directories that tools may touch, and every way to touch them. All paths are as users write them: absolute host
 * paths, or relative to the first root. All methods reject with `ToolwrightError` (`ACCESS_DENIED`, `NOT_FOUND`, …) or
 * a system error; `pathFailure` makes either a failed result.
 */
export interface Workspace {
  readonly roots: readonly Root[]
  /**
   * How paths are checked on this system: on the open descriptor (no race can be won), or by name before and after
   * opening.
   */
  readonly checkedBy: "descriptor" | "name"
  readonly policy: PathPolicy
  /** See {@link WorkspaceConfig.loaded}. */
  readonly loaded: readonly string[]
  /** What is changed here, so that it can be taken back; loaded at the first use. Absent where nothing is kept. */
  readonly history?: () => Promise<ChangeHistory>
  /** The rules that need no look at the disk. */
  locate(path: string, access: Access): Located
  /** The real path on this machine, checked now: for child processes, which can only be given names. */
  realPath(path: string, access: Access): Promise<string>
  /** Opens a regular file for reading; never blocks on FIFOs and devices. */
  open(path: string): Promise<OpenedFile>
  /** Reads a whole file of at most `limit` bytes ({@link FILE_LIMIT_BYTES}). */
  read(path: string, limit?: number): Promise<FileContent>
  /**
   * Creates or replaces a file atomically; the parent must exist unless `makesParents` is given. Changes of one file
   * wait for each other.
   */
  write(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<Written>
  /**
   * Reads, changes and writes a file while no other change of it runs here; a change from outside in between is
   * `STALE`.
   * @param change gets the content and returns the new one, or undefined to leave the file alone
   */
  update(path: string, change: (content: FileContent) => Uint8Array | undefined): Promise<Written | undefined>
  /** Status of what lies at a path, links followed as long as they stay inside. */
  stat(path: string): Promise<{ stat: Stats; shown: string; real: string }>
  /**
   * Entries of a directory that may be read, in the file system's order.
   * @param select entries whose own status is wanted too (a link's, not its target's)
   */
  list(path: string, select?: (entries: Dirent[]) => readonly Dirent[]): Promise<Listing>
  /** Visits everything below a directory; see `walk`. `shown` is the start as users know it. */
  walk(
    path: string,
    visit: (entry: WalkEntry, start: { real: string; shown: string }) => "skip" | "stop" | undefined | void,
    options?: WalkOptions,
  ): Promise<WalkSummary & { shown: string }>
  /**
   * Runs a task on a directory that stays the same one while it runs.
   * @param task gets a path for `cwd` of a child process, which reaches the directory whatever happens to its name
   */
  inDirectory<Value>(path: string, task: (cwd: string, real: string) => Promise<Value>, access?: Access): Promise<Value>
  /** Creates a directory and the missing ones above it. */
  makeDirectory(path: string): Promise<{ shown: string; created: boolean }>
  removeFile(path: string): Promise<{ shown: string }>
  /** Removes a directory; with everything in it only when `recursive`. Links in it are removed, not followed. */
  removeDirectory(path: string, recursive: boolean): Promise<{ shown: string; removed: number }>
  /** Renames a file, directory or link itself; the destination must not exist. */
  move(source: string, destination: string): Promise<{ source: string; destination: string }>
  /** Removes temporary files of killed processes; also done before the first change. */
  recover(): Promise<number>
  /**
   * A directory outside all roots for long outputs: the file tools can read there by absolute path, nothing lists or
   * writes it.
   */
  outputDirectory(): Promise<string>
}

/** What a workspace does with the disk. */
export type WorkspaceOperations = Omit<Workspace, "roots" | "checkedBy" | "policy" | "loaded" | "locate" | "history">
