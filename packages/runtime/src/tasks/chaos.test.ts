import { spawn, type ChildProcess } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openDatabase, taskQueue, verifyRun, type Database } from "@toolwright/store"
import { describe, expect, test, vi } from "vitest"
import { builtProgram } from "../../../cli/src/testing/built-command.ts"
import { postgresBinaries, startPostgres } from "../../../tools-database/src/testing/postgres-server.ts"
import type { ChaosWorker } from "./testing/chaos-worker.ts"

/** How many seeds are played, each with a thousand tasks, where this is set; a few tasks with one seed otherwise. */
const SEEDS = Number(process.env["TOOLWRIGHT_CHAOS_SEEDS"] ?? 0)
const FULL = SEEDS > 0
const TASKS = FULL ? 1_000 : 40
/** Somebody is killed after as many effects on average. */
const EVERY = FULL ? 60 : 12
const LEASE_MS = 2_000
/** How long somebody sleeps who sleeps too long. */
const SLEEP_MS = LEASE_MS * 2
const WORKERS = 3
const MAIN = await builtProgram("chaos-worker")
const binaries = postgresBinaries()

describe("three workers of which some are killed and some sleep too long", () => {
  test.each(seeds())("SQLite, seed %d", { timeout: 3_600_000 }, async (seed) => {
    const folder = mkdtempSync(join(tmpdir(), "chaos-"))
    try {
      await play({ seed, folder, database: join(folder, "state.sqlite") })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test.skipIf(binaries === undefined).each(seeds())(
    "PostgreSQL, seed %d (skipped where its server is not installed)",
    { timeout: 3_600_000 },
    async (seed) => {
      const folder = mkdtempSync(join(tmpdir(), "chaos-"))
      await using server = await startPostgres(binaries!)
      try {
        // With every fourth seed the server is killed too.
        const crash = seed % 4 === 1 ? () => server.crash() : undefined
        await play({ seed, folder, database: server.createDatabase(), ...(crash === undefined ? {} : { crash }) })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  )
})

interface Play {
  seed: number
  folder: string
  database: string
  /** Kills the database, and starts it again. */
  crash?: () => Promise<void>
}

async function play({ seed, folder, database: address, crash }: Play): Promise<void> {
  const chance = chances(seed)
  await using ledger = await newLedger()
  const queue = taskQueue(await openDatabase(address))
  await using _closed = { [Symbol.asyncDispose]: () => queue.database.close() }
  await queue.addAll(
    Array.from({ length: TASKS }, (_, at) => ({
      agent: "assistant",
      input: `task ${at}`,
      priority: Math.floor(chance() * 5),
      maxAttempts: 1_000,
      // Where the database is not the folder's own, tasks say where they are done.
      workspace: folder,
    })),
  )
  await using crew = newCrew({ cwd: folder, database: address, url: ledger.url, lease: LEASE_MS })
  let next = Math.ceil(chance() * EVERY)
  let crashing: Promise<void> | undefined
  ledger.onEffect = (count) => {
    if (count < next) return
    next = count + Math.ceil(chance() * 2 * EVERY)
    const what = chance()
    const member = Math.floor(chance() * WORKERS)
    if (what < 0.25) crew.sleep(member)
    else crew.kill(member)
    if (crash !== undefined && crashing === undefined && count > TASKS / 2) crashing = crash()
  }
  const open = async (): Promise<number> => {
    const { done = 0, failed = 0 } = await queue.counts().catch(() => ({ done: 0, failed: 0 }))
    return TASKS - done - failed
  }
  await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 3_000_000, interval: 250 })
  await crashing
  crew.wake()
  await crew.drained()
  expect(crew.killed).toBeGreaterThan(0)
  if (FULL)
    process.stdout.write(`seed ${seed}: ${crew.killed} killed, ${crew.slept} slept too long, ${ledger.calls} calls\n`)
  await judge(queue.database, ledger.effects)
}

/** Every task is done once, every start has an end, and the urgent ones began first. */
async function judge(database: Database, effects: ReadonlyMap<string, string>): Promise<void> {
  // First, so that a failure says of which task and why.
  const undone = await database.query("SELECT input, state, attempts, reason, run FROM tasks WHERE state <> 'done'")
  expect(undone).toEqual([])
  const rows = await database.query<{ id: string; input: string; priority: number; run: string; started_at: number }>(
    "SELECT id, input, priority, run, started_at FROM tasks WHERE state = 'done'",
  )
  expect(rows).toHaveLength(TASKS)
  // One key each, so that no effect came about twice.
  const paid = [...effects.values()].toSorted()
  expect(paid).toEqual(
    rows
      .map(({ input }) => JSON.parse(input) as { task?: string } | string)
      .map(String)
      .toSorted(),
  )

  const runs = await database.query<{ id: string; state: string; outcome: string }>(
    "SELECT id, state, outcome FROM runs",
  )
  expect(runs.map(({ id }) => id).toSorted()).toEqual(rows.map(({ run }) => run).toSorted())
  expect(new Set(runs.map(({ state, outcome }) => `${state} ${outcome}`))).toEqual(new Set(["ended completed"]))
  const [{ open } = { open: -1 }] = await database.query<{ open: number }>(
    "SELECT COUNT(*) AS open FROM effects WHERE state <> 'done'",
  )
  expect(Number(open)).toBe(0)
  const counts = await database.query<{ run: string; ends: number }>(
    "SELECT run, COUNT(*) AS ends FROM run_events WHERE type IN ('tool-end', 'run-end') GROUP BY run",
  )
  expect(counts.every(({ ends }) => Number(ends) === 2)).toBe(true)
  for (const { id } of runs.slice(0, 50)) expect((await verifyRun(database, id)).broken).toBeUndefined()

  const begun = rows.toSorted((a, b) => a.started_at - b.started_at)
  let least = Infinity
  let latest = 0
  for (const { priority, started_at } of begun) {
    // Whoever claims notes the time before the statement runs, and may sleep in between or wait for a sleeper's write:
    // two at once may seem to have changed places.
    if (priority > least) expect(started_at - latest).toBeLessThan(SLEEP_MS + LEASE_MS)
    if (priority < least) [least, latest] = [priority, started_at]
  }
}

interface Ledger extends AsyncDisposable {
  readonly url: string
  /** What was paid, by the keys of the calls. */
  readonly effects: ReadonlyMap<string, string>
  readonly calls: number
  /** Called as each new payment is noted, before whoever asked for it is told. */
  onEffect: (count: number) => void
}

async function newLedger(): Promise<Ledger> {
  const effects = new Map<string, string>()
  let calls = 0
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => void (body += text))
    request.on("end", () => {
      calls++
      const key = String(request.headers["key"])
      const isNew = !effects.has(key)
      effects.set(key, body)
      if (isNew) ledger.onEffect(effects.size)
      response.end(`paid ${body}`)
    })
  })
  // A sleeper finds its connection as it left it: one that was closed meanwhile would be a payment that truly failed.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const ledger: Ledger = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects,
    get calls() {
      return calls
    },
    onEffect() {},
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return ledger
}

