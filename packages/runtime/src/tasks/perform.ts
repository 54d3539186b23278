import { realpathSync } from "node:fs"
import { join, resolve, sep } from "node:path"
import { newRunId, type AgentProfile, type SharedWork } from "@toolwright/agents"
import { budgetOf, inputOf, type RunLog, type RunRow, type TaskInput, type TaskRow } from "@toolwright/store"
import { messageOf, ToolwrightError, Turns, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import { redactDeep } from "@toolwright/host/text"
import { checkAgent } from "../pairing/choose.ts"
import { earlierTasks } from "../plans/interfaces.ts"
import { redactorFor } from "../secrets/redactor.ts"
import type { Toolwright } from "../toolwright.ts"
import { lockWorkspace } from "../workspace/lock.ts"
import { createStateFolder } from "../workspace/state-folder.ts"
import { changeHistory } from "../workspace/tool-workspace.ts"
import { FolderTurns, type FolderTurn } from "./folder-turns.ts"
import { watchBudget, type BudgetWatch } from "./budget.ts"
import { earlierTry, type EarlierTry } from "./earlier-try.ts"
import type { Performed, TaskContext } from "./worker.ts"

/** What tasks are worked on with. */
export interface PerformerOptions {
  /** Of the worker's own folder. */
  toolwright: Toolwright
  /** The folder that workspaces of tasks are, or lie in. */
  root: string
  /** As the worker's own, for a folder below it, or for the worktree of one, by whose place paths are denied. */
  at(root: string, of: string): Promise<Toolwright>
  /** The folder for the worktrees of tasks that work in a folder. */
  treesOf(root: string): string
  /** The process's own unless given. */
  env?: Readonly<Record<string, string | undefined>>
}

type RunEnd = Extract<RunEvent, { type: "run-end" }>

/** Failures of a model's server, and of the database, that may be gone a while later. */
const PASSING: ReadonlySet<string> = new Set([
  "LOG_UNWRITABLE",
  "DATABASE_UNAVAILABLE",
  "MODEL_UNREACHABLE",
  "MODEL_TIMEOUT",
  "MODEL_RATE_LIMITED",
  "MODEL_SERVER_ERROR",
])
/**
 * Whoever had the task before, and did not know yet that they had lost it, has begun, ended or taken its run meanwhile:
 * the next look goes on from there.
 */
const ELSEWHERE: ReadonlySet<string> = new Set(["RUN_ENDED", "RUN_HELD", "STALE_RUN"])
/** How long a task waits for a workspace that another process works in. */
const BUSY_MS = 1_000
/** How long a task waits for a worker that has the model of its run. */
const MODEL_MS = 5_000

/**
 * Works on tasks by running their agents. A task whose run was begun goes on where its log ends, also in another
 * process; one whose run has ended takes its end. Tasks whose agents change the same folder are worked on one after
 * another.
 */
export function taskPerformer({ toolwright, root, at, treesOf, env = process.env }: PerformerOptions) {
  const folders = new FolderTurns()
  const handIn = new Turns(1)

  const begin = async (task: TaskRow, context: TaskContext): Promise<Performed> => {
    const profile = await toolwright.agents.find(task.agent)
    const input = inputOf(task)
    const folder = workspaceIn(root, task.workspace)
    // Owners of different files work beside each other: what each may write is held by the pipeline.
    const beside = profile.ownsFiles === true && profile.files !== undefined
    const shared = beside ? sharedWork(handIn, context.signal) : undefined
    const workIn = async (place: string): Promise<Performed> => {
      if (place === root) return workOn({ toolwright, task, input, profile, shared }, context)
      await using other = await at(place, folder)
      // Awaited here: it is closed as soon as this ends.
      return await workOn({ toolwright: other, task, input, profile, shared }, context)
    }
    const inTurn = <Value>(place: string, how: Omit<FolderTurn, "signal">, work: () => Promise<Value>) =>
      folders.inTurn(place, { ...how, signal: context.signal }, work)
    if (input.worktree !== true)
      return profile.changesWorkspace ? inTurn(folder, { beside }, () => workIn(folder)) : workIn(folder)
    const { workIsolated } = await import("../isolation/isolated.ts")
    return workIsolated({
      task,
      input,
      base: folder,
      trees: treesOf(folder),
      queue: await toolwright.tasks.open(),
      history: await historyOf(toolwright, folder, env),
      signal: context.signal,
      work: workIn,
      alone: (merge) => inTurn(folder, { beside: false }, () => locked(folder, task.id, merge)),
    })
  }
  const redact = redactorFor({ ...toolwright.configuration, secrets: {} }, env)
  // The agent, too, may stand in a database that is away for a while.
  return async (task: TaskRow, context: TaskContext): Promise<Performed> =>
    redactDeep(await begin(task, context).catch((thrown: unknown) => notBegun(thrown, task)), redact)
}

/** What is changed in a folder, so that it can be taken back. */
function historyOf({ configuration }: Toolwright, folder: string, env: PerformerOptions["env"]) {
  const workspace = { ...configuration.workspace, roots: [folder] }
  return changeHistory({ ...configuration, workspace }, folder, env)
}

/** Keeps runs of other processes out of a folder meanwhile. @throws ToolwrightError `WORKSPACE_BUSY` */
async function locked<Value>(folder: string, task: string, work: () => Promise<Value>): Promise<Value> {
  const state = join(folder, ".toolwright")
  createStateFolder(state)
  using _lock = lockWorkspace(state, task)
  return await work()
}

function sharedWork(turns: Turns, signal: AbortSignal): SharedWork {
  return {
    async inTurn(work) {
      if (!(await turns.take(signal))) throw new Error(String(signal.reason))
      try {
        return await work()
      } finally {
        turns.give()
      }
    },
  }
}

/** What becomes of a task on which no work could begin, or of which nobody could take note. */
function notBegun(thrown: unknown, { id }: TaskRow): Performed {
  if (!ToolwrightError.isInstance(thrown)) {
    // What goes wrong in a run is its end: this is the database's, which may be away for a while.
    return { state: "failed", reason: messageOf(thrown), retry: true }
  }
  const { code, message } = thrown
  if (code === "WORKSPACE_BUSY") return { state: "queued", notBefore: Date.now() + BUSY_MS, reason: message }
  if (ELSEWHERE.has(code)) return { state: "queued" }
  if (PASSING.has(code)) return { state: "failed", reason: message, retry: true }
  if (code === "NO_MODEL") return { state: "failed", reason: `${message} ${howToRetry(id)}` }
  throw thrown
}

function howToRetry(id: string): string {
  return (
    "Give the worker one (--model NAME --base-url URL, or model: in toolwright.yaml), then: toolwright tasks " +
    `retry ${id}`
  )
}

interface Work {
  toolwright: Toolwright
  task: TaskRow
  input: TaskInput
  profile: AgentProfile
  shared: SharedWork | undefined
}

async function workOn(work: Work, context: TaskContext): Promise<Performed> {
  const { toolwright, task } = work
  const log = await toolwright.log.open()
  const begun = await begunRun(log, task)
  const earlier = earlierTry(task, (name) => toolwright.registry.get(name))
  const before = begun === undefined ? [] : (await toolwright.readRun(begun.id)).events
  for (const event of before) earlier?.see(event)
  const judged = (end: Performed): Performed => triedAgain(earlier?.judged(end) ?? end, work.input)
  if (begun?.state === "ended") return judged(endOfRun(begun))
  // Said before the task is told to be in a run: one that never begins is on no record, and nobody could look into it.
  if (begun === undefined) checkAgent(toolwright.pairing, work.profile)
  const lacking = begun === undefined ? undefined : await modelLacking(toolwright, begun)
  if (lacking !== undefined) return { state: "queued", notBefore: Date.now() + MODEL_MS, reason: lacking }
  const runId = task.run ?? newRunId()
  await context.inRun(runId)
  using budget = watchBudget(budgetOf(task), task, toolwright.configuration.model.prices)
  for (const event of before) budget.see(event)
  let end: RunEnd | undefined
  const leaves = (event: RunEnd): boolean => isLeft(event, context.signal)
  const signal = AbortSignal.any([context.signal, budget.signal])
  const events = runOf(work, {
    runId,
    begun,
    signal,
    leaves,
    words: await wordsFor(work, earlier),
    hears: (event) => budget.see(event),
  })
  for await (const event of events) {
    budget.see(event)
    earlier?.see(event)
    if (event.type === "run-end") end = event
  }
  return judged(endOfWork(end!, budget))
}

/**
 * Why this worker cannot go on with a run that another model began: that is no failure of the task, and no try of it.
 */
async function modelLacking(toolwright: Toolwright, { id }: RunRow): Promise<string | undefined> {
  try {
    await toolwright.backend({ of: id })
    return undefined
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== "NO_MODEL") throw thrown
    return `${thrown.message} A worker that has one goes on with it.`
  }
}

