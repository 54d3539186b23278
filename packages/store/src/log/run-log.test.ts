import { afterEach, describe, expect, test } from "vitest"
import {
  openDatabase,
  runLog,
  taskQueue,
  verifyRun,
  eraseBody,
  type Database,
  type NewEvent,
  type RunLog,
} from "../index.ts"
import { onBothDatabases } from "../testing/databases.ts"

const opened: Database[] = []
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})

async function logAt(address: string): Promise<RunLog> {
  const database = await openDatabase(address)
  opened.push(database)
  return runLog(database)
}

const newRun = (id: string, more: object = {}) => ({
  id,
  agent: "builder",
  model: "m",
  title: "do it",
  surface: "run",
  holder: "here/1",
  time: 1000,
  ...more,
})
const event = (type: string, body: unknown = {}, time = 1000): NewEvent => ({ type, body: JSON.stringify(body), time })
const long = "x".repeat(20_000)

onBothDatabases("the log of a run", (address) => {
  test("a draft is on record with its first events, as one that was begun, or not at all", async () => {
    const log = await logAt(address())
    const end = { outcome: "completed", summary: "{}", time: 9 }
    const draft = log.draft(newRun("whole"))
    expect(await log.get("whole")).toBeUndefined()
    await draft.end([event("a", { long }), event("b")], end)
    const longer = log.draft(newRun("longer"))
    await longer.append([event("a", { long })], async (execute) => {
      expect((await execute("SELECT id FROM runs WHERE id = 'longer'")).rows).toHaveLength(1)
    })
    expect(await log.get("longer")).toMatchObject({ state: "running", fence: 1 })
    await longer.end([event("b")], end)
    const begun = await log.begin(newRun("begun"))
    await begun.append([event("a", { long })])
    await begun.end([event("b")], end)
    const rows = await Promise.all(["whole", "longer", "begun"].map(async (id) => ({ ...(await log.get(id)), id: "" })))
    expect([rows[0], rows[1]]).toEqual([rows[2], rows[2]])
    for (const id of ["whole", "longer"]) {
      expect((await log.events(id)).map(({ type, body }) => [type, body])).toEqual([
        ["a", JSON.stringify({ long })],
        ["b", "{}"],
      ])
      expect(await verifyRun(log.database, id)).toMatchObject({ events: 2, erased: 0 })
      expect(await verifyRun(log.database, id)).not.toHaveProperty("broken")
    }
    for (const id of ["whole", "longer"]) {
      await expect(log.draft(newRun(id)).end([event("c")], end)).rejects.toMatchObject({ code: "STALE_RUN" })
      await expect(log.draft(newRun(id)).append([event("c")])).rejects.toMatchObject({ code: "STALE_RUN" })
      expect(await log.events(id)).toHaveLength(2)
    }
  })

  test("holds what was written, in order, long bodies once", async () => {
    const log = await logAt(address())
    const writer = await log.begin(newRun("r1"))
    await writer.append([event("run-start", { task: "ü" }), event("reply", { long })])
    await writer.append([event("reply", { long })])
    expect(writer.seq).toBe(3)
    const events = await log.events("r1")
    expect(events.map(({ seq, type, fence }) => [seq, type, fence])).toEqual([
      [1, "run-start", 1],
      [2, "reply", 1],
      [3, "reply", 1],
    ])
    expect(JSON.parse(events[0]!.body!)).toEqual({ task: "ü" })
    expect(JSON.parse(events[2]!.body!)).toEqual({ long })
    expect(await log.database.query("SELECT count(*) AS count FROM bodies")).toEqual([{ count: 1 }])
    expect((await log.events("r1", { after: 1, limit: 1 })).map(({ seq }) => seq)).toEqual([2])
    expect((await log.events("r1", { after: 1, upTo: 2 })).map(({ seq }) => seq)).toEqual([2])
  })

  test("a run that was asked for too deep is refused by the database, and one call has one run", async () => {
    const log = await logAt(address())
    await log.begin(newRun("root"))
    const asked = (id: string, depth: number, key = id) =>
      log.begin(newRun(id, { askedBy: { run: "root", call: "c", key }, nesting: { depth, max: 3 } }))
    await asked("third", 3)
    await expect(asked("fourth", 4)).rejects.toThrow(/check|constraint/i)
    await expect(asked("again", 1, "third")).rejects.toThrow(/unique|duplicate/i)
    expect(await log.askedBy("root", "third")).toMatchObject({ id: "third", depth: 3, asked_call: "c" })
    expect((await log.list({ askedBy: null })).map(({ id }) => id)).toEqual(["root"])
    expect((await log.list({ askedBy: "root" })).map(({ id }) => id)).toEqual(["third"])
    expect((await log.find("latest")).id).toBe("root")
  })

  test("takes more events at once than one statement holds", async () => {
    const log = await logAt(address())
    const writer = await log.begin(newRun("many"))
    await writer.append(Array.from({ length: 137 }, (_, index) => event("text", { index })))
    expect((await log.events("many")).map(({ body }) => JSON.parse(body!).index)).toEqual(
      Array.from({ length: 137 }, (_, index) => index),
    )
    expect(await verifyRun(log.database, "many")).toMatchObject({ events: 137, head: writer.head })
  })

  test("refuses everything from a writer whose claim went elsewhere, in the database itself", async () => {
    const at = address()
    const [one, other] = [await logAt(at), await logAt(at)]
    const zombie = await one.begin(newRun("r"))
    await zombie.append([event("run-start")])
    await expect(other.claim("r", { holder: "there/2", time: 2000, deadBefore: 1000 })).rejects.toMatchObject({
      code: "RUN_HELD",
    })
    const heir = await other.claim("r", { holder: "there/2", time: 9000, deadBefore: 5000 })
    expect([heir.fence, heir.seq]).toEqual([2, 1])
    await expect(zombie.append([event("reply")])).rejects.toMatchObject({ code: "STALE_RUN" })
    await expect(zombie.append([event("reply", { long })])).rejects.toMatchObject({ code: "STALE_RUN" })
    await expect(zombie.beat(9999)).rejects.toMatchObject({ code: "STALE_RUN" })
    await expect(
      zombie.end([event("run-end")], { outcome: "completed", summary: "{}", time: 1 }),
    ).rejects.toMatchObject({ code: "STALE_RUN" })
    await heir.append([event("reply")])
    await heir.end([event("run-end")], { outcome: "completed", summary: '{"a":1}', time: 9500 })
    await expect(heir.append([event("late")])).rejects.toMatchObject({ code: "STALE_RUN" })
    expect((await one.events("r")).map(({ type, fence }) => [type, fence])).toEqual([
      ["run-start", 1],
      ["reply", 2],
      ["run-end", 2],
    ])
    expect(await one.get("r")).toMatchObject({
      state: "ended",
      outcome: "completed",
      ended_at: 9500,
      summary: '{"a":1}',
    })
    expect(await verifyRun(one.database, "r")).toMatchObject({ events: 3, erased: 0 })
    await expect(other.claim("r", { holder: "x", time: 0, deadBefore: 1e15 })).rejects.toMatchObject({
      code: "RUN_ENDED",
    })
  })

  test("lets nobody in between who claims while an event is written", async () => {
    const at = address()
    const [one, other] = [await logAt(at), await logAt(at)]
    for (let round = 0; round < 20; round++) {
      const run = `race-${round}`
      const first = await one.begin(newRun(run))
      const [, claimed] = await Promise.all([
        first
          .append([event("a"), event("b")])
          .catch((thrown: { code: string }) => expect(thrown.code).toBe("STALE_RUN")),
        other.claim(run, { holder: "o", time: 5000, deadBefore: 4000 }),
      ])
      await claimed.append([event("c")])
      expect(await verifyRun(one.database, run)).toMatchObject({ events: claimed.seq })
    }
  })

  test("a run of a task that was begun, and of which nothing was written, is what it is begun as the next time", async () => {
    const log = await logAt(address())
    const { id: task } = await taskQueue(log.database).add({ agent: "a", input: "Pay" })
    const killed = await log.begin({ ...newRun("r", { task }), title: "Pay", model: "small" })
    const again = await log.begin({ ...newRun("r", { task }), title: "Pay. Look first.", model: "large", time: 7 })
    await expect(killed.append([event("run-start", { task: "Pay" })])).rejects.toMatchObject({ code: "STALE_RUN" })
    await again.append([event("run-start", { task: "Pay. Look first." })])
    expect(await log.get("r")).toMatchObject({ title: "Pay. Look first.", model: "large", started_at: 7, fence: 2 })
    expect(await verifyRun(log.database, "r")).not.toHaveProperty("broken")
    await expect(log.begin(newRun("r", { task }))).rejects.toMatchObject({ code: "RUN_HELD" })
  })

  test("a write that fails in part leaves nothing, and can be made again", async () => {
    const log = await logAt(address())
    const writer = await log.begin(newRun("r"))
    await expect(
      writer.append([event("a", { long })], async () => {
        throw new Error("no")
      }),
    ).rejects.toMatchObject({ code: "LOG_UNWRITABLE" })
    expect(await log.events("r")).toEqual([])
    await writer.append([event("a", { long })])
    expect(await verifyRun(log.database, "r")).toMatchObject({ events: 1 })
  })

  test("where the database is away no run is begun or taken over, and that is told as what may be gone a while later", async () => {
    const log = await logAt(address())
    await log.begin(newRun("r"))
    await log.database.close()
    const claim = { holder: "o", time: 5000, deadBefore: 9000 }
    await expect(log.begin(newRun("s"))).rejects.toMatchObject({ code: "LOG_UNWRITABLE" })
    await expect(log.claim("r", claim)).rejects.toMatchObject({ code: "LOG_UNWRITABLE" })
  })

  test("a branch shares what came before by reference, and goes on from there", async () => {
    const log = await logAt(address())
    const parent = await log.begin(newRun("p"))
    await parent.append(["a", "b", "c"].map((type) => event(type)))
    const branch = await log.begin(newRun("q", { parent: { run: "p", seq: 2 } }))
    await branch.append([event("d")])
    const twig = await log.begin(newRun("z", { parent: { run: "q", seq: 1 } }))
    await twig.append([event("e")])
    const types = async (run: string) => (await log.events(run)).map(({ seq, type }) => `${seq}${type}`)
    expect(await types("q")).toEqual(["1a", "2b", "3d"])
    expect(await types("z")).toEqual(["1a", "2e"])
    expect(await types("p")).toEqual(["1a", "2b", "3c"])
    expect(await log.events("q", { after: 1, limit: 1 })).toMatchObject([{ seq: 2, run: "p" }])
    for (const run of ["p", "q", "z"]) expect((await verifyRun(log.database, run)).broken).toBeUndefined()
    expect(await log.database.query("SELECT count(*) AS count FROM run_events")).toEqual([{ count: 5 }])
    await expect(log.begin(newRun("no", { parent: { run: "p", seq: 9 } }))).rejects.toMatchObject({
      code: "UNKNOWN_EVENT",
    })
  })

  test("is followed as it is written, from this process and another, to its end", async () => {
    const at = address()
    const [one, other] = [await logAt(at), await logAt(at)]
    const writer = await one.begin(newRun("r"))
    const seen = async (log: RunLog, after: number): Promise<string[]> => {
      const types: string[] = []
      for await (const events of log.follow("r", { after, everyMs: 20 })) types.push(...events.map(({ type }) => type))
      return types
    }
    const both = Promise.all([seen(one, 0), seen(other, 1)])
    for (const type of ["a", "b", "c"]) await writer.append([event(type)])
    await writer.end([event("run-end")], { outcome: "completed", summary: "{}", time: 1 })
    expect(await both).toEqual([
      ["a", "b", "c", "run-end"],
      ["b", "c", "run-end"],
    ])
  })

  test("lists and finds runs", async () => {
    const log = await logAt(address())
    await expect(log.find("latest")).rejects.toMatchObject({ code: "UNKNOWN_RUN" })
    await log.begin(newRun("ab-1", { time: 1 }))
    await log.begin(newRun("ab-2", { time: 2, surface: "chat" }))
    await log.begin(newRun("c_d", { time: 3 }))
    expect((await log.list()).map(({ id }) => id)).toEqual(["c_d", "ab-2", "ab-1"])
    expect((await log.list({ surface: "chat" })).map(({ id }) => id)).toEqual(["ab-2"])
    expect((await log.list({ limit: 1, offset: 1 })).map(({ id }) => id)).toEqual(["ab-2"])
    expect((await log.find("latest")).id).toBe("c_d")
    expect((await log.find("ab-1")).id).toBe("ab-1")
    expect((await log.find("c_")).id).toBe("c_d")
    await expect(log.find("ab")).rejects.toMatchObject({ message: "Several runs begin with 'ab'." })
    await expect(log.find("%")).rejects.toMatchObject({ code: "UNKNOWN_RUN" })
  })

  describe("its chain", () => {
    const changes = [
      "UPDATE run_events SET body = '{\"amount\":2}' WHERE seq = 2",
      "UPDATE run_events SET time = 5 WHERE seq = 2",
      "UPDATE run_events SET type = 'other' WHERE seq = 2",
      "DELETE FROM run_events WHERE seq = 2",
      "UPDATE bodies SET content = 'y'",
      "UPDATE run_events SET salt = NULL, body = NULL WHERE seq = 2",
    ]
    test.each(changes)("shows that something was changed: %s", async (change) => {
      const log = await logAt(address())
      const writer = await log.begin(newRun("r"))
      await writer.append([event("a"), event("pay", { amount: 1 }), event("c", { long })])
      expect((await verifyRun(log.database, "r")).broken).toBeUndefined()
      await log.database.query(change)
      expect((await verifyRun(log.database, "r")).broken).toBeDefined()
    })

    const FIELDS = "type, time, fence, hash, salt, digest, body_ref, body"
    const copied = (run: string, seq: number, to: number): string =>
      `INSERT INTO run_events (run, seq, ${FIELDS}) SELECT 'r', ${to}, ${FIELDS} FROM run_events
       WHERE run = '${run}' AND seq = ${seq}`
    const moved = (seq: number, to: number): string =>
      `UPDATE run_events SET seq = ${to} WHERE run = 'r' AND seq = ${seq}`
    const removed = (seq: number): string => `DELETE FROM run_events WHERE run = 'r' AND seq = ${seq}`
    test.each([
      ["two that changed places", [moved(2, 9), moved(3, 2), moved(9, 3)], 2],
      ["the last two that changed places", [moved(4, 9), moved(3, 4), moved(9, 3)], 3],
      ["one that stands there twice", [moved(4, 5), moved(3, 4), copied("r", 2, 3)], 3],
      ["the last one again after it", [copied("r", 4, 5)], 5],
      ["the first one again after the last", [copied("r", 1, 5)], 5],
      ["one taken out of the middle", [removed(2)], 2],
      ["one taken out, and the others moved up", [removed(2), moved(3, 2), moved(4, 3)], 2],
      ["the first one taken out, and the others moved up", [removed(1), moved(2, 1), moved(3, 2), moved(4, 3)], 1],
      ["one of another run in its place", [removed(2), copied("s", 2, 2)], 2],
      ["the last one of another run in its place", [removed(4), copied("s", 4, 4)], 4],
      ["one of another run after the last", [copied("s", 4, 5)], 5],
    ])("shows that events are not in the place where they were written: %s", async (_, statements, seq) => {
      const log = await logAt(address())
      for (const run of ["r", "s"]) {
        const writer = await log.begin(newRun(run))
        await writer.append([event("a"), event("pay", { amount: 1 }), event("pay", { amount: 1 }), event("d")])
      }
      expect(await verifyRun(log.database, "r")).not.toHaveProperty("broken")
      for (const statement of statements) await log.database.query(statement)
      expect((await verifyRun(log.database, "r")).broken?.seq).toBe(seq)
      expect(await verifyRun(log.database, "s")).not.toHaveProperty("broken")
    })

    test("shows that an event came from another log, where the same was written", async () => {
      const logs = [await logAt(address()), await logAt(address())]
      for (const log of logs) {
        const writer = await log.begin(newRun("r"))
        await writer.append([event("a"), event("pay", { amount: 1 }), event("c")])
      }
      const [here, there] = logs.map(({ database }) => database) as [Database, Database]
      for (const seq of [1, 2, 3]) {
        const [row] = await there.query<Record<string, string>>(
          `SELECT hash, salt, digest, body FROM run_events WHERE run = 'r' AND seq = ${seq}`,
        )
        const own = await here.query(`SELECT hash, salt, digest, body FROM run_events WHERE run = 'r' AND seq = ${seq}`)
        const put = (values: Record<string, string | null>) =>
          here.query(
            `UPDATE run_events SET hash = ?, salt = ?, digest = ?, body = ? WHERE run = 'r' AND seq = ${seq}`,
            [values.hash!, values.salt ?? null, values.digest ?? null, values.body ?? null],
          )
        await put(row!)
        expect((await verifyRun(here, "r")).broken, String(seq)).toBeDefined()
        await put(own[0] as Record<string, string | null>)
        expect(await verifyRun(here, "r")).not.toHaveProperty("broken")
      }
    })

    const summary = JSON.stringify({ runId: "r", outcome: "failed", message: "not done" })
    test.each([
      ["UPDATE runs SET outcome = 'completed'", "lists say something else of its end"],
      [`UPDATE runs SET summary = '${summary.replace("not done", "done")}'`, "lists say something else of its end"],
      ["UPDATE runs SET title = 'Something else'", "lists say something else of its task"],
      ["UPDATE runs SET state = 'running'", "it has ended, and lists say that it has not"],
      ["DELETE FROM run_events WHERE seq = 3", "its last event is missing"],
    ])("shows that lists say something else: %s", async (change, reason) => {
      const log = await logAt(address())
      const writer = await log.begin({ ...newRun("r"), title: "Do it" })
      await writer.append([event("run-start", { task: "Do it" }), event("pay")])
      const end = { outcome: "failed", summary, time: 9 }
      await writer.end([event("run-end", { summary: JSON.parse(summary) })], end)
      expect(await verifyRun(log.database, "r")).not.toHaveProperty("broken")
      await log.database.query(change)
      expect((await verifyRun(log.database, "r")).broken?.reason).toBe(reason)
    })

    test("an end and a task that are erased are gone from lists too, and from runs that branched off", async () => {
      const log = await logAt(address())
      const writer = await log.begin({ ...newRun("r"), title: "About Jo" })
      const kept = writer.keep("Jo said this")
      await writer.append([event("run-start", { task: "About Jo" }), event("request", { add: [kept] })])
      await log.begin({ ...newRun("other"), title: "About Jo", parent: { run: "r", seq: 2 } })
      const told = { runId: "r", outcome: "completed", message: "Jo is well", notes: [{ message: "Jo" }], calls: 2 }
      const end = { outcome: "completed", summary: JSON.stringify(told), time: 9 }
      await writer.end([event("run-end", { summary: told })], end)
      for (const seq of [1, 2, 3]) expect(await eraseBody(log.database, "r", seq)).toBe(1)
      for (const table of ["runs", "run_events", "bodies"])
        expect(JSON.stringify(await log.database.query(`SELECT * FROM ${table}`))).not.toContain("Jo")
      expect(JSON.parse((await log.get("r"))!.summary!)).toMatchObject({ outcome: "completed", calls: 2, message: "" })
      expect(await verifyRun(log.database, "r")).not.toHaveProperty("broken")
    })

    test("a text that another event names stays when the first is erased", async () => {
      const log = await logAt(address())
      const writer = await log.begin(newRun("r"))
      const kept = writer.keep("Shared by two")
      await writer.append([event("request", { add: [kept] }), event("request", { add: [kept] })])
      await eraseBody(log.database, "r", 1)
      expect(await log.database.query("SELECT content FROM bodies")).toEqual([{ content: "Shared by two" }])
      await eraseBody(log.database, "r", 2)
      expect(await log.database.query("SELECT content FROM bodies")).toEqual([])
    })

    test("holds when bodies are erased, and these are gone", async () => {
      const log = await logAt(address())
      const writer = await log.begin(newRun("r"))
      await writer.append([event("a", { name: "Jo" }), event("b", { long }), event("c", { long })])
      expect(await eraseBody(log.database, "r", 1)).toBe(1)
      expect(await eraseBody(log.database, "r", 2)).toBe(2)
      expect(await verifyRun(log.database, "r")).toEqual({ run: "r", events: 3, erased: 3, head: writer.head })
      expect((await log.events("r")).map(({ body }) => body)).toEqual([undefined, undefined, undefined])
      expect(await log.database.query("SELECT * FROM bodies")).toEqual([])
    })
  })
})
