import { relative } from "node:path"
import { failure, partsOf, ToolwrightError, type ToolResult } from "@toolwright/toolbox"
import type { Workspace } from "../paths/workspace.ts"
import type { Limits } from "../sandbox/limits.ts"
import type { SandboxPolicy } from "../sandbox/sandbox.ts"

/** What the tools that run processes need to know. */
export interface ProcessHost {
  readonly workspace: Workspace
  /** The workspace's first root, absolute and without symbolic links. Processes start here. */
  readonly root: string
  /** Whether that root may be changed. */
  readonly writable: boolean
  readonly config: ProcessToolsConfig
  /** What lay in the workspace when the work that is done in it now began. */
  readonly begun: WorkBegun
}

/** Noted by whoever watches the work; empty where nobody does. */
export interface WorkBegun {
  /** Files that no commit knew, by their path from the first root, with a mark of each one's state. */
  untracked?: ReadonlyMap<string, string>
}

export function createProcessHost(workspace: Workspace, config: ProcessToolsConfig = {}): ProcessHost {
  const [root] = workspace.roots
  return { workspace, root: root!.real, writable: root!.access === "read-write", config, begun: {} }
}

/** Configuration of the tools that run processes; every field has a default. */
export interface ProcessToolsConfig {
  /** `auto` unless given. */
  readonly sandbox?: SandboxPolicy
  /** Names of environment variables of ours that child processes may see besides the harmless ones. */
  readonly passEnvironment?: readonly string[]
  /** What one command may take of the machine. */
  readonly limits?: Limits
  readonly bash?: {
    /** Programs that a command may name; everything when absent. */
    readonly allow?: readonly string[]
    readonly network?: boolean
    /** The longest that a command may take; a call may ask for less. */
    readonly timeoutMs?: number
  }
  readonly test?: { readonly timeoutMs?: number; readonly network?: boolean }
  readonly git?: {
    /** Protocols for `push`; `https` and `ssh` unless given. */
    readonly protocols?: readonly string[]
    readonly identity?: { readonly name: string; readonly email: string }
  }
  readonly validation?: {
    /** Longest file that passes the `file-length` check, in lines; 700 unless given. */
    readonly maxLines?: number
  }
}

/** The policy for commands: where the root is read-only only a sandbox can see to it that it stays as it is. */
export function sandboxPolicy({ config, writable }: ProcessHost): SandboxPolicy {
  return writable ? (config.sandbox ?? "auto") : "required"
}

/** Whether a sandbox contains what is started for this host. */
export async function isContained(host: ProcessHost): Promise<boolean> {
  return (await uncontainedReason(host)) === undefined
}

/**
 * What speaks against starting programs unasked here: that nothing contains them, and why. Nothing where a sandbox is
 * required, for then they do not start at all without one.
 */
export async function programDoubt(host: ProcessHost): Promise<string | undefined> {
  if (sandboxPolicy(host) === "required") return undefined
  const reason = await uncontainedReason(host)
  return reason === undefined ? undefined : `nothing contains programs here (${reason})`
}

async function uncontainedReason(host: ProcessHost): Promise<string | undefined> {
  if (sandboxPolicy(host) === "off") return "the sandbox is switched off by configuration"
  const { probeBubblewrap } = await import("../sandbox/sandbox.ts")
  const { program, reason } = await probeBubblewrap()
  return program === undefined ? (reason ?? "there is no sandbox") : undefined
}

/**
 * A folder or file that an argument names, as an absolute path inside the first root; by name only, nothing need be
 * there.
 * @throws ToolwrightError `ACCESS_DENIED`, `INVALID_PATH`
 */
export function insideRoot(host: ProcessHost, path: string): string {
  const located = host.workspace.locate(path, "read")
  if (located.root.real === host.root) return located.path
  throw new ToolwrightError("ACCESS_DENIED", `${path} is not in the first root ${host.root}, where commands run.`, {
    hint: "Use a path relative to the workspace, such as src/index.ts.",
  })
}

/** A path as the model knows it: relative to the root, with `/`. */
export function shownPath(host: ProcessHost, full: string): string {
  return relative(host.root, full).replaceAll("\\", "/") || "."
}

/** Turns a thrown library error into a failed result; anything else is thrown on. */
export function failureOf(thrown: unknown): ToolResult {
  if (!ToolwrightError.isInstance(thrown)) throw thrown
  return failure(partsOf(thrown))
}