/** The run of a task; none where its worker died before it wrote anything. */
async function begunRun(log: RunLog, { run }: TaskRow): Promise<RunRow | undefined> {
  const row = run === null ? undefined : await log.get(run)
  if (row === undefined || row.state === "ended") return row
  return (await log.events(row.id, { upTo: 1 })).length === 0 ? undefined : row
}

/** What an agent failed at may go better at another try, where that is wanted. */
function triedAgain(end: Performed, { tryAgain }: TaskInput): Performed {
  return tryAgain === true && end.state === "failed" ? { retry: "at once", ...end } : end
}

/** What is to be done, with what the agent has to know of the tasks before it, and of its own last try. */
async function wordsFor({ toolwright, task, input }: Work, earlier: EarlierTry | undefined): Promise<string> {
  const parts = [input.task, await earlierTasks(toolwright, task), earlier?.words]
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n")
}

interface RunToDo {
  runId: string
  begun: RunRow | undefined
  signal: AbortSignal
  leaves: (end: RunEnd) => boolean
  words: string
  /** Hears of runs that its calls ask for: what they cost, it costs. */
  hears: (event: RunEvent) => void
}

function runOf(
  { toolwright, task, input, profile, shared }: Work,
  { runId, begun, signal, leaves, words, hears }: RunToDo,
) {
  const { rounds: maxRounds } = budgetOf(task)
  const limits = {
    signal,
    leaves,
    hears,
    ...(maxRounds === undefined ? {} : { maxRounds }),
    ...(shared === undefined ? {} : { shared }),
  }
  // The task is ours: whoever wrote its run before has lost it.
  if (begun !== undefined) return toolwright.resume(runId, { ...limits, takeOver: true })
  const nesting = { depth: task.depth, max: task.max_depth }
  const { files, systemPrompt } = input
  return toolwright.run(words, {
    ...limits,
    agent: profile,
    runId,
    taskId: task.id,
    nesting,
    surface: "worker",
    ...(files === undefined ? {} : { files }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
  })
}

/** A run is left open where somebody is to go on with it: another worker, or this one once the model is back. */
function isLeft({ summary, error }: RunEnd, signal: AbortSignal): boolean {
  if (summary.outcome === "cancelled") return signal.reason === "stopped" || signal.reason === "stale"
  return PASSING.has(error?.code ?? "")
}

function endOfWork({ summary, error }: RunEnd, { exceeded }: BudgetWatch): Performed {
  if (exceeded !== undefined && !summary.success) return { state: "failed", reason: exceeded, result: summary }
  if (error !== undefined && ELSEWHERE.has(error.code)) return { state: "queued" }
  const end = endFor(summary)
  return end.state === "failed" && PASSING.has(error?.code ?? "") ? { ...end, retry: true } : end
}

/** The end that a run came to before its worker could say so. */
function endOfRun({ id, outcome, summary }: RunRow): Performed {
  const read = summary === null ? undefined : (JSON.parse(summary) as RunSummary)
  return read === undefined ? { state: "failed", reason: `its run ${id} ended: ${outcome}` } : endFor(read)
}

function endFor(summary: RunSummary): Performed {
  if (summary.success) return { state: "done", result: summary }
  // A worker goes on with it, so nobody has to.
  if (summary.outcome === "waiting")
    return { state: "needs-approval", reason: summary.message.replace(/, then 'toolwright resume [^']*'/, "") }
  return { state: "failed", reason: whyFailed(summary), result: summary }
}

/** What went wrong, and not the model's word, which may say that all went well. */
function whyFailed({ outcome, message, notes = [] }: RunSummary): string {
  if (outcome === "completed-with-failures" && notes.length > 0) return notes.map((note) => note.message).join(" ")
  return message === "" ? outcome : message
}

/** @throws ToolwrightError `ACCESS_DENIED` for a folder that the worker may not work in, `INVALID_ROOT` for none */
function workspaceIn(root: string, workspace: string | null): string {
  if (workspace === null) return root
  const path = resolve(root, workspace)
  if (path === root) return root
  let real: string
  try {
    real = realpathSync(path)
  } catch (cause) {
    throw new ToolwrightError("INVALID_ROOT", `The task's workspace ${path} is not there.`, { cause })
  }
  if (`${real}${sep}`.startsWith(`${realpathSync(root)}${sep}`)) return path
  throw new ToolwrightError("ACCESS_DENIED", `The task's workspace ${path} is outside of ${root}.`, {
    hint: `Start a worker there: toolwright work --root ${path}`,
  })
}
