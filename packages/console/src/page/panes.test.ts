import type { TaskView } from "@toolwright/server"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { saidIn, withEvent, type Said } from "./chat/data.ts"
import { checksOf } from "./connections/doctor.tsx"
import { learnOwnName, who } from "./lib/who.ts"
import { align } from "./run/align.ts"
import { RowBuilder, type Row } from "./run/rows.ts"
import { answerWords, leaningsOf, saidOf, wordsFor } from "./run/words.ts"
import { graphOf, treeOf } from "./tasks/tree.ts"

const task = (id: string, more: Partial<TaskView> = {}): TaskView => ({
  id,
  agent: "assistant",
  state: "queued",
  input: id,
  depth: 0,
  priority: 0,
  attempts: 0,
  maxAttempts: 3,
  createdAt: "2026-01-01T00:00:00.000Z",
  ...more,
})

describe("tasks", () => {
  test("stand below the one that asked for them, in the order in which they were asked for", () => {
    const rows = treeOf([
      task("d", { parent: "b" }),
      task("c", { parent: "a" }),
      task("b", { parent: "a" }),
      task("elsewhere", { parent: "not listed" }),
      task("a"),
    ])
    expect(rows.map(({ task: { id }, depth }) => `${depth} ${id}`)).toEqual(["0 elsewhere", "0 a", "1 b", "2 d", "1 c"])
  })

  test("in any plan stand right of all that they wait for, each in a place of its own", () => {
    const plans = fc.array(fc.array(fc.nat(20), { maxLength: 4 }), { maxLength: 21 })
    fc.assert(
      fc.property(plans, (after) => {
        const tasks = after
          .map((others, index) =>
            task(`t${index}`, { after: others.filter((each) => each < index).map((each) => `t${each}`) }),
          )
          .toReversed()
        const { nodes, edges } = graphOf(tasks)
        expect(nodes).toHaveLength(tasks.length)
        for (const { from, to } of edges) expect(from.column).toBeLessThan(to.column)
        expect(new Set(nodes.map(({ column, line }) => `${column} ${line}`)).size).toBe(nodes.length)
      }),
    )
  })

  test("that wait for each other in a circle are placed all the same", () => {
    expect(graphOf([task("a", { after: ["b"] }), task("b", { after: ["a"] })]).nodes).toHaveLength(2)
  })
})

describe("a conversation", () => {
  test("shows each call with its result, in the turn of the model that made it", () => {
    expect(
      saidIn([
        { role: "user", content: "What?" },
        { role: "assistant", content: "I look.", toolCalls: [{ id: "c", name: "look", arguments: { at: 1 } }] },
        { role: "tool", content: "here", callId: "c", name: "look", success: true },
        { role: "tool", content: "of nobody", callId: "x", name: "look", success: true },
        { role: "assistant", content: "It is here." },
      ]),
    ).toEqual([
      { by: "person", parts: [{ kind: "text", text: "What?" }] },
      {
        by: "model",
        parts: [
          { kind: "text", text: "I look." },
          { kind: "call", id: "c", name: "look", args: '{"at":1}', success: true, output: "here" },
          { kind: "text", text: "It is here." },
        ],
      },
    ])
  })

  test("grows by what happens, and says why it broke off", () => {
    const events: [string, Record<string, unknown>][] = [
      ["run", { run: "r1" }],
      ["text", { text: "I " }],
      ["text", { text: "look." }],
      ["call", { id: "c", name: "look", arguments: {} }],
      ["result", { id: "c", success: false, output: "no", code: "E" }],
      ["result", { id: "c", success: true, output: "a second one is none" }],
      ["unheard of", {}],
      ["problem", { code: "MODEL_UNREACHABLE", message: "gone", hint: "start it" }],
    ]
    const start: Said = { by: "model", parts: [] }
    expect(events.reduce((said, [event, data]) => withEvent(said, event, data), start)).toEqual({
      by: "model",
      run: "r1",
      parts: [
        { kind: "text", text: "I look." },
        { kind: "call", id: "c", name: "look", args: "{}", success: false, output: "no", code: "E" },
      ],
      problem: { code: "MODEL_UNREACHABLE", message: "gone", hint: "start it" },
    })
    expect(withEvent(start, "end", { outcome: "completed", message: "All at once." }).parts).toEqual([
      { kind: "text", text: "All at once." },
    ])
  })
})

