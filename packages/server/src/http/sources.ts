import type { RunLog, TaskInput, TaskQueue, TaskRow } from "@toolwright/store"
import type { ConnectionList } from "../connections/shapes.ts"
import type { ExportedRun } from "../runs/exchange.ts"

/** The files of a page, by their path below `/`. */
export interface PageSource {
  file(path: string): Promise<
    | {
        bytes: Uint8Array<ArrayBuffer>
        gzip: Uint8Array<ArrayBuffer>
        type: string
        /** Its name changes with its content. */
        lasting: boolean
      }
    | undefined
  >
  /** A run as a page that opens without a server. */
  run?(run: ExportedRun): Promise<string>
}

/** Where runs are read. */
export interface RunSource {
  /** Undefined while nothing was recorded: nothing is made by looking. */
  look(): Promise<RunLog | undefined>
  /** Where runs from elsewhere are taken in; nowhere unless given. */
  open?(): Promise<RunLog>
}

/** Starts runs that go on by themselves. What is refused is thrown as a `ToolwrightError`. */
export interface RunStarter {
  agents(): Promise<{ name: string; description: string; changesWorkspace: boolean }[]>
  /** @returns the id of the run, once it is on record */
  start(run: { agent: string; task: string }): Promise<string>
  /** Goes on from the last round of a run that had ended by an event, as a run of its own. */
  branch(run: string, seq: number, edit?: string): Promise<string>
  /** @returns false where no such run was started here */
  stop(run: string): boolean
  /** Takes back what a run changed; not there where nobody has to show a token. */
  undo?(run: string, by: string | undefined): Promise<object>
  /** Goes on with a run that waits, or was interrupted. */
  resume(run: string): Promise<string>
  /** A question of a run was answered: one that was started here goes on by itself. */
  answered(run: string): Promise<void>
}

/** Where tasks are queued and read. */
export interface TaskSource {
  /** The folder that workspaces of tasks are, or lie in. */
  readonly root: string
  /** What a task says as its workspace that names none. */
  readonly workspace: string | undefined
  open(): Promise<TaskQueue>
  /** Undefined while there is none: nothing is made by looking. */
  look(): Promise<TaskQueue | undefined>
  /** A task as it may be shown; without secrets of known forms unless given. */
  shown?(row: TaskRow): TaskRow
  /** @throws ToolwrightError where the agent is not there, or takes no such task */
  check(agent: string, input: TaskInput): Promise<void>
}

/** The agents that tasks can be given to. What is refused is thrown as a `ToolwrightError`. */
export interface AgentSource {
  list(): Promise<readonly object[]>
  show(name: string): Promise<object>
  create(agent: { name: string }): Promise<object>
  remove(name: string): Promise<object>
}

/** Plans: tasks that belong together. What is refused is thrown as a `ToolwrightError`. */
export interface PlanSource {
  check(plan: unknown, inputs: Readonly<Record<string, string>>, origin: { worktree?: boolean }): Promise<object>
  start(plan: unknown, inputs: Readonly<Record<string, string>>, origin: { worktree?: boolean }): Promise<ShownPlan>
  list(): Promise<readonly object[]>
  show(id: string): Promise<ShownPlan>
  cancel(id: string): Promise<ShownPlan>
  retry(id: string): Promise<ShownPlan>
}

/** Evaluations and what they came to. What is refused is thrown as a `ToolwrightError`. */
export interface EvaluationSource {
  list(): Promise<readonly object[]>
  show(id: string): Promise<object>
}

/** What is looked at of a plan here; the rest is passed on. */
export interface ShownPlan {
  id: string
  state: string
  steps: { state: string; attempts: number }[]
}

/**
 * A code that can be changed for a token, once: it may stand in an address, since it is good for nothing afterwards.
 */
export interface OneTimeCode {
  code: string
  token: string
}

/** What a server is connected to: its model, the servers that tools come from, its database. */
export interface ConnectionSource {
  list(): Promise<ConnectionList>
  /** Examines the model. @throws ToolwrightError where there is none that can be asked */
  examine(options: { tries: number; signal: AbortSignal; log(line: string): void }): Promise<unknown>
}
