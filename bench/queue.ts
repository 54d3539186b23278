/**
 * The task queue beside bare `pg-boss` on the same PostgreSQL server, and on SQLite: tasks a second from the order to
 * its end with ten that work side by side, and how long one task takes from its order to its end where nothing else
 * waits. Both take and end one task at a time; both write every state down. Also what it costs to list tasks where
 * there are very many.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openDatabase, taskQueue, type TaskQueue } from "@toolwright/store"
import { postgresBinaries, startPostgres } from "../packages/tools-database/src/testing/postgres-server.ts"
import { installPeers } from "./peers.ts"
import type { BenchmarkResult } from "./run.ts"

const TASKS = 1000
const SINGLE = 100
const WORKERS = 10
const LISTED = 100_000
const ROUNDS = 3

/** One side: an empty queue that takes orders and works them off. */
interface Side {
  add(count: number): Promise<void>
  /** Takes and ends one; false where there is none. */
  one(): Promise<boolean>
}

interface Boss {
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string): Promise<void>
  insert(name: string, jobs: object[]): Promise<unknown>
  fetch(name: string): Promise<{ id: string }[]>
  complete(name: string, id: string): Promise<unknown>
  on(event: "error", listener: () => void): void
}

export async function run(): Promise<BenchmarkResult> {
  const binaries = postgresBinaries()
  if (binaries === undefined) throw new Error("PostgreSQL's server is not installed: apt-get install postgresql")
  const folder = mkdtempSync(join(tmpdir(), "bench-queue-"))
  try {
    await using server = await startPostgres(binaries)
    await using postgres = await openDatabase(server.createDatabase())
    await using sqlite = await openDatabase(join(folder, "state.sqlite"))
    const boss = await startBoss(server.createDatabase())
    const sides = {
      postgres: ourSide(taskQueue(postgres)),
      sqlite: ourSide(taskQueue(sqlite)),
      pg_boss: bossSide(boss),
    }
    const measured = await measureAll(sides)
    await boss.stop({ graceful: false })
    const list = await listCost(taskQueue(sqlite), join(folder, "state.sqlite"))
    return { figures: { ...measured.figures, ...list.figures }, ratios: { ...measured.ratios, ...list.ratios } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function startBoss(url: string): Promise<Boss> {
  const { load } = installPeers("queue", { "pg-boss": "12.35.0" })
  const { PgBoss } = await load<{ PgBoss: new (options: object) => Boss }>("pg-boss")
  const boss = new PgBoss({ connectionString: url, max: 5, supervise: false, schedule: false })
  boss.on("error", () => {})
  await boss.start()
  await boss.createQueue("tasks")
  return boss
}

function ourSide(queue: TaskQueue): Side {
  return {
    add: async (count) =>
      void (await queue.addAll(Array.from({ length: count }, (_, input) => ({ agent: "a", input: { input } })))),
    async one() {
      const [claim] = await queue.claim("bench")
      if (claim === undefined) return false
      await queue.end(claim, { state: "done", result: null })
      return true
    },
  }
}

function bossSide(boss: Boss): Side {
  return {
    add: async (count) =>
      void (await boss.insert(
        "tasks",
        Array.from({ length: count }, (_, input) => ({ data: { input } })),
      )),
    async one() {
      const [job] = await boss.fetch("tasks")
      if (job === undefined) return false
      await boss.complete("tasks", job.id)
      return true
    },
  }
}

type Sides = Record<"postgres" | "sqlite" | "pg_boss", Side>

async function measureAll(sides: Sides): Promise<BenchmarkResult> {
  const names = Object.keys(sides) as (keyof Sides)[]
  const perSecond: Record<string, number[]> = {}
  const latency: Record<string, number[]> = {}
  for (const name of names) await throughput(sides[name], 100)
  for (let round = 0; round < ROUNDS; round++) {
    // Each round in another order, so that none profits from standing first.
    for (const name of [...names.slice(round), ...names.slice(0, round)]) {
      ;(perSecond[name] ??= []).push(await throughput(sides[name], TASKS))
      ;(latency[name] ??= []).push(...(await singles(sides[name])))
    }
  }
  const speed = (name: keyof Sides) => median(perSecond[name]!)
  const wait = (name: keyof Sides) => median(latency[name]!)
  return {
    figures: Object.fromEntries(
      names.flatMap((name) => [
        [`${name}_tasks_per_second`, speed(name)],
        [`${name}_latency_p50_ms`, wait(name)],
      ]),
    ),
    ratios: {
      vs_pg_boss: speed("postgres") / speed("pg_boss"),
      sqlite_vs_pg_boss: speed("sqlite") / speed("pg_boss"),
      latency_vs_pg_boss: wait("pg_boss") / wait("postgres"),
    },
  }
}

async function throughput(side: Side, count: number): Promise<number> {
  const start = performance.now()
  await side.add(count)
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      while (await side.one());
    }),
  )
  return (count / (performance.now() - start)) * 1000
}

async function singles(side: Side): Promise<number[]> {
  const times: number[] = []
  for (let count = 0; count < SINGLE; count++) {
    const start = performance.now()
    await side.add(1)
    await side.one()
    times.push(performance.now() - start)
  }
  return times
}

/** `tasks list` as a process of its own, beside one that does nothing. */
async function listCost(queue: TaskQueue, path: string): Promise<BenchmarkResult> {
  const open = (await queue.list({ limit: 1 })).length
  for (let added = 0; added < LISTED - open; added += 10_000)
    await queue.addAll(Array.from({ length: 10_000 }, (_, input) => ({ agent: "a", input })))
  const cli = join(import.meta.dirname, "../packages/cli/bin/toolwright.js")
  const time = (args: readonly string[]): number => {
    const start = performance.now()
    const { status, stderr } = spawnSync(process.execPath, args, {
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
    })
    if (status !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`)
    return performance.now() - start
  }
  const list = [cli, "tasks", "list", "--database", path]
  const [listed, nothing]: [number[], number[]] = [[], []]
  for (let count = 0; count < 9; count++) {
    listed.push(time(list))
    nothing.push(time(["-e", "0"]))
  }
  return {
    figures: { list_100000_ms: median(listed), node_ms: median(nothing) },
    ratios: { list_vs_node: median(nothing) / median(listed) },
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}
