import { hasModel, newRunId, type AgentProfile, type RunEvent, type Toolwright } from "@toolwright/runtime"
import type { RunStarter } from "@toolwright/server"
import { ToolwrightError } from "@toolwright/toolbox"

const SURFACE = "console"

/**
 * Starts runs for people who watch them elsewhere: the run goes on by itself, and whatever it does stands in the log.
 * Without a token agents are offered only tools that read.
 */
export function runStarter(toolwright: Toolwright, secured: boolean): RunStarter & AsyncDisposable {
  const { offered, agentNamed } = offeredAgents(toolwright, secured)
  const running = runsHere(toolwright)

  // Whoever watches a run can be asked; without a token nobody permits anything.
  const asking = secured ? { approvals: "wait" as const } : {}

  /** Goes on with a run that nobody holds. */
  const goOn = (id: string, agent: AgentProfile): Promise<string> =>
    running.begin(id, (signal) => toolwright.resume(id, { agent, shared: !agent.changesWorkspace, signal, ...asking }))

  return {
    agents: async () =>
      (await offered()).map(({ name, description, changesWorkspace }) => ({ name, description, changesWorkspace })),
    async start({ agent, task }) {
      const runId = newRunId()
      const profile = await agentNamed(agent)
      return running.begin(runId, (signal) =>
        toolwright.run(task, {
          agent: profile,
          runId,
          surface: SURFACE,
          shared: !profile.changesWorkspace,
          signal,
          ...asking,
        }),
      )
    },
    async branch(run, seq, edit) {
      const agent = await agentNamed((await (await toolwright.log.open()).find(run)).agent)
      const options = { at: seq, surface: SURFACE, keepFiles: !secured, ...(edit === undefined ? {} : { edit }) }
      return goOn(await toolwright.branch(run, options), agent)
    },
    async resume(run) {
      const row = await (await toolwright.log.open()).find(run)
      return goOn(row.id, await agentNamed(row.agent))
    },
    async answered(run) {
      const log = await toolwright.log.open()
      let row = await log.get(run)
      // What an agent asks that a call asked for, holds up whoever made the call: it goes on from the top.
      while (row !== undefined && row.asked_by !== null) row = await log.get(row.asked_by)
      if (row?.state !== "waiting" || ![SURFACE, "gateway"].includes(row.surface)) return
      // Another question may be open still: then it waits again.
      await goOn(row.id, await agentNamed(row.agent))
    },
    stop: (run) => running.stop(run),
    ...(secured
      ? { undo: (run, by) => toolwright.undo(run, { surface: "http", ...(by === undefined ? {} : { by }) }) }
      : {}),
    [Symbol.asyncDispose]: () => running.end(),
  }
}

/** Runs that go on by themselves, in this process. */
function runsHere(toolwright: Toolwright) {
  const running = new Map<string, { stop: AbortController; done: Promise<void> }>()
  /** Waits for the first event: from then on the run is on record, and what becomes of it stands there. */
  async function begin(id: string, open: (signal: AbortSignal) => AsyncGenerator<RunEvent, unknown>): Promise<string> {
    if (!hasModel(toolwright.configuration))
      throw new ToolwrightError("NO_MODEL", "The server has no model.", {
        hint: "Start it with --model NAME --base-url URL, or --backend pocket.",
      })
    const stop = new AbortController()
    const events = open(stop.signal)
    await events.next()
    const done = (async () => {
      for await (const _event of { [Symbol.asyncIterator]: () => events });
    })()
      .catch(() => {})
      .finally(() => running.delete(id))
    running.set(id, { stop, done })
    return id
  }

  return {
    begin,
    stop(run: string): boolean {
      const found = running.get(run)
      found?.stop.abort(new Error("stopped by a person"))
      return found !== undefined
    },
    async end(): Promise<void> {
      for (const { stop } of running.values()) stop.abort(new Error("the server ends"))
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}

/** The agents that runs can be started with. */
function offeredAgents({ agents }: Toolwright, secured: boolean) {
  /** An owner that was told no files has nothing to do. */
  const isOffered = (profile: AgentProfile): boolean =>
    (profile.ownsFiles !== true || profile.files !== undefined) && (secured || offersReading(profile))

  const offered = async (): Promise<AgentProfile[]> => {
    const all = await Promise.all((await agents.list()).map(({ name }) => agents.find(name).catch(cannotRun)))
    return all.flatMap((profile) => (profile !== undefined && isOffered(profile) ? [profile] : []))
  }

  const agentNamed = async (name: string): Promise<AgentProfile> => {
    const profile = await agents.find(name)
    if (!isOffered(profile))
      throw new ToolwrightError("UNKNOWN_AGENT", `There is no agent '${name}' here.`, {
        hint: `There are: ${(await offered()).map((each) => each.name).join(", ")}.`,
      })
    return secured ? profile : { ...profile, tools: { ...profile.tools, readOnly: true } }
  }
  return { offered, agentNamed }
}

/** Agents that have something to do where nothing may be changed. */
const offersReading = ({ name, changesWorkspace }: AgentProfile): boolean => name === "assistant" || !changesWorkspace

/** One agent that cannot run as it is, since its base is gone or its file has another owner, hides no other. */
function cannotRun(thrown: unknown): undefined {
  if (!ToolwrightError.isInstance(thrown)) throw thrown
}
