import { ToolwrightError } from "@toolwright/toolbox"
import type { Budget, TaskRow } from "./task.ts"

/** What a task is given beside its agent. Plain words stand for `{ task: words }`. */
export interface TaskInput {
  /** What is to be done, in words. */
  task: string
  /** The files that its agent owns, where it is one that owns files. */
  files?: string[]
  /** In place of the agent's own. */
  systemPrompt?: string
  /** Whether a try that the agent itself ended without success is followed by another, as long as tries are left. */
  tryAgain?: boolean
}

/** @throws ToolwrightError `INVALID_TASK` */
export function taskInput(value: unknown): TaskInput {
  if (typeof value === "string" && value.trim() !== "") return { task: value }
  const { task, files, systemPrompt, tryAgain } = (
    typeof value === "object" && value !== null ? value : {}
  ) as Partial<TaskInput>
  const listed = files === undefined || (Array.isArray(files) && files.every((file) => typeof file === "string"))
  const prompted = systemPrompt === undefined || typeof systemPrompt === "string"
  const told = tryAgain === undefined || typeof tryAgain === "boolean"
  if (typeof task !== "string" || task.trim() === "" || !listed || !prompted || !told) {
    throw new ToolwrightError("INVALID_TASK", "A task's input says in words what is to be done.", {
      hint: 'Give text, or { "task": "…", "files": ["…"], "systemPrompt": "…" }.',
    })
  }
  return {
    task,
    ...(files === undefined ? {} : { files }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(tryAgain === undefined ? {} : { tryAgain }),
  }
}

/** What is wanted of a task, as it stands in the queue. @throws ToolwrightError `INVALID_TASK` */
export function inputOf({ input }: TaskRow): TaskInput {
  return taskInput(JSON.parse(input))
}

export function budgetOf({ budget }: TaskRow): Budget {
  return budget === null ? {} : (JSON.parse(budget) as Budget)
}
