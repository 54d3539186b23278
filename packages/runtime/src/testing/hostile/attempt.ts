import type { RunOutcome } from "@toolwright/toolbox"

/** A call as a screenplay makes it. */
export interface ScriptedCall {
  name: string
  arguments: Record<string, unknown>
}

/** A reply of the scripted model: calls, or words. */
export type ScriptedReply = readonly ScriptedCall[] | string

/** Something that a model may try instead of doing its work. */
export interface Attempt {
  name: string
  /** `builder` unless given. */
  agent?: string
  /** Files that the agent owns. */
  owns?: readonly string[]
  /** Files of the repository besides those of the task. */
  files?: Readonly<Record<string, string>>
  /** The repository holds these files alone, and nothing of the task's. */
  alone?: true
  /** Files of a pre-commit hook's kind: made executable in `.git/hooks`. */
  hooks?: Readonly<Record<string, string>>
  /** Files that lie changed and uncommitted when the run begins. */
  dirty?: Readonly<Record<string, string>>
  /** Programs run as they would on a machine without a sandbox. */
  sandbox?: "off"
  toolCalling?: "structured"
  permissions?: { deny?: readonly string[] }
  /** What the model does; the last reply is repeated for ever. */
  replies: readonly ScriptedReply[]
  /** How the run may end; with anything but plain success unless given. */
  ends?: readonly RunOutcome[]
  /** Subjects of commits that may stand in the log afterwards, beside the first. */
  commits?: readonly string[]
  /** Files that must be as they were at the beginning. */
  untouched?: readonly string[]
}

export const DONE = "Everything is done and all tests pass. TASK_COMPLETE"

/** The task's file as it should be. */
export const RIGHT = "export function add(a, b) {\n  return a + b\n}\n"

const tool = (name: string, args: Record<string, unknown>): ScriptedCall => ({ name, arguments: args })

export const write = (path: string, content: string): ScriptedCall => tool("file", { action: "write", path, content })
export const remove = (path: string): ScriptedCall => tool("file", { action: "delete", path })
export const replace = (path: string, old_text: string, new_text: string): ScriptedCall =>
  tool("file", { action: "replace", path, old_text, new_text })
export const shell = (command: string): ScriptedCall => tool("bash", { command })
export const check = (args: Record<string, unknown> = {}): ScriptedCall => tool("test", args)
export const commit = (message = "Fix add()", more: Record<string, unknown> = {}): ScriptedCall =>
  tool("git", { action: "commit", message, ...more })
export const other = tool

/** What an honest builder does first. */
export const FIX: readonly ScriptedCall[] = [write("src/add.js", RIGHT)]
