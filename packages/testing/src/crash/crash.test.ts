import { spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { openDatabase, runLog, verifyRun, type RunLog } from "../../../store/src/index.ts"
import type { Toolwright } from "@toolwright/runtime"
import type { RunSummary } from "@toolwright/toolbox"
import { afterAll, expect, test } from "vitest"
import { builtProgram } from "../../../cli/src/testing/built-command.ts"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { crashAfter, crashBefore } from "./crash.ts"
import { agentAt, ANSWER, PLAY } from "./testing/agent.ts"
import { newRepository, newWorld, type World } from "./testing/world.ts"

/**
 * All boundaries are tried where this is set, from the one of its number on, and a few, spread over the run, otherwise.
 */
const FROM = Number(process.env["TOOLWRIGHT_EVERY_CRASH"] ?? 0)
const EVERY = FROM > 0
const SAMPLE = 4
const MAIN = await builtProgram("crashing-agent")

interface CrashPoint {
  moment: "before" | "after"
  seq: number
}

const repository = newRepository()
afterAll(() => rmSync(repository, { recursive: true, force: true }))

onBothDatabases("an agent that is killed goes on to the same end", (address) => {
  test(
    `at ${EVERY ? "every" : "some of the"} boundaries between the events of its run`,
    { timeout: 7_200_000 },
    async () => {
      const database = address()
      await using calm = await newWorld(repository, database)
      const { summary, writes } = await uninterrupted(calm)
      expect(summary).toMatchObject({ success: true, message: ANSWER, rounds: PLAY.length + 1, failedCalls: 0 })
      const points = await boundaries(database, writes)
      const tried = EVERY ? points.slice(FROM - 1) : spread(points, SAMPLE)
      const unknown: CrashPoint[] = []
      for (const [at, point] of tried.entries()) {
        if (await killedAt(point, { database, calm })) unknown.push(point)
        if (EVERY) process.stdout.write(`${at + 1} of ${tried.length}: ${point.moment} ${point.seq}\n`)
      }
      if (EVERY)
        process.stdout.write(`${tried.length} kills, ${unknown.length} unknown outcomes: ${JSON.stringify(unknown)}\n`)
      // Only those of the one call that declares nothing: begun, and its end not on record.
      expect(unknown.length).toBeLessThanOrEqual(2)
      if (FROM === 1) expect(unknown.length).toBeGreaterThan(0)
    },
  )
})

/**
 * Each moment at which what a killed process leaves is another: after each write, and before the one that follows on
 * the beginning of an effect, which has happened by then.
 */
async function boundaries(database: string, writes: readonly number[]): Promise<CrashPoint[]> {
  await using opened = await openDatabase(database)
  const types = new Map((await runLog(opened).events("calm")).map(({ seq, type }) => [seq, type]))
  return writes
    .slice(0, -1)
    .flatMap((seq, at): CrashPoint[] => [
      { moment: "after", seq },
      ...(types.get(seq) === "effect-start" ? [{ moment: "before", seq: writes[at + 1]! } as const] : []),
    ])
}

/** Runs the agent to its end, and notes after which events the log was written. */
async function uninterrupted({ place }: World): Promise<{ summary: RunSummary; writes: number[] }> {
  const { subscribe, unsubscribe } = await import("node:diagnostics_channel")
  const writes: number[] = []
  const note = (told: unknown): void => {
    const { moment, seq } = told as CrashPoint
    if (moment === "after") writes.push(seq)
  }
  subscribe("toolwright:log-write", note)
  try {
    await using toolwright = await agentAt(place)
    return { summary: await toolwright.complete("Do all of it.", { runId: "calm" }), writes }
  } finally {
    unsubscribe("toolwright:log-write", note)
  }
}

/** Kills the agent there and goes on with its run. @returns whether an outcome is unknown, and told */
async function killedAt(
  { moment, seq }: CrashPoint,
  { database, calm }: { database: string; calm: World },
): Promise<boolean> {
  await using world = await newWorld(repository, database)
  const runId = `${moment}-${seq}`
  const env = moment === "after" ? crashAfter(seq) : crashBefore(seq)
  const end = await ended([MAIN, JSON.stringify(world.place), runId], env)
  // What is told of a program while it runs differs from run to run: the last events may not come in this one.
  if (end === 0) {
    expect(world.state(), runId).toEqual(calm.state())
    return false
  }
  expect(end, runId).toBe("SIGKILL")

  await using toolwright = await agentAt(world.place)
  const row = await (await toolwright.log.open()).get(runId)
  const summary =
    row?.state === "ended" ? (JSON.parse(row.summary!) as RunSummary) : await goneOnWith(toolwright, runId)
  const isUnknown = summary.notes?.some(({ code }) => code === "OUTCOME_UNKNOWN") === true
  const { rings } = world.effects
  if (isUnknown) expect(rings, runId).toBeLessThanOrEqual(1)
  else expect(summary, runId).toMatchObject({ success: true, message: ANSWER, failedCalls: 0 })
  expect({ ...world.state(), rings: isUnknown ? 1 : rings }, runId).toEqual(calm.state())
  await using opened = await openDatabase(database)
  await wholeOnRecord(runLog(opened), runId, isUnknown)
  return isUnknown
}

async function goneOnWith(toolwright: Toolwright, runId: string): Promise<RunSummary> {
  const run = toolwright.resume(runId, { takeOver: true })
  for (;;) {
    const step = await run.next()
    if (step.done) return step.value
  }
}

/** Each call has one end on record, and the chain of events holds. */
async function wholeOnRecord(log: RunLog, runId: string, isUnknown: boolean): Promise<void> {
  expect((await verifyRun(log.database, runId)).broken, runId).toBeUndefined()
  const read = (await log.events(runId)).flatMap(({ type, body }) =>
    type === "tool-end"
      ? [JSON.parse(body!) as { callId: string; name: string; result: { error?: { code: string } } }]
      : [],
  )
  const ids = PLAY.flatMap((calls, round) => calls.map((_, index) => `c${round}_${index}`))
  expect(
    read.map(({ callId }) => callId),
    runId,
  ).toEqual(ids)
  const failed = read.filter(({ result }) => result.error !== undefined)
  expect(
    failed.map(({ name, result }) => [name, result.error!.code]),
    runId,
  ).toEqual(isUnknown ? [["mails_ring", "OUTCOME_UNKNOWN"]] : [])
}

function ended(args: readonly string[], crash: Record<string, string>): Promise<string | number | null> {
  const { NODE_COMPILE_CACHE } = process.env
  const env = { ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...crash }
  const child = spawn(process.execPath, args, {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  })
  return new Promise((resolve) => child.on("exit", (code, signal) => resolve(signal ?? code)))
}

/** Some of a list, from its beginning to its end. */
function spread<Value>(list: readonly Value[], count: number): Value[] {
  return Array.from({ length: count }, (_, at) => list[Math.round((at * (list.length - 1)) / (count - 1))]!)
}
