import { describe, expect, test } from "vitest"
import type { EventDigest } from "@toolwright/server"
import { chosen, RowBuilder, timeLine } from "../run/rows.ts"
import { lostInForm, parse, withPart } from "./json.ts"
import { fieldOf, settle, startingValue } from "./schema.ts"
import { headAndTail, visible } from "./text.ts"

describe("a text that a form would change", () => {
  test.each([
    ['{"a": 12345678901234567890}', "the number 12345678901234567890 would be rounded"],
    ['{"a": 1.0}', "the number 1.0 would be rounded"],
    ['{"a": 1, "b": {"a": 2}, "a": 3}', 'the key "a" stands twice'],
  ])("%s is left to the text editor", (text, why) => {
    expect(lostInForm(text)).toBe(why)
  })

  test.each(['{"a": 1, "b": [{"a": 2}, {"a": 3}], "c": "1.0 \\" 1.0"}', "{}", '{"a": -1.5}'])("%s is not", (text) => {
    expect(lostInForm(text)).toBeUndefined()
    expect("value" in parse(text)).toBe(true)
  })

  test("a part is changed without touching the rest, and no prototype is", () => {
    expect(JSON.stringify(withPart({ b: 1, a: [1, 2, 3] }, ["a", 1], undefined))).toBe('{"b":1,"a":[1,3]}')
    expect(JSON.stringify(withPart({ b: 1 }, ["__proto__"], { polluted: 1 }))).toBe(
      '{"b":1,"__proto__":{"polluted":1}}',
    )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe("what a form shows of a schema", () => {
  test("a schema that refers to itself ends", () => {
    const root = { properties: { next: { $ref: "#" } }, required: ["next"] }
    expect(fieldOf(settle({ $ref: "#" }, root)).kind).toBe("object")
    expect(JSON.stringify(startingValue(root, root)).length).toBeLessThan(200)
    const loop = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }
    expect(fieldOf(settle(loop, loop)).kind).toBe("text")
  })

  test("what has no field of its own is JSON by hand", () => {
    for (const schema of [{}, { type: ["string", "number"] }, { type: "array", prefixItems: [{}] }, { type: "object" }])
      expect(fieldOf(schema).kind).toBe("text")
  })
})

test("what would move the cursor or hide something is shown by its number; a long text has a head and a tail", () => {
  expect(visible("a\u001B[31m\u202Eb\u0007\u200B\tc\n")).toBe("a␛[31m⟨U+202E⟩b⟨U+0007⟩⟨U+200B⟩\tc\n")
  const { head, tail, left } = headAndTail("x".repeat(10_000_000))
  expect(head.length + tail.length + left).toBe(10_000_000)
  expect(head.length + tail.length).toBeLessThan(65_536)
})

test("a call is one row from its start to its end, and a pause takes a second on the time line", () => {
  const builder = new RowBuilder()
  const event = (seq: number, type: string, time: number, more: Partial<EventDigest> = {}): EventDigest => ({
    seq,
    type,
    time,
    bytes: 1,
    ...more,
  })
  builder.add([
    event(1, "round-start", 0, { round: 1 }),
    event(2, "tool-start", 10, { callId: "a", name: "one", args: "{}" }),
  ])
  builder.add([event(3, "tool-end", 20, { callId: "a", ok: false, code: "E" })])
  builder.add([
    event(4, "tool-start", 60_020, { callId: "b", name: "two" }),
    event(5, "tool-end", 60_030, { callId: "b", ok: true }),
  ])
  expect(builder.rows).toMatchObject([
    { kind: "round" },
    { kind: "call", seq: 2, endSeq: 3, ok: false, round: 1 },
    { kind: "call", seq: 4, endSeq: 5, ok: true },
  ])
  expect(timeLine(builder.rows)).toMatchObject({ length: 1020, idle: 59_000 })
  expect(chosen(builder.rows, { text: "", only: true }).map(({ seq }) => seq)).toEqual([2])
  expect(chosen(builder.rows, { text: "TWO", only: false }).map(({ seq }) => seq)).toEqual([4])
})