interface Crew extends AsyncDisposable {
  readonly killed: number
  readonly slept: number
  /** Kills one, in whose place another begins. */
  kill(member: number): void
  /** Stops one for longer than its lease: it wakes up as somebody whose tasks others have by then. */
  sleep(member: number): void
  wake(): void
  drained(): Promise<void>
}

function newCrew(settings: ChaosWorker): Crew {
  const start = (): ChildProcess =>
    spawn(process.execPath, [MAIN, JSON.stringify(settings)], { stdio: ["ignore", "ignore", "inherit"] })
  const members = Array.from({ length: WORKERS }, start)
  let [killed, slept] = [0, 0]
  let sleeper: { child: ChildProcess; timer: NodeJS.Timeout } | undefined
  const wake = (): void => {
    clearTimeout(sleeper?.timer)
    sleeper?.child.kill("SIGCONT")
    sleeper = undefined
  }
  const ended = (child: ChildProcess): Promise<void> =>
    child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : new Promise((resolve) => child.once("exit", () => resolve()))
  const endAll = async (signal: NodeJS.Signals): Promise<void> => {
    for (const child of members) child.kill(signal)
    await Promise.all(members.map(ended))
  }
  return {
    get killed() {
      return killed
    },
    get slept() {
      return slept
    },
    kill(member) {
      members[member]!.kill("SIGKILL")
      members[member] = start()
      killed++
    },
    sleep(member) {
      if (sleeper !== undefined) return
      const child = members[member]!
      child.kill("SIGSTOP")
      sleeper = { child, timer: setTimeout(wake, SLEEP_MS) }
      slept++
    },
    wake,
    drained: () => endAll("SIGTERM"),
    [Symbol.asyncDispose]: () => {
      wake()
      return endAll("SIGKILL")
    },
  }
}

function seeds(): number[] {
  return Array.from({ length: FULL ? SEEDS : 1 }, (_, seed) => seed + 1)
}

/** Numbers from 0 to 1, the same for the same seed. */
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
