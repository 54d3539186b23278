import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { Budget, TaskRow } from "./task.ts"

/** What a task is given beside its agent. Plain words stand for `{ task: words }`. */
export interface TaskInput {
  /** What is to be done, in words. */
  task: string
  /** The files that its agent owns, where it is one that owns files. */
  files?: string[]
  /** In place of the agent's own. */
  systemPrompt?: string
  /** What kind of work it is, in the words of whoever asked for it. */
  type?: string
  /** Whether a try that the agent itself ended without success is followed by another, as long as tries are left. */
  tryAgain?: boolean
  /** Whether it is worked on in a git worktree and on a branch of its own, which is merged once it succeeded. */
  worktree?: boolean
  /** The task whose branch met a conflict that this one puts right, in the worktree of that one. */
  resolves?: string
}

/** What each field may be. */
const FIELDS: Readonly<Record<keyof TaskInput, (value: unknown) => boolean>> = {
  task: (value) => typeof value === "string" && value.trim() !== "",
  files: (value) => Array.isArray(value) && value.every((file) => typeof file === "string"),
  systemPrompt: (value) => typeof value === "string",
  type: (value) => typeof value === "string",
  tryAgain: (value) => typeof value === "boolean",
  worktree: (value) => typeof value === "boolean",
  resolves: (value) => typeof value === "string" && /^[\w.-]{1,200}$/.test(value) && !/^\.+$/.test(value),
}

/** @throws ToolwrightError `INVALID_TASK` */
export function taskInput(value: unknown): TaskInput {
  const given = (typeof value === "string" ? { task: value } : value) as Readonly<Record<string, unknown>> | null
  const fields = Object.entries(FIELDS).filter(([name]) => given?.[name] !== undefined)
  if (typeof given?.task === "string" && fields.every(([name, fits]) => fits(given[name])))
    return Object.fromEntries(fields.map(([name]) => [name, given[name]])) as unknown as TaskInput
  throw new ToolwrightError("INVALID_TASK", "A task's input says in words what is to be done.", {
    hint: 'Give text, or { "task": "…", "files": ["…"], "systemPrompt": "…" }.',
  })
}

/** What is wanted of a task, as it stands in the queue. @throws ToolwrightError `INVALID_TASK` */
export function inputOf({ input }: TaskRow): TaskInput {
  return taskInput(JSON.parse(input))
}

export function budgetOf({ budget }: TaskRow): Budget {
  return budget === null ? {} : (JSON.parse(budget) as Budget)
}
