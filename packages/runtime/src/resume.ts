import {
  DynamicExecutor,
  Encoder,
  foldRun,
  givenTask,
  holderHere,
  isHeld,
  recordOn,
  TEXTS,
  type AgentProfile,
  type ExecutorOptions,
  type FoldedRun,
  type RunRequest,
  type SharedWork,
} from "@toolwright/agents"
import type { RunLog, RunRow, RunWriter } from "@toolwright/store"
import { ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import type { AgentAccess } from "./agents/access.ts"
import type { Place } from "./assembly/place.ts"
import type { Asking } from "./agents/asking.ts"
import { counted, Spent } from "./agents/spent.ts"
import { sharedIn, withAgents, type RunOrigin } from "./runs.ts"

/** What runs go on with. */
export interface ResumeParts {
  open(): Promise<RunLog>
  readonly place: Place
  readonly agents: AgentAccess
  readonly asking: Asking
  /** Whether the runs are made by a model that knows its tools alone. */
  readonly paired: boolean
  /** What a command needs to find the runs' database, as it is typed. */
  readonly there: string
  readonly redact: (text: string) => string
  /** Refuses a run that the model here is not to go on with. */
  readonly checkModelOf: (row: RunRow) => void
  executorOptions(profile: AgentProfile, origin: RunOrigin): Promise<ExecutorOptions>
}

/** Settings of a run that goes on. */
export interface ResumeOptions {
  signal?: AbortSignal
  /** The agent, where it is one of your own. */
  agent?: AgentProfile
  /** Whether other runs may work in the workspace at the same time. */
  shared?: boolean | SharedWork
  /** Whether it is taken even from whoever holds it, who then can write nothing more. */
  takeOver?: boolean
  /** In place of the agent's own. */
  maxRounds?: number
  leaves?: RunRequest["leaves"]
  /** As of a run. */
  approvals?: ExecutorOptions["approvals"]
  /** As of a run. */
  hears?: (event: RunEvent) => void
}

/**
 * Goes on with a run where its log ends: what was done is not done again, and a call that was under way is treated as
 * its tool says. The run is claimed first, so that whoever wrote it before can write nothing more.
 *
 * @param id of the run, its beginning, or `latest`
 * @throws ToolwrightError `RUN_HELD`, `RUN_ENDED`, `UNKNOWN_RUN`, `RUN_UNREADABLE`, `NOTHING_TO_RESUME`, `NO_MODEL`
 */
export async function* resumeRun(
  { open, place, agents, asking, paired, there, redact, checkModelOf, executorOptions }: ResumeParts,
  id: string,
  options: ResumeOptions = {},
): AsyncGenerator<RunEvent, RunSummary> {
  const { agent, maxRounds, approvals, shared = false, takeOver = false } = options
  const log = await open()
  const row = id === "latest" ? await newestOpen(log, there) : await log.find(id)
  const { folded, profile } = await resumable(log, row, agent ?? agents, there)
  checkModelOf(row)
  using _lock = place.take(
    shared !== false || folded.dryRun ? { ...profile, changesWorkspace: false } : profile,
    row.id,
  )
  const spent = new Spent()
  const parts = await withAgents(await executorOptions(profile, { model: row.model }), paired ? undefined : asking, {
    runId: row.id,
    profile,
    spent,
    ...askerOf(row, options),
  })
  const writer = await claim(log, row, takeOver)
  try {
    // Between the first look and the claim, whoever held it may have written more.
    const read = writer.seq === folded.seq ? folded : await foldRun(log.database, await log.events(row.id))
    // A branch begins with the events of another run, and is one of its own.
    const current = { ...read, runId: row.id }
    const { access, completion } = givenTask(profile, current.task, current.given.files)
    const encoder = new Encoder(writer, redact, {})
    const { conversation } = current
    if (conversation !== undefined) encoder.resumeFrom(conversation.messages, conversation.hashes)
    const executor = new DynamicExecutor({
      ...parts,
      access,
      completion: { ...parts.completion, ...completion },
      ...(maxRounds === undefined ? {} : { maxRounds }),
      ...(approvals === undefined ? {} : { approvals }),
      ...sharedIn(shared),
    })
    const events = executor.resume(current, recordOn({ writer, encoder }, { redact }), heardBy(options))
    return yield* counted(events, spent)
  } finally {
    // One whose end could not be written waits for whoever goes on with it.
    await writer.release().catch(() => {})
  }
}

/** What the runs that it asks for have from it. */
function askerOf({ depth, max_depth: max, task }: RunRow, { shared, approvals, leaves, hears }: ResumeOptions) {
  return { nesting: { depth, max }, taskId: task ?? undefined, shared, approvals, leaves, hears }
}

function heardBy({ signal, leaves }: ResumeOptions): Pick<RunRequest, "signal" | "leaves"> {
  return { ...(signal === undefined ? {} : { signal }), ...(leaves === undefined ? {} : { leaves }) }
}

/** How many runs that are under way are looked through for one whose process died. */
const MOST_LOOKED_AT = 200

/**
 * The newest run that waits to be gone on with: of an agent, not a single call, and not of a task, which workers go on
 * with. Where there is none, the newest that is under way or has ended, so that it is said why it cannot go on.
 */
export async function newestOpen(log: RunLog, there = ""): Promise<RunRow> {
  const time = Date.now()
  const of = (state: "waiting" | "running") => log.list({ state, calls: false, askedBy: null, limit: MOST_LOOKED_AT })
  const own = [...(await of("waiting")), ...(await of("running"))]
    .filter(({ task }) => task === null)
    .toSorted((a, b) => b.started_at - a.started_at)
  const [newest] = await log.list({ calls: false, askedBy: null, limit: 1 })
  const found = own.find((row) => row.state === "waiting" || !isHeld(row, time)) ?? own[0] ?? newest
  if (found !== undefined) return found
  throw new ToolwrightError("NOTHING_TO_RESUME", "No run of an agent is on record here.", {
    hint: `'toolwright runs --calls${there}' shows single calls too, which nobody goes on with.`,
  })
}

async function resumable(
  log: RunLog,
  row: RunRow,
  agent: AgentProfile | AgentAccess,
  there: string,
): Promise<{ folded: FoldedRun; profile: AgentProfile }> {
  if (row.state === "ended")
    throw new ToolwrightError("RUN_ENDED", `The run ${row.id} has ended: ${row.outcome}.`, {
      hint: await otherWay(log, row, there),
    })
  if (row.surface === "eval")
    throw new ToolwrightError("NOTHING_TO_RESUME", `${row.id} is an evaluation, and no run of an agent.`, {
      hint: `'toolwright eval resume ${row.id}${there}' makes the trials that are left.`,
    })
  if (row.agent === "")
    throw new ToolwrightError("NOTHING_TO_RESUME", `${row.id} is a single call, which nobody waits for any more.`, {
      hint:
        `'toolwright runs show ${row.id}${there}' shows how far it came. ` +
        "Make the call again if it is still wanted.",
    })
  return {
    folded: await foldRun(log.database, await log.events(row.id)),
    profile: "find" in agent ? await agent.find(row.agent) : agent,
  }
}

/** What can be done in place of going on with a run that has ended. */
async function otherWay(log: RunLog, row: RunRow, there: string): Promise<string> {
  const branch = await branchOf(log, row)
  if (branch === undefined) return "Begin a new one: no round of it ended from which another could go on."
  return (
    `Begin a new one, or go on from the middle of it: ${branch}${there}; ` +
    `'toolwright runs show ${row.id}${there}' numbers its events.`
  )
}

/** The command that goes on behind the last round of a run that has ended; nothing where no round of it did. */
async function branchOf(
  log: RunLog,
  { id, outcome }: { id: string; outcome: string | null },
): Promise<string | undefined> {
  const rounds = (await log.events(id)).filter(({ type }) => type === "round-end")
  // The last round of a run that came to its own end leaves nothing to do.
  const at = rounds.at(outcome?.startsWith("completed") === true ? -2 : -1)?.seq
  return at === undefined ? undefined : `toolwright branch ${id} --at ${at}`
}

/**
 * The command that goes on with a run that was stopped: by somebody, by a failure of its model, or by its rounds, of
 * which it then is given as many again. Nothing where it came to its own end, waits, or has to be begun anew.
 */
export async function wayOn(
  log: RunLog,
  { runId: id, outcome, message, rounds }: RunSummary,
): Promise<string | undefined> {
  const spent = outcome === "max-rounds"
  // Of tokens and time that are used up a branch would have none left either.
  if (spent ? message !== TEXTS.maxRounds : outcome !== "cancelled" && outcome !== "failed") return undefined
  const branch = await branchOf(log, { id, outcome })
  return branch === undefined || !spent ? branch : `${branch} --max-rounds ${2 * rounds}`
}

function claim(log: RunLog, row: RunRow, takeOver: boolean): Promise<RunWriter> {
  const time = Date.now()
  const deadBefore = !takeOver && isHeld(row, time) ? 0 : Number.MAX_SAFE_INTEGER
  return log.claim(row.id, { holder: holderHere(), time, deadBefore })
}
