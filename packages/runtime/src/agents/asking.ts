import {
  agentTool,
  newRunId,
  type AgentProfile,
  type AskedRun,
  type ExecutorOptions,
  type RunRequest,
  type SharedWork,
} from "@toolwright/agents"
import { approvalsIn, type RunLog, type RunRow } from "@toolwright/store"
import {
  ToolwrightError,
  type RunEvent,
  type RunSummary,
  type ToolContext,
  type ToolDefinition,
} from "@toolwright/toolbox"
import type { AgentAccess } from "./access.ts"
import type { Spent } from "./spent.ts"

/** How deep a run is below the one that a person began, and how deep it may go. */
export interface Nesting {
  depth: number
  max: number
}

/** By which call of which run a run was asked for. `key` is the same where the call is made again. */
export interface AskedBy {
  run: string
  call: string
  key: string
}

/** A run that may ask agents. */
export interface AskingRun {
  runId: string
  profile: AgentProfile
  nesting: Nesting
  /** What it has used by now, with the runs that it asked for. */
  spent: Spent
  taskId?: string | undefined
  shared?: boolean | SharedWork | undefined
  approvals?: ExecutorOptions["approvals"] | undefined
  leaves?: RunRequest["leaves"] | undefined
  hears?: (event: RunEvent) => void
}

/** What asked agents are run with. */
export interface AskingParts {
  agents: AgentAccess
  /** The log, where runs are recorded. */
  open: (() => Promise<RunLog>) | undefined
  run(task: string, options: NewAskedRun): AsyncGenerator<RunEvent, RunSummary>
  resume(run: string, options: AskedLimits): AsyncGenerator<RunEvent, RunSummary>
}

/** What an asked run has of whoever asks. */
interface AskedLimits extends Pick<AskingRun, "hears"> {
  agent: AgentProfile
  signal: AbortSignal
  shared: boolean | SharedWork
  approvals?: ExecutorOptions["approvals"]
  leaves?: RunRequest["leaves"]
  takeOver?: boolean
}

interface NewAskedRun extends AskedLimits {
  runId: string
  surface: string
  nesting: Nesting
  askedBy: AskedBy
  taskId?: string
}

/** Agents as tools of a run: those that its agent, or one of its phases, may ask. */
export interface Asking {
  toolsFor(names: readonly string[], run: AskingRun): Promise<ToolDefinition[]>
}

/** The name of an agent as a tool. */
export const askingName = (agent: string): string => `ask_${agent.replaceAll("-", "_")}`

export function askingWith(parts: AskingParts): Asking {
  return {
    toolsFor: (names, run) =>
      Promise.all(names.map(async (name) => toolFor(parts, await asked(parts, name, run), run))),
  }
}

async function asked({ agents }: AskingParts, name: string, { profile }: AskingRun): Promise<AgentProfile> {
  try {
    return await agents.find(name)
  } catch (cause) {
    if (!ToolwrightError.isInstance(cause)) throw cause
    const { code, message, hint } = cause
    throw new ToolwrightError(code, `${message} '${profile.name}' is to ask it.`, {
      cause,
      ...(hint === undefined ? {} : { hint }),
    })
  }
}

function toolFor(parts: AskingParts, agent: AgentProfile, asking: AskingRun): ToolDefinition {
  const { depth, max } = asking.nesting
  return agentTool({
    name: askingName(agent.name),
    description: `Lets the agent '${agent.name}' do a task and answer: ${agent.description}`,
    depth,
    maxNestingDepth: max,
    readOnly: !agent.changesWorkspace,
    ...(agent.maxSeconds === undefined ? {} : { timeoutMs: agent.maxSeconds * 1000 + LATER_MS }),
    run: (task, context) => runAsked(parts, { agent, asking, task }, context),
  })
}

/** A run ends by itself before its call is ended. */
const LATER_MS = 30_000

interface Order {
  agent: AgentProfile
  asking: AskingRun
  task: string
}