test("an examination says which check failed and what to do", () => {
  const tries = { called: 0, of: 5, otherwise: "It answered in words." }
  const found = {
    baseUrl: "http://localhost:1",
    model: "m",
    reachable: true,
    dialect: "generic",
    listed: false,
    template: "not shown",
    format: "hermes",
    formatBecause: "By its name.",
    saysNative: false,
    native: tries,
    text: { called: 5, of: 5 },
    grammar: "ignored",
    usable: true,
  }
  const failed = checksOf(found).filter(({ ok }) => ok === false)
  expect(failed.map(({ name, todo }) => [name, todo])).toEqual([
    ["Model", "Check its name, or have the server load it: m"],
    ["Tool use by the server", "--native-tools false writes the tools into the prompt instead."],
  ])
  expect(checksOf({ ...found, reachable: false })).toEqual([expect.objectContaining({ name: "Server", ok: false })])
})

describe("two runs", () => {
  const call = (seq: number, name: string, more: Partial<Row> = {}): Row => ({
    kind: "call",
    seq,
    time: seq,
    round: 1,
    type: "tool-start",
    name,
    args: "{}",
    ok: true,
    ...more,
  })

  test("stand side by side, call beside call, with what differs", () => {
    const a = [call(1, "look"), call(2, "read", { args: '{"at":1}' }), call(3, "edit"), call(4, "test", { ok: false })]
    const b = [
      call(1, "look"),
      call(2, "list"),
      call(3, "read", { args: '{"at":2}' }),
      call(4, "edit"),
      call(5, "test"),
    ]
    expect(align(a, b).map(({ a: left, b: right, difference }) => [left?.name, right?.name, difference])).toEqual([
      ["look", "look", "none"],
      [undefined, "list", "only b"],
      ["read", "read", "arguments"],
      ["edit", "edit", "none"],
      ["test", "test", "end"],
    ])
  })

  test("whatever they are, have every call once and in its order, and a run beside itself does not differ", () => {
    const runs = fc.array(fc.constantFrom("look", "read", "edit"), { maxLength: 12 })
    const calls = (names: string[]): Row[] => names.map((name, index) => call(index, name))
    fc.assert(
      fc.property(runs, runs, (first, second) => {
        const pairs = align(calls(first), calls(second))
        expect(pairs.flatMap(({ a }) => a?.name ?? [])).toEqual(first)
        expect(pairs.flatMap(({ b }) => b?.name ?? [])).toEqual(second)
        expect(align(calls(first), calls(first)).every(({ difference }) => difference === "none")).toBe(true)
      }),
    )
  })
})

describe("what is no call", () => {
  const rowsOf = (...events: Parameters<RowBuilder["add"]>[0]): Row[] => {
    const builder = new RowBuilder()
    builder.add(events)
    return builder.rows
  }
  const event = (seq: number, type: string, more: object = {}) => ({ seq, type, time: seq, bytes: 1, ...more })
  const TOKEN = "the token of this page"
  /** What a server calls its holder: the beginning of the token's hash. */
  const OWN = "isj5k6wZie8BmD-OtoEnNJ"

  test("is said in words: phases, hand-overs, approvals, changes taken back", () => {
    const rows = rowsOf(
      event(1, "phase-start", { name: "look", text: "1 of 2, to round 5 at the latest" }),
      event(2, "phase-end", { name: "look", text: "handed over finding: {}" }),
      event(3, "approval-ask", { name: "file_write", text: "May it?" }),
      event(4, "undo-start", { text: "what r1 changed", by: "somebody" }),
      event(5, "unheard-of", { text: "x" }),
    )
    expect(rows.map((row) => [row.kind, wordsFor(row.type), saidOf(row)])).toEqual([
      ["phase", "phase start", "look: 1 of 2, to round 5 at the latest"],
      ["note", "phase over:", "look · handed over finding: {}"],
      ["note", "waits for approval", "file_write: May it?"],
      ["note", "takes back", "what r1 changed, for somebody"],
      ["note", "unheard of", "x"],
    ])
  })

  test("tells which tools a model was led to, of whatever a record from elsewhere holds there", () => {
    expect(leaningsOf({ look: 2, remove: -4.5, odd: "x" })).toBe("look +2, remove -4.5")
    for (const none of [undefined, null, {}, 7, "look"]) expect(leaningsOf(none)).toBe("")
  })

  test("tells one's own answers from those of other tokens and of users of the machine", async () => {
    await learnOwnName(TOKEN)
    expect([who(OWN), who("AAAAbbbbCCCCddddEEEEff"), who("ada"), who("http"), who("")]).toEqual([
      "you",
      "another token (AAAA…)",
      "ada",
      "somebody over HTTP",
      "somebody over HTTP",
    ])
    const [row] = rowsOf(
      event(1, "tool-start", { callId: "c", name: "file_write", args: "{}" }),
      event(2, "approval-answer", { callId: "c", text: "denied: leave it", by: OWN }),
    )
    expect(answerWords(row!.answered!, row!.by)).toBe("denied by you: leave it")
    await learnOwnName("")
    expect(who(OWN)).toMatch(/^another token/)
  })
})
