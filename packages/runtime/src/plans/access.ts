import {
  DEFAULT_TRIES,
  readPlan,
  type AgentLimits,
  type AgentProfile,
  type Plan,
  type PlanMistake,
  type PlannedTask,
  type ReadPlan,
} from "@toolwright/agents"
import {
  ENDED_STATES,
  taskView,
  type Budget,
  type NewTask,
  type PlanCounts,
  type TaskQueue,
  type TaskRow,
  type TaskState,
  type TaskView,
} from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox"
import type { AgentAccess } from "../agents/access.ts"
import type { TaskAccess } from "../tasks/access.ts"

/**
 * How a plan stands: tasks of it are open, all were done, or none is open any more and some were not done: `cancelled`
 * where somebody wanted it so, `failed` where a task failed.
 */
export type PlanState = "open" | "done" | "failed" | "cancelled"

/** A plan on one line. */
export interface PlanDigest {
  id: string
  state: PlanState
  tasks: Partial<Record<TaskState, number>>
  begunAt: string
}

/** A plan with its tasks, those first that wait for nothing. */
export interface PlanView extends PlanDigest {
  steps: (TaskView & { name: string; level: number })[]
}

/** What a plan would do, without having done it. */
export interface CheckedPlan {
  name: string
  description?: string
  agents: { name: string; files: string[] }[]
  /** Names of the tasks that may be worked on beside each other, level after level. */
  levels: string[][]
}

/** Where a plan comes from, for what is said of its mistakes. */
export interface PlanOrigin {
  /** In which line of its file a part of it stands. */
  lineOf?: ((path: string) => number | undefined) | undefined
  /** Whether it is to be worked on here: then it is refused where the model here cannot be its agents. */
  here?: boolean
  /** Whether its tasks get a worktree each, where it does not say so itself. */
  worktree?: boolean
}

/** Plans: tasks that were queued together, in an order that their dependencies give. */
export interface PlanAccess {
  /** Reads a plan and says what it would do, or all that is wrong with it. @throws ToolwrightError as `start` */
  check(plan: unknown, inputs?: Readonly<Record<string, string>>, origin?: PlanOrigin): Promise<CheckedPlan>
  /**
   * Makes the agents of a plan and queues its tasks: all of them or none.
   *
   * @throws ToolwrightError `INVALID_PLAN`, `TASK_CYCLE`, `UNKNOWN_AGENT`, `AGENT_EXISTS`, `FILE_OWNED`, `QUEUE_FULL`;
   *   of one that is to be worked on here also `NO_MODEL`
   */
  start(plan: unknown, inputs?: Readonly<Record<string, string>>, origin?: PlanOrigin): Promise<PlanView>
  /** Newest first. */
  list(): Promise<PlanDigest[]>
  /** By its id, a beginning of it that no other has, or `latest`. @throws ToolwrightError `UNKNOWN_PLAN` */
  show(id: string): Promise<PlanView>
  /** Cancels what is open. @throws ToolwrightError `UNKNOWN_PLAN` */
  cancel(id: string): Promise<PlanView>
  /**
   * Queues again what failed, was given up or cancelled; what it blocked waits again. @throws ToolwrightError
   * `UNKNOWN_PLAN`
   */
  retry(id: string): Promise<PlanView>
}

const MOST_TASKS = 1_000
const RETRIED: readonly TaskState[] = ["failed", "abandoned", "cancelled"]

export function planAccess(parts: PlanParts): PlanAccess {
  return new Plans(parts)
}

/** What plans are kept with. */
interface PlanParts {
  tasks: TaskAccess
  agents: AgentAccess
  /** Refuses an agent that the model here cannot be. */
  checkAgent?: (profile: AgentProfile) => void
}

class Plans implements PlanAccess {
  readonly #tasks: TaskAccess
  readonly #agents: AgentAccess
  readonly #checkAgent: NonNullable<PlanParts["checkAgent"]>

  constructor({ tasks, agents, checkAgent = () => {} }: PlanParts) {
    this.#tasks = tasks
    this.#agents = agents
    this.#checkAgent = checkAgent
  }

  async check(plan: unknown, inputs?: Readonly<Record<string, string>>, origin?: PlanOrigin): Promise<CheckedPlan> {
    const { name, description, agents: own = {}, levels } = await this.#read(plan, inputs, origin)
    const made = Object.entries(own).map(([agent, { files = [] }]) => ({ name: agent, files }))
    return { name, ...(description === undefined ? {} : { description }), agents: made, levels }
  }