/** Runs the agent, or goes on with the run that the same call had begun, or takes the end that it came to. */
async function runAsked(parts: AskingParts, order: Order, context: ToolContext & { depth: number }): Promise<AskedRun> {
  const { asking } = order
  const log = await parts.open?.()
  const begun = await begunBy(log, asking.runId, context.idempotencyKey)
  if (begun?.state === "ended" && begun.summary !== null) {
    return { summary: JSON.parse(begun.summary) as RunSummary }
  }
  const events = begun === undefined ? beginRun(parts, order, context) : goOn(parts, begun, order, context)
  let step = await events.next()
  while (!step.done) {
    const event = step.value
    asking.hears?.(event)
    if (event.type === "round-start") context.progress({ message: `round ${event.round}`, progress: event.round })
    step = await events.next()
  }
  const summary = step.value
  const waits = summary.outcome === "waiting" && log !== undefined ? await questionOf(log, summary.runId) : undefined
  return waits === undefined ? { summary } : { summary, waits }
}

async function begunBy(log: RunLog | undefined, run: string, key: string): Promise<RunRow | undefined> {
  const row = await log?.askedBy(run, key)
  // Of one that was begun and of which nothing was written there is nothing to go on with.
  if (row === undefined || row.state === "ended") return row
  return (await log!.events(row.id, { upTo: 1 })).length === 0 ? undefined : row
}

function beginRun(parts: AskingParts, { agent, asking, task }: Order, context: ToolContext & { depth: number }) {
  return parts.run(task, {
    ...limitsOf(asking, context.signal),
    agent: within(agent, asking),
    runId: newRunId(),
    surface: "agent",
    nesting: { depth: context.depth, max: asking.nesting.max },
    askedBy: { run: asking.runId, call: context.callId, key: context.idempotencyKey },
    ...(asking.taskId === undefined ? {} : { taskId: asking.taskId }),
  })
}

/** The call that asks for it is ours alone, so the run is too, whoever held it before. */
function goOn(parts: AskingParts, row: RunRow, { agent, asking }: Order, { signal }: ToolContext) {
  return parts.resume(row.id, { ...limitsOf(asking, signal), agent: within(agent, asking), takeOver: true })
}

function limitsOf({ profile, shared = false, approvals, leaves, hears }: AskingRun, signal: AbortSignal) {
  return {
    signal,
    // Whoever asks has the workspace already, where it may change it.
    shared: profile.changesWorkspace && shared === false ? true : shared,
    ...(approvals === undefined ? {} : { approvals }),
    ...(leaves === undefined ? {} : { leaves }),
    ...(hears === undefined ? {} : { hears }),
  }
}

/** An agent with no more than what is left of the limits of whoever asks it. */
function within(agent: AgentProfile, { profile, spent }: AskingRun): AgentProfile {
  const tokens = least(agent.maxTokens, left(profile.maxTokens, spent.tokens, "tokens"))
  const seconds = least(agent.maxSeconds, left(profile.maxSeconds, spent.seconds, "s"))
  return {
    ...agent,
    ...(tokens === undefined ? {} : { maxTokens: tokens }),
    ...(seconds === undefined ? {} : { maxSeconds: seconds }),
  }
}

function least(...values: (number | undefined)[]): number | undefined {
  const given = values.filter((value) => value !== undefined)
  return given.length === 0 ? undefined : Math.min(...given)
}

/** @throws ToolwrightError `BUDGET_USED` */
function left(most: number | undefined, used: number, unit: string): number | undefined {
  if (most === undefined || used < most) return most === undefined ? undefined : most - used
  throw new ToolwrightError("BUDGET_USED", `Nothing is left of the limit of ${most} ${unit}, so nobody can be asked.`)
}

async function questionOf(log: RunLog, run: string): Promise<AskedRun["waits"]> {
  const rows = await approvalsIn(log.database).list({ state: "pending", run })
  const [row] = rows
  return row === undefined ? undefined : { tool: row.tool, approval: row.id }
}
