import { newRunId, PROFILES, type AgentLimits, type AgentProfile } from "@toolwright/agents"
import { createNetworkHost } from "@toolwright/host/net"
import { createToolHost } from "@toolwright/host/own"
import { createWorkspace } from "@toolwright/host/paths"
import {
  ERROR_AREAS,
  messageOf,
  ToolwrightError,
  type RunEvent,
  type RunSummary,
  type TrialResult,
} from "@toolwright/toolbox"
import { commandLimits } from "../assembly/command-limits.ts"
import { createToolwright, type Toolwright, type ToolwrightOptions } from "../toolwright.ts"
import type { PlannedTrial } from "./given.ts"
import { allOf, gradeAll } from "./graders/grade.ts"
import type { EndedTrial, Judgement, TrialCall } from "./graders/kind.ts"
import type { SuiteTask } from "./suite.ts"
import { trialFolder } from "./trial-folder.ts"

/** What a trial is made with. */
export interface TrialParts {
  task: SuiteTask
  agent: string
  limits: AgentLimits
  /** Where the files to start from are. */
  suiteFolder: string
  /** Everything but the folder, of a Toolwright of its own. */
  settings(): ToolwrightOptions | Promise<ToolwrightOptions>
  /** Where its run is recorded. */
  database: string
  /** The evaluation that it belongs to. */
  evaluation: string
  judge(question: string, about: PlannedTrial): Promise<Judgement>
  signal: AbortSignal
  /** Keeps the folders of trials that do not pass. */
  keep: boolean
}

/** What a run came to, as far as it was seen. */
interface Seen {
  run: string
  summary: RunSummary
  calls: (TrialCall & { ran: boolean })[]
  error?: { code: string; message: string }
}

const MOST_ANSWER = 4_000
/** Failures of a model's server, its key or its script: of the agent they tell nothing. */
const UNTOLD: ReadonlySet<string> = new Set(
  [...Object.keys(ERROR_AREAS.Models), "LOG_UNWRITABLE", "DATABASE_UNAVAILABLE", "STALE_RUN", "RUN_FAILED"].filter(
    // What these are about is what the agent had said or read by then.
    (code) => !["CONTEXT_EXCEEDED", "REPLY_TOO_LONG", "GRAMMAR_DEAD_END"].includes(code),
  ),
)

/**
 * Makes one trial: a run in a folder of its own, and the grades of what it left.
 *
 * @throws the signal's reason where it was aborted meanwhile
 */
export async function makeTrial(planned: PlannedTrial, parts: TrialParts): Promise<TrialResult> {
  const begun = performance.now()
  const result = await tried(planned, parts).catch((thrown: unknown): TrialResult => {
    parts.signal.throwIfAborted()
    return untold(planned, {
      code: ToolwrightError.isInstance(thrown) ? thrown.code : "UNEXPECTED",
      message: messageOf(thrown),
    })
  })
  parts.signal.throwIfAborted()
  return { ...result, milliseconds: Math.round(performance.now() - begun) }
}

async function tried(planned: PlannedTrial, parts: TrialParts): Promise<TrialResult> {
  using folder = await trialFolder(parts.task, parts.suiteFolder, parts.keep)
  const settings = await parts.settings()
  const seen = await ran(planned, folder.path, { ...parts, settings })
  const { summary, run, calls } = seen
  const common = {
    ...planned,
    run,
    outcome: summary.outcome,
    answer: summary.message.slice(0, MOST_ANSWER),
    calls: summary.calls,
    failedCalls: summary.failedCalls,
    rounds: summary.rounds,
    inputTokens: summary.inputTokens,
    outputTokens: summary.outputTokens,
    milliseconds: 0,
    changed: summary.modifiedFiles,
  }
  if (seen.error !== undefined && UNTOLD.has(seen.error.code)) {
    return { ...common, verdict: "error", grades: [], error: seen.error }
  }
  const ended: EndedTrial = {
    task: parts.task.task,
    answer: summary.message,
    ...(summary.output === undefined ? {} : { output: summary.output }),
    outcome: summary.outcome,
    calls: calls.filter((call) => call.ran),
    attempted: calls,
    host: hostIn(folder.path, settings, parts.signal),
    judge: (question) => parts.judge(question, planned),
  }
  const grades = await gradeAll(parts.task.graders, ended)
  const { verdict, score } = allOf(grades)
  const kept = parts.keep && verdict !== "pass"
  if (kept) folder.keep()
  return {
    ...common,
    verdict,
    ...(score === undefined ? {} : { score }),
    grades,
    ...(seen.error === undefined ? {} : { error: seen.error }),
    ...(kept ? { folder: folder.path } : {}),
  }
}