  async start(plan: unknown, inputs?: Readonly<Record<string, string>>, origin?: PlanOrigin): Promise<PlanView> {
    const read = await this.#read(plan, inputs, origin)
    const queue = await this.#tasks.open()
    const before = new Set((await this.#agents.list()).map(({ name }) => name))
    const made = await this.#agents.createAll(
      Object.entries(read.agents ?? {}).map(([name, definition]) => ({ ...definition, name })),
    )
    const id = `${read.name}-${crypto.randomUUID().slice(0, 6)}`
    try {
      await queue.addAll(
        newTasks(id, origin?.worktree === true ? { worktree: true, ...read } : read, this.#tasks.workspace),
      )
    } catch (thrown) {
      for (const { name } of made) if (!before.has(name)) await this.#agents.remove(name)
      throw thrown
    }
    return view(this.#tasks, queue, id)
  }

  async list(): Promise<PlanDigest[]> {
    const queue = await this.#tasks.look()
    return ((await queue?.plans()) ?? []).map(digestOf)
  }

  async show(asked: string): Promise<PlanView> {
    const { queue, id } = await this.#find(asked)
    return view(this.#tasks, queue, id)
  }

  async cancel(asked: string): Promise<PlanView> {
    const { queue, id } = await this.#find(asked)
    // What is blocked would go on with a retry of what it waits for: it is not wanted any more either.
    const open = (await queue.list({ plan: id, limit: MOST_TASKS })).filter(
      ({ state }) => state === "blocked" || !ENDED_STATES.includes(state),
    )
    for (const row of open) await queue.cancel(row.id, `the plan ${id} was cancelled`).catch(unlessEnded)
    return view(this.#tasks, queue, id)
  }

  async retry(asked: string): Promise<PlanView> {
    const { queue, id } = await this.#find(asked)
    const ended = (await queue.list({ plan: id, limit: MOST_TASKS })).filter((row) => RETRIED.includes(row.state))
    for (const row of ended) await queue.retry(row.id).catch(unlessEnded)
    return view(this.#tasks, queue, id)
  }

  async #read(
    plan: unknown,
    said: Readonly<Record<string, string>> = {},
    { lineOf, here = false }: PlanOrigin = {},
  ): Promise<ReadPlan> {
    const read = await readPlan(plan, { said, lineOf, more: (part) => this.#agentMistakes(part) })
    if (here) for (const { agent } of Object.values(read.tasks)) this.#checkAgent(await this.#profileOf(agent, read))
    return read
  }

  #profileOf(name: string, { agents = {} }: Plan): Promise<AgentProfile> {
    return Object.hasOwn(agents, name) ? this.#agents.preview({ ...agents[name], name }) : this.#agents.find(name)
  }

  /** What is wrong with the agents that a plan makes and with those that its tasks name. */
  async #agentMistakes({ agents = {}, tasks }: Pick<Plan, "agents" | "tasks">): Promise<PlanMistake[]> {
    const made = Object.entries(agents).map(([name, definition]) => ({ ...definition, name }))
    const found = (await this.#agents.mistakesIn(made)).map(({ name, error }) => ({
      path: `agents.${name}`,
      message: saidWith(error),
      error,
    }))
    const mistakes: PlanMistake[] = [...found]
    for (const [name, { agent }] of Object.entries(tasks)) {
      if (agent === "" || Object.hasOwn(agents, agent)) continue
      const error = await this.#agents.find(agent).then(needsNoFiles, asMistake)
      if (error !== undefined) mistakes.push({ path: `tasks.${name}.agent`, message: saidWith(error), error })
    }
    return mistakes
  }

  async #find(asked: string): Promise<{ queue: TaskQueue; id: string }> {
    const queue = await this.#tasks.look()
    const plans = (await queue?.plans(MOST_TASKS)) ?? []
    const matching = asked === "latest" ? plans.slice(0, 1) : plans.filter(({ plan }) => plan.startsWith(asked))
    const exact = matching.find(({ plan }) => plan === asked) ?? (matching.length === 1 ? matching[0] : undefined)
    if (queue !== undefined && exact !== undefined) return { queue, id: exact.plan }
    const what = matching.length > 1 ? `Several plans begin with '${asked}'.` : `There is no plan '${asked}'.`
    throw new ToolwrightError("UNKNOWN_PLAN", asked === "latest" ? "No plan was started here." : what, {
      hint: "'toolwright plan list' shows them; 'toolwright plan run <file>' starts one.",
    })
  }
}

async function view(tasks: TaskAccess, queue: TaskQueue, plan: string): Promise<PlanView> {
  const rows = (await queue.list({ plan, limit: MOST_TASKS })).map((row) => tasks.shown(row))
  return viewOf(plan, rows.toReversed(), await queue.dependencies(rows.map(({ id }) => id)))
}

/** A task may have ended, or been queued, between the look and the change. */
function unlessEnded(thrown: unknown): void {
  if (!ToolwrightError.isInstance(thrown) || !["TASK_ENDED", "TASK_OPEN"].includes(thrown.code)) throw thrown
}

function needsNoFiles({ name, ownsFiles, files }: AgentProfile): ToolwrightError | undefined {
  if (ownsFiles !== true || files !== undefined) return undefined
  return new ToolwrightError("INVALID_PLAN", `The agent '${name}' owns files, and the plan does not say which.`, {
    hint: `Give it a name and files in the plan: agents: { AreaAgent: { from: ${name}, files: [src/area.py] } }`,
  })
}

function asMistake(thrown: unknown): ToolwrightError {
  if (ToolwrightError.isInstance(thrown)) return thrown
  throw thrown
}

/** A mistake with what to do about it, on one line. */
const saidWith = ({ message, hint }: ToolwrightError): string => (hint === undefined ? message : `${message} ${hint}`)

function newTasks(plan: string, { tasks, levels, worktree: each }: ReadPlan, workspace: string | undefined): NewTask[] {
  const idOf = (name: string): string => `${plan}.${name}`
  return levels.flat().map((name): NewTask => {
    const { agent, task, after = [], priority, tries = DEFAULT_TRIES, limits, worktree = each } = tasks[name]!
    return {
      id: idOf(name),
      plan,
      agent,
      input: { task, tryAgain: true, ...(worktree === true ? { worktree } : {}) },
      maxAttempts: tries,
      after: after.map(idOf),
      ...(priority === undefined ? {} : { priority }),
      ...budgetOf(limits),
      ...(workspace === undefined ? {} : { workspace }),
    }
  })
}

function budgetOf(limits: AgentLimits | undefined): { budget?: Budget } {
  const { rounds, tokens, seconds }: NonNullable<PlannedTask["limits"]> = limits ?? {}
  const budget = {
    ...(rounds === undefined ? {} : { rounds }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(seconds === undefined ? {} : { milliseconds: seconds * 1_000 }),
  }
  return Object.keys(budget).length === 0 ? {} : { budget }
}

function digestOf({ plan, begun, states }: PlanCounts): PlanDigest {
  const there = (Object.keys(states) as TaskState[]).filter((state) => (states[state] ?? 0) > 0)
  return { id: plan, state: stateOf(there), tasks: states, begunAt: new Date(begun).toISOString() }
}

/** What only waited for a cancelled task is blocked, and failed as little as that one. */
function stateOf(there: readonly TaskState[]): PlanState {
  if (there.some((state) => !ENDED_STATES.includes(state))) return "open"
  if (there.every((state) => state === "done")) return "done"
  const failed = there.includes("failed") || there.includes("abandoned")
  return !failed && there.includes("cancelled") ? "cancelled" : "failed"
}

function viewOf(plan: string, rows: readonly TaskRow[], after: ReadonlyMap<string, string[]>): PlanView {
  const states: PlanCounts["states"] = {}
  for (const { state } of rows) states[state] = (states[state] ?? 0) + 1
  const levels = new Map<string, number>()
  const levelOf = (id: string): number => {
    const known = levels.get(id)
    if (known !== undefined) return known
    const level = Math.max(-1, ...(after.get(id) ?? []).map(levelOf)) + 1
    levels.set(id, level)
    return level
  }
  const steps = rows.map((row) => ({
    ...taskView(row, after.get(row.id)),
    name: row.id.startsWith(`${plan}.`) ? row.id.slice(plan.length + 1) : row.id,
    level: levelOf(row.id),
  }))
  const begun = Math.min(...rows.map(({ created_at }) => Number(created_at)))
  return { ...digestOf({ plan, begun, states }), steps: steps.toSorted((a, b) => a.level - b.level) }
}
