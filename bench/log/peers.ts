/**
 * Peers that record what a program did: as many steps, each of which returns a text of the same length, go through each
 * of them. Compared is the processor time of this process for a step, with what the step is written by. A step of ours
 * is what a round of an agent writes of one call: its beginning, what it may do, its end.
 */
import { join } from "node:path"
import { openDatabase, runLog } from "@toolwright/store"
import { postgresBinaries, startPostgres } from "../../packages/tools-database/src/testing/postgres-server.ts"
import { installPeers } from "../peers.ts"
import { cpuOf, median } from "./measure.ts"

/** As many as OpenWorkflow lets one workflow have, with room for what it does itself. */
const STEPS = 900
const TAKES = 5
const RESULT = "x".repeat(500)

const PEERS = { openworkflow: "0.10.1", "@dbos-inc/dbos-sdk": "5.3.0" }

export interface PeerFigures {
  figures: Record<string, number>
  ratios: Record<string, number>
}

type Load = ReturnType<typeof installPeers>["load"]
type Side = () => Promise<void>

/** @param folder for the databases */
export async function measurePeers(folder: string): Promise<PeerFigures> {
  const { load } = installPeers("log", PEERS)
  const binaries = postgresBinaries()
  await using server = binaries === undefined ? undefined : await startPostgres(binaries)
  const workflow = await openWorkflow(load, join(folder, "workflow.sqlite"))
  const dbos = server === undefined ? undefined : await dbosSide(load, server.createDatabase())
  const sqlite = await ownSide(join(folder, "steps.sqlite"))
  const postgres = server === undefined ? undefined : await ownSide(server.createDatabase())
  const sides = { sqlite, openworkflow: workflow, postgres, dbos }
  const steps = await inTurns(
    Object.entries(sides).flatMap(([name, side]) => (side === undefined ? [] : [[name, side.steps] as const])),
  )
  for (const side of Object.values(sides)) await side?.close()
  return {
    figures: Object.fromEntries([...steps].map(([name, value]) => [`step_${name}_cpu_us`, value])),
    ratios: {
      vs_openworkflow: steps.get("openworkflow")! / steps.get("sqlite")!,
      ...(dbos === undefined ? {} : { vs_dbos: steps.get("dbos")! / steps.get("postgres")! }),
    },
  }
}

/** Microseconds for a step of each, in turns, after one that is not counted. */
async function inTurns(sides: readonly (readonly [string, Side])[]): Promise<Map<string, number>> {
  const taken = new Map(sides.map(([name]) => [name, [] as number[]]))
  for (let take = 0; take <= TAKES; take++)
    for (const [name, side] of sides) {
      const milliseconds = await cpuOf(side)
      if (take > 0) taken.get(name)!.push((milliseconds * 1000) / STEPS)
    }
  return new Map([...taken].map(([name, values]) => [name, median(values)]))
}

interface Contestant {
  /** Goes through all steps once. */
  steps: Side
  close(): Promise<void>
}

async function ownSide(address: string): Promise<Contestant> {
  const database = await openDatabase(address)
  const log = runLog(database)
  let count = 0
  return {
    async steps() {
      const id = `run-${count++}`
      const run = { id, agent: "a", model: "m", title: "t", surface: "bench", holder: "here/1/", time: 1 }
      const writer = await log.begin(run)
      const event = (type: string, body: object) => ({ type, body: JSON.stringify(body), time: 1 })
      for (let at = 0; at < STEPS; at++) {
        await writer.append([event("tool-start", { callId: `c${at}` }), event("effect-start", { callId: `c${at}` })])
        await writer.append([event("tool-end", { callId: `c${at}`, result: RESULT })])
      }
      await writer.end([event("run-end", {})], { outcome: "completed", summary: "{}", time: 2 })
    },
    close: () => database.close(),
  }
}

interface OpenWorkflowModule {
  OpenWorkflow: new (options: object) => {
    defineWorkflow(
      spec: { name: string },
      work: (given: { step: { run(spec: { name: string }, work: () => unknown): Promise<unknown> } }) => unknown,
    ): { run(input?: object): Promise<{ result(): Promise<unknown> }> }
    newWorker(options: object): { start(): Promise<void>; stop(): Promise<void> }
  }
}

async function openWorkflow(load: Load, path: string): Promise<Contestant> {
  const [{ OpenWorkflow }, { BackendSqlite }] = await Promise.all([
    load<OpenWorkflowModule>("openworkflow"),
    load<{ BackendSqlite: { connect(path: string): { stop(): Promise<void> } } }>("openworkflow/sqlite"),
  ])
  const backend = BackendSqlite.connect(path)
  const all = new OpenWorkflow({ backend })
  const workflow = all.defineWorkflow({ name: "steps" }, async ({ step }) => {
    for (let at = 0; at < STEPS; at++) await step.run({ name: `s${at}` }, () => RESULT)
  })
  const worker = all.newWorker({ concurrency: 1 })
  await worker.start()
  return {
    steps: async () => void (await (await workflow.run({})).result()),
    async close() {
      await worker.stop()
      await backend.stop()
    },
  }
}

interface DbosModule {
  DBOS: {
    setConfig(config: object): void
    launch(): Promise<void>
    shutdown(): Promise<void>
    registerWorkflow(work: () => Promise<void>, options: { name: string }): () => Promise<void>
    runStep(work: () => Promise<string>, options: { name: string }): Promise<string>
  }
}

async function dbosSide(load: Load, systemDatabaseUrl: string): Promise<Contestant> {
  const { DBOS } = await load<DbosModule>("@dbos-inc/dbos-sdk")
  const work = async (): Promise<void> => {
    for (let at = 0; at < STEPS; at++) await DBOS.runStep(async () => RESULT, { name: `s${at}` })
  }
  const workflow = DBOS.registerWorkflow(work, { name: "steps" })
  DBOS.setConfig({
    name: "bench",
    applicationVersion: "1",
    systemDatabaseUrl,
    logLevel: "error",
    runAdminServer: false,
  })
  await DBOS.launch()
  return { steps: () => workflow(), close: () => DBOS.shutdown() }
}