/** What the run of a trial is made with. */
type RunParts = Omit<TrialParts, "settings"> & { settings: ToolwrightOptions }

async function ran(planned: PlannedTrial, folder: string, parts: RunParts): Promise<Seen> {
  const { settings, database, task, agent, evaluation, signal } = parts
  const kits = PROFILES.find(({ name }) => name === agent)?.kits
  await using toolwright = await createToolwright({
    withBuiltins: true,
    ...settings,
    workspace: { ...settings.workspace, roots: [folder] },
    runs: { ...settings.runs, database },
    // Nobody is at hand to be asked, and the folder goes with all that was changed in it.
    permissions: { ...settings.permissions, approvals: "deny" },
    undo: { ...settings.undo, enabled: false },
    ...(kits === undefined || settings.builtins?.kits !== undefined
      ? {}
      : { builtins: { ...settings.builtins, kits: [...kits] } }),
  })
  const run = newRunId()
  const { rounds } = parts.limits
  const events = toolwright.run(task.task, {
    agent: await limited(toolwright, agent, parts.limits),
    runId: run,
    surface: "trial",
    signal,
    askedBy: { run: evaluation, call: `${planned.task}/${planned.model}/${planned.trial}`, key: run },
    ...(task.owns === undefined ? {} : { files: task.owns }),
    ...(task.output === undefined ? {} : { output: task.output }),
    ...(rounds === undefined ? {} : { maxRounds: rounds }),
  })
  const calls = new Map<string, Seen["calls"][number]>()
  let error: Seen["error"]
  let step = await events.next()
  for (; !step.done; step = await events.next()) {
    note(step.value, calls)
    if (step.value.type === "run-end") error = step.value.error
  }
  return { run, summary: step.value, calls: [...calls.values()], ...(error === undefined ? {} : { error }) }
}

function note(event: RunEvent, calls: Map<string, Seen["calls"][number]>): void {
  if (event.type === "tool-start") {
    const { name, arguments: args, refused } = event
    calls.set(event.callId, { name, arguments: args, succeeded: false, ran: refused !== true })
  } else if (event.type === "tool-end") {
    const call = calls.get(event.callId)
    if (call === undefined) return
    const { ruling, answer } = event.permission ?? {}
    if (ruling === "deny" || (answer !== undefined && answer !== "approved")) call.ran = false
    call.succeeded = event.result.success
  }
}

async function limited(toolwright: Toolwright, agent: string, limits: AgentLimits): Promise<AgentProfile> {
  const profile = await toolwright.agents.find(agent)
  const { tokens, seconds } = limits
  return {
    ...profile,
    ...(tokens === undefined ? {} : { maxTokens: tokens }),
    ...(seconds === undefined ? {} : { maxSeconds: seconds }),
  }
}

/** What graders may touch: the folder alone, and programs in the sandbox that commands of agents have. */
function hostIn(
  folder: string,
  { builtins, env, log = () => {} }: ToolwrightOptions,
  signal: AbortSignal,
): EndedTrial["host"] {
  const { sandbox } = builtins?.bash ?? {}
  const workspace = createWorkspace({ roots: [{ path: folder, access: "read-write" }], denyRead: [], denyWrite: [] })
  return createToolHost({
    workspace,
    network: createNetworkHost({}, env),
    processes: { ...(sandbox === undefined ? {} : { sandbox }), limits: commandLimits(builtins?.limits) },
    log,
  })({ signal })
}

function untold(planned: PlannedTrial, error: { code: string; message: string }): TrialResult {
  return {
    ...planned,
    verdict: "error",
    grades: [],
    answer: "",
    calls: 0,
    failedCalls: 0,
    rounds: 0,
    inputTokens: 0,
    outputTokens: 0,
    milliseconds: 0,
    changed: [],
    error,
  }
}
