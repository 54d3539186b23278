/**
 * What the log of runs costs, in processor time of this process, on SQLite files: writing an event beside a bare insert
 * of the same text, what a round adds to the database as a run grows longer, and going on with a run of 2,000 and of
 * 20,000 events, up to the end that its model then gives it. OpenWorkflow, on an SQLite file too, and DBOS, on
 * PostgreSQL, go through as many steps.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { DynamicExecutor, Encoder, foldRun, recordOn, recordRun } from "@toolwright/agents"
import type { Backend, InferEvent } from "@toolwright/backends"
import { openDatabase, runLog, type LogEvent, type RunLog } from "@toolwright/store"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { cpuOf, median } from "./log/measure.ts"
import { measurePeers } from "./log/peers.ts"
import type { BenchmarkResult } from "./run.ts"

const EVENTS = 5_000
const PIECES = 5
const EVENT_BYTES = 500
/** Rounds of the runs whose sizes are compared. */
const [SHORT, LONG] = [50, 800]
const RESUMED = [2_000, 20_000] as const
const TAKES = 5

export async function run(): Promise<BenchmarkResult> {
  const folder = mkdtempSync(join(tmpdir(), "bench-log-"))
  try {
    const written = await writing(folder)
    const [short, long] = [await bytesPerRound(SHORT), await bytesPerRound(LONG)]
    const [near, far] = [await resuming(folder, RESUMED[0]), await resuming(folder, RESUMED[1])]
    const peers = await measurePeers(folder)
    return {
      figures: {
        event_cpu_us: written.ours,
        bare_insert_cpu_us: written.bare,
        [`bytes_per_round_of_${SHORT}`]: short,
        [`bytes_per_round_of_${LONG}`]: long,
        [`resume_${RESUMED[0]}_events_cpu_ms`]: near,
        [`resume_${RESUMED[1]}_events_cpu_ms`]: far,
        resume_growth: far / near,
        ...peers.figures,
      },
      ratios: { vs_bare_insert: written.bare / written.ours, linear_storage: short / long, ...peers.ratios },
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Microseconds for each event that is written by itself, and for the bare insert, in turns. */
async function writing(folder: string): Promise<{ ours: number; bare: number }> {
  await using database = await openDatabase(join(folder, "events.sqlite"))
  const log = runLog(database)
  const writer = await log.begin(newRun("written"))
  const text = JSON.stringify({ text: "x".repeat(EVENT_BYTES - 11) })
  const bare = new DatabaseSync(join(folder, "bare.sqlite"))
  bare.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
  bare.exec("CREATE TABLE events (run TEXT, seq INTEGER, body TEXT, PRIMARY KEY (run, seq)) WITHOUT ROWID")
  const insert = bare.prepare("INSERT INTO events VALUES (?, ?, ?)")
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let piece = 0; piece < PIECES; piece++) {
    ours.push(
      await cpuOf(async () => {
        for (let at = 0; at < EVENTS; at++) await writer.append([{ type: "tool-end", body: text, time: at }])
      }),
    )
    theirs.push(
      await cpuOf(() => {
        for (let at = 0; at < EVENTS; at++) insert.run("written", piece * EVENTS + at, text)
      }),
    )
  }
  bare.close()
  return { ours: (median(ours) * 1000) / EVENTS, bare: (median(theirs) * 1000) / EVENTS }
}

/** What a round adds to the database, by the run's length. */
async function bytesPerRound(rounds: number): Promise<number> {
  await using database = await openDatabase(":memory:")
  const size = async (): Promise<number> => {
    const [row] = await database.query<{ pages: number; bytes: number }>(
      "SELECT page_count AS pages, page_size AS bytes FROM pragma_page_count(), pragma_page_size()",
    )
    return row!.pages * row!.bytes
  }
  const before = await size()
  await played(runLog(database), rounds)
  return ((await size()) - before) / rounds
}

/** Milliseconds of processor time from taking a run over to its end with the next reply. */
async function resuming(folder: string, count: number): Promise<number> {
  await using database = await openDatabase(join(folder, `${count}.sqlite`))
  const log = runLog(database)
  // As many rounds as make so many events, whatever a round writes.
  await played(log, 10, "sample")
  const perRound = ((await log.events("sample")).length - 2) / 10
  await played(log, Math.ceil(count / perRound), "whole")
  const events = (await log.events("whole")).slice(0, count)
  const takes: number[] = []
  for (let take = 0; take <= TAKES; take++) {
    const id = `cut-${take}`
    await copied(log, id, events)
    const milliseconds = await cpuOf(() => goneOn(log, id))
    // The first compiles what it runs.
    if (take > 0) takes.push(milliseconds)
  }
  return median(takes)
}

/** The events of a run as those of another, which its process left behind. */
async function copied(log: RunLog, id: string, events: readonly LogEvent[]): Promise<void> {
  const writer = await log.begin(newRun(id))
  await writer.append(events.map(({ type, body, time }) => ({ type, body: body!, time })))
}

async function goneOn(log: RunLog, id: string): Promise<void> {
  const writer = await log.claim(id, { holder: "here/2/", time: 1e12, deadBefore: 1e15 })
  const folded = await foldRun(log.database, await log.events(id))
  const encoder = new Encoder(writer, (text) => text, {})
  const { conversation } = folded
  if (conversation !== undefined) encoder.resumeFrom(conversation.messages, conversation.hashes)
  let messages = 0
  const executor = new DynamicExecutor({
    tools: tools(),
    maxRounds: Number.MAX_SAFE_INTEGER,
    backend: {
      ...backend(0),
      async *infer({ messages: sent }) {
        messages = sent.length
        yield { type: "text-delta", text: "That will do." }
        yield { type: "end", finishReason: "stop" }
      },
    },
  })
  const run = executor.resume(folded, recordOn({ writer, encoder }))
  for (;;) {
    const step = await run.next()
    if (step.done !== true) continue
    if (messages < folded.rounds) throw new Error(`The model was sent ${messages} messages of ${folded.rounds} rounds`)
    return
  }
}

async function played(log: RunLog, rounds: number, runId = "r"): Promise<void> {
  const executor = new DynamicExecutor({
    tools: tools(),
    backend: backend(rounds),
    maxRounds: rounds + 2,
    recorder: (given) => recordRun(log, { surface: "bench" }, given),
  })
  const run = executor.run({ task: "Look at everything.", runId })
  for (;;) {
    const step = await run.next()
    if (!step.done) continue
    if (step.value.outcome !== "completed") throw new Error(`The run ended ${step.value.outcome}`)
    return
  }
}

function tools(): ToolRegistry {
  const registry = new ToolRegistry()
  registry.register(
    defineTool({
      name: "look",
      description: "Looks at one thing",
      parameters: { type: "object", properties: { at: { type: "integer" } }, required: ["at"] },
      effects: { readOnly: true },
      execute: ({ at }: { at: number }) => `${at}: ${"seen ".repeat(80)}`,
    }),
  )
  return registry
}

/** Calls a tool in so many rounds, and answers. */
function backend(rounds: number): Backend {
  let round = 0
  return {
    kind: "mock",
    abilities: { nativeTools: true, grammar: false, jsonSchema: false },
    modelName: () => "mock",
    async *infer(): AsyncGenerator<InferEvent> {
      const at = round++
      if (at < rounds)
        yield { type: "call-delta", index: 0, id: `c${at}`, name: "look", arguments: JSON.stringify({ at }) }
      else yield { type: "text-delta", text: "All of it was looked at." }
      yield { type: "end", finishReason: at < rounds ? "tool-calls" : "stop" }
    },
  }
}

function newRun(id: string) {
  return { id, agent: "assistant", model: "m", title: "t", surface: "bench", holder: "gone/1/", time: 1 }
}
