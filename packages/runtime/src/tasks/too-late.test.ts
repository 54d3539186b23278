import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openDatabase, taskQueue, verifyRun, type Database, type TaskQueue } from "@toolwright/store"
import { expect, onTestFinished, test, vi } from "vitest"
import { builtProgram } from "../../../cli/src/testing/built-command.ts"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import type { ChaosWorker } from "./testing/chaos-worker.ts"

const MAIN = await builtProgram("chaos-worker")
const LEASE_MS = 300
const PATIENT_MS = 60_000
const MOST_MS = 120_000

/** Where workers pay: once for each key. The answer to a payment may be held back, counted from 1. */
async function newLedger() {
  const payments: { key: string; text: string }[] = []
  const held = new Map<number, PromiseWithResolvers<void>>()
  const server = createServer(async (request, response) => {
    let text = ""
    for await (const piece of request.setEncoding("utf8")) text += String(piece)
    payments.push({ key: String(request.headers["key"]), text: request.url === "/" ? text : request.url! })
    await held.get(payments.length)?.promise
    response.end(`paid ${text}`)
  })
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    payments,
    hold: (payment: number) => void held.set(payment, Promise.withResolvers<void>()),
    answer: (payment: number) => held.get(payment)?.resolve(),
  }
}

interface Member {
  readonly child: ChildProcess
  /** Everything that it said. */
  said(): string
}

function start(settings: ChaosWorker): Member {
  const child = spawn(process.execPath, [MAIN, JSON.stringify(settings)])
  let text = ""
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (piece) => (text += piece))
  onTestFinished(() => void child.kill("SIGKILL"))
  return { child, said: () => text }
}

async function drained({ child }: Member): Promise<number | null> {
  child.kill("SIGTERM")
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  return child.exitCode
}

const until = (condition: () => unknown) => vi.waitFor(condition, { timeout: MOST_MS, interval: 50 })

async function setUp(database: string) {
  const cwd = mkdtempSync(join(tmpdir(), "too-late-"))
  const queue = taskQueue(await openDatabase(database))
  onTestFinished(async () => {
    await queue.database.close()
    rmSync(cwd, { recursive: true, force: true })
  })
  const ledger = await newLedger()
  return { queue, ledger, settings: { cwd, database, url: ledger.url, lease: LEASE_MS } }
}

const inState = (queue: TaskQueue, id: string, state: string) =>
  until(async () => expect(await queue.get(id)).toMatchObject({ state }))

/** All that a worker could have written. */
async function written(database: Database) {
  return {
    tasks: await database.query("SELECT * FROM tasks ORDER BY id"),
    runs: await database.query("SELECT * FROM runs ORDER BY id"),
    events: await database.query("SELECT run, seq, type, fence, hash FROM run_events ORDER BY run, seq"),
    effects: await database.query("SELECT * FROM effects ORDER BY run, call_id"),
  }
}

/** Of whoever has the task the signs of life, which come whenever they come. */
const withoutBeats = ({ tasks, runs, ...rest }: Awaited<ReturnType<typeof written>>) => {
  const still = (rows: readonly unknown[]) => rows.map((row) => ({ ...(row as object), heartbeat: undefined }))
  return { ...rest, tasks: still(tasks), runs: still(runs) }
}

onBothDatabases("a worker whose call takes longer than others wait for a sign of life", (address) => {
  const cases = ["was stopped", "blocked its process"].flatMap((how) =>
    ["has ended", "works"].map((heir) => [how, heir] as const),
  )
  test.each(cases)(
    "and that %s meanwhile writes nothing when it goes on while its heir %s: the task has one effect and one end",
    async (how, heirNow) => {
      const { queue, ledger, settings } = await setUp(address())
      const go = join(settings.cwd, "go")
      const blocks = how === "blocked its process"
      if (!blocks) ledger.hold(1)
      if (heirNow === "works") ledger.hold(2)
      const { id } = await queue.add({ agent: "assistant", input: "pay", workspace: settings.cwd, maxAttempts: 1_000 })
      // It waits for others with patience: what it finds when it goes on is its heir's.
      const zombie = start({ ...settings, lease: PATIENT_MS, ...(blocks ? { blocksUntil: go } : {}) })
      await until(() => expect(ledger.payments).toHaveLength(1))
      if (!blocks) zombie.child.kill("SIGSTOP")
      const heir = start(settings)
      await until(() => expect(ledger.payments).toHaveLength(2))
      if (heirNow === "has ended") await inState(queue, id, "done")
      const before = withoutBeats(await written(queue.database))

      // What it asked for is answered in the moment that it goes on.
      ledger.answer(1)
      if (blocks) writeFileSync(go, "")
      else zombie.child.kill("SIGCONT")
      expect(await drained(zombie)).toBe(0)
      expect(withoutBeats(await written(queue.database))).toEqual(before)

      ledger.answer(2)
      await inState(queue, id, "done")
      expect(await drained(heir)).toBe(0)
      await oneEffect(queue, id, ledger.payments)
    },
    MOST_MS,
  )

  async function oneEffect(queue: TaskQueue, id: string, payments: readonly { key: string }[]): Promise<void> {
    expect(new Set(payments.map(({ key }) => key)).size).toBe(1)
    const { run, fence } = (await queue.get(id))!
    expect(fence).toBeGreaterThan(1)
    const { runs, events, effects } = await written(queue.database)
    expect(runs).toMatchObject([{ id: run, state: "ended", outcome: "completed" }])
    expect(effects).toMatchObject([{ state: "done" }])
    const types = (events as { type: string }[]).map(({ type }) => type)
    expect(types.filter((type) => type === "tool-end" || type === "run-end")).toEqual(["tool-end", "run-end"])
    expect((await verifyRun(queue.database, run!)).broken).toBeUndefined()
  }
})

onBothDatabases("two processes that queue forty tasks each, and work on all of them at once", (address) => {
  test(
    "lose none, do none twice, and never find the database locked",
    async () => {
      const { queue, ledger, settings } = await setUp(address())
      const names = ["a", "b"].map((who) => Array.from({ length: 40 }, (_, at) => `${who}${at}`))
      const members = names.map((queues) => start({ ...settings, lease: 30_000, queues }))
      await until(async () => expect(await queue.counts()).toEqual({ done: 80 }))
      for (const member of members) {
        expect(await drained(member)).toBe(0)
        // Each of them did some of what the other had queued.
        expect(member.said()).toContain(" done")
        expect(member.said()).not.toMatch(/locked|busy|cannot be read|SQLITE/i)
      }
      expect(ledger.payments.map(({ text }) => text).toSorted()).toEqual(names.flat().toSorted())
      expect(new Set(ledger.payments.map(({ key }) => key)).size).toBe(80)
      const { tasks, runs, effects } = await written(queue.database)
      expect(tasks.map((task) => (task as { attempts: number }).attempts)).toEqual(Array.from({ length: 80 }, () => 1))
      expect(runs).toHaveLength(80)
      expect(effects).toHaveLength(80)
    },
    MOST_MS,
  )
})
