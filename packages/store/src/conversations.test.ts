import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ChatMessage } from "@toolwright/toolformat"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { postgresBinaries, sharedPostgres } from "../../tools-database/src/testing/postgres-server.ts"
import { conversationStore, openDatabase, type Database } from "./index.ts"

const folder = mkdtempSync(join(tmpdir(), "store-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const exchange: ChatMessage[] = [
  { role: "user", content: "Find   user John\nDoe" },
  { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "search", arguments: { query: "Jöhn" } }] },
  { role: "tool", content: "found", callId: "c1", name: "search", success: true },
  { role: "assistant", content: "There he is." },
]

function contract(open: () => Promise<Database>, reopen: boolean) {
  let database: Database
  let time = 0
  const now = () => new Date(Date.UTC(2026, 0, 1, 0, 0, time++))
  beforeAll(async () => {
    database = await open()
  })
  afterAll(() => database.close())
  // Lists are of all that there is: what another test left would stand in them.
  beforeEach(async () => {
    for (const table of ["conversation_messages", "conversations"]) await database.query(`DELETE FROM ${table}`)
  })
  const store = async () => conversationStore(database, { now })

  test("a conversation does not exist for anybody but its owner", async () => {
    const store = conversationStore(database, { now })
    const { id } = await store.create("mine", "first")
    for (const other of ["second", "", undefined]) {
      expect(await store.get(id, other)).toBeUndefined()
      expect(await store.list(other === undefined ? {} : { owner: other })).toEqual([])
      expect(await store.delete(id, other)).toBe(false)
    }
    expect((await store.get(id, "first"))?.title).toBe("mine")
    await store.delete(id, "first")
  })

  test("keeps what was said, in order, and takes its title from the first question", async () => {
    const { id } = await (await store()).create()
    await (await store()).append(id, exchange.slice(0, 2))
    await (await store()).append(id, exchange.slice(2))
    expect(await (await store()).get(id)).toMatchObject({ id, title: "Find user John Doe", messages: exchange })
  })

  test("messages that were written under the former names of a call's fields are read under today's", async () => {
    const conversations = await store()
    const { id } = await conversations.create()
    const before = [
      { role: "user", content: "Find user John Doe" },
      { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "search", args: { query: "Jöhn" } }] },
      { role: "tool", content: "found", toolCallId: "c1", toolName: "search", success: true },
    ]
    await conversations.append(id, before as unknown as ChatMessage[])
    const read = (await conversations.get(id))?.messages
    expect(read?.slice(1)).toEqual(exchange.slice(1, 3))
    await conversations.delete(id)
  })

  test("lists the newest first, page by page", async () => {
    const conversations = await store()
    const [first, second] = [await conversations.create("first"), await conversations.create("second")]
    expect((await conversations.list({ limit: 2 })).map(({ title }) => title)).toEqual(["second", "first"])
    await conversations.append(first.id, [{ role: "user", content: "again" }])
    expect((await conversations.list({ limit: 1 })).map(({ id }) => id)).toEqual([first.id])
    expect((await conversations.list({ limit: 1, offset: 1 })).map(({ id }) => id)).toEqual([second.id])
  })

  test("loses nothing when several write to one conversation at once", async () => {
    const conversations = await store()
    const { id } = await conversations.create("busy")
    await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        conversations.append(id, [
          { role: "user", content: `a${number}` },
          { role: "user", content: `b${number}` },
        ]),
      ),
    )
    const contents = (await conversations.get(id))!.messages.map(({ content }) => content)
    expect(contents).toHaveLength(40)
    for (let at = 0; at < 40; at += 2) expect(contents[at]!.slice(1)).toBe(contents[at + 1]!.slice(1))
  })

  test("deletes a conversation with its messages, and knows what is not there", async () => {
    const conversations = await store()
    const { id } = await conversations.create()
    await conversations.append(id, exchange)
    expect([await conversations.delete(id), await conversations.delete(id)]).toEqual([true, false])
    expect(await conversations.get(id)).toBeUndefined()
    expect(await database.query("SELECT 1 FROM conversation_messages WHERE conversation_id = ?", [id])).toEqual([])
    await expect(conversations.append(id, exchange)).rejects.toMatchObject({ code: "UNKNOWN_CONVERSATION" })
  })

  test("passes over a message that is damaged, and says so", async () => {
    const lines: string[] = []
    const conversations = conversationStore(database, { log: (line) => lines.push(line) })
    const { id } = await conversations.create()
    await conversations.append(id, exchange)
    await database.query("UPDATE conversation_messages SET message = ? WHERE conversation_id = ? AND position = 1", [
      "{broken",
      id,
    ])
    const { messages } = (await conversations.get(id))!
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"])
    expect(lines).toEqual([`Message 1 of conversation ${id} is damaged and was passed over.`])
  })

  test("leaves no half of a call where JSON is whole and no message", async () => {
    const halves = ["null", "7", '{"role":"assistant"}', '{"role":"assistant","content":"","toolCalls":[null]}']
    for (const position of [1, 2]) {
      for (const half of halves) {
        const lines: string[] = []
        const conversations = conversationStore(database, { log: (line) => lines.push(line) })
        const { id } = await conversations.create()
        await conversations.append(id, exchange)
        const where = [half, id, position]
        await database.query(
          "UPDATE conversation_messages SET message = ? WHERE conversation_id = ? AND position = ?",
          where,
        )
        const { messages } = (await conversations.get(id))!
        expect(messages.filter((message) => message.role === "tool" || "toolCalls" in message)).toEqual([])
        expect(lines).toEqual([`Message ${position} of conversation ${id} is damaged and was passed over.`])
      }
    }
  })

  test.runIf(reopen)("is there again after a restart", async () => {
    const { id } = await (await store()).create("stays")
    await database.close()
    database = await open()
    expect((await (await store()).get(id))?.title).toBe("stays")
  })
}

describe("conversations in SQLite", () => {
  contract(() => openDatabase(join(folder, "state", "conversations.sqlite")), true)
})

const binaries = postgresBinaries()
describe.skipIf(binaries === undefined)(
  "conversations in PostgreSQL (skipped where its server is not installed)",
  () => {
    let server: Awaited<ReturnType<typeof sharedPostgres>>
    let address: string
    beforeAll(async () => {
      server = await sharedPostgres(binaries!)
      address = server.createDatabase()
    })
    afterAll(() => server[Symbol.asyncDispose]())
    contract(() => openDatabase(address), true)
  },
)

test("a database that cannot be opened is named, its password is not", async () => {
  await expect(openDatabase("postgres://user:hunter2@127.0.0.1:1/none")).rejects.toMatchObject({
    code: "DATABASE_UNAVAILABLE",
    message: expect.not.stringContaining("hunter2"),
  })
  await expect(openDatabase("/dev/null/x.sqlite")).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" })
})
