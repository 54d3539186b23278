import type { ToolDefinition } from "@toolwright/toolbox"
import { defineTool, success } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { expect, test } from "vitest"
import { originsOf, type HeldBy } from "./origins.ts"

const read: ToolDefinition = defineTool({
  name: "read",
  description: "Reads",
  parameters: { type: "object", properties: { path: { type: "string" }, lines: { type: "integer" } } },
  execute: () => success({ output: "" }),
})
const by: HeldBy = { tools: [read], grounding: undefined }
const user = (content: string): ChatMessage => ({ role: "user", content })
const placesOf = (args: Record<string, unknown>, messages: readonly ChatMessage[], held = by) =>
  originsOf([{ id: "c", name: "read", arguments: args as never }], messages, held).map(({ argument, places }) => [
    argument,
    ...places.map(({ message, before, text, after }) => `${message}:${before}[${text}]${after}`),
  ])

test("a value is found where it was said last, as a word of its own before a part of one", () => {
  const messages = [user("Read a.txt"), user("not data.txt but a.txt, please"), user("data.txt")]
  expect(placesOf({ path: "a.txt", lines: 2 }, messages)).toEqual([
    ["path", "1:not data.txt but [a.txt], please"],
    ["lines"],
  ])
  expect(placesOf({ path: "ata" }, messages)).toEqual([["path", "2:d[ata].txt"]])
})

test("what the system or the model itself said is no source, and what a tool said is one", () => {
  const messages: ChatMessage[] = [
    { role: "system", content: "secret.txt" },
    { role: "assistant", content: "other.txt" },
    { role: "tool", content: "found.txt", callId: "b", name: "list", success: true },
  ]
  expect(placesOf({ path: "secret.txt" }, messages)).toEqual([["path"]])
  expect(placesOf({ path: "other.txt" }, messages)).toEqual([["path"]])
  expect(placesOf({ path: "found.txt" }, messages)).toEqual([["path", "2:[found.txt]"]])
})

test("a path is put together of parts, and of all or none", () => {
  const messages = [user("In the folder src is main.ts")]
  expect(placesOf({ path: "src/main.ts" }, messages)).toEqual([
    ["path", "0:In the folder [src] is main.ts", "0:In the folder src is [main.ts]"],
  ])
  expect(placesOf({ path: "src/other.ts" }, messages)).toEqual([["path"]])
})

test("nested values have their paths, odd and endless ones nothing, and there is an end to how many are told", () => {
  const messages = [user("deep ".repeat(10)), user("x".repeat(5000))]
  expect(
    placesOf({ a: { b: ["deep", "  ", "", null, true] } }, messages).map(([path, ...at]) => [path, at.length]),
  ).toEqual([
    ["a.b.0", 1],
    ["a.b.1", 0],
    ["a.b.2", 0],
  ])
  expect(placesOf({ a: "x".repeat(4001) }, messages)).toEqual([["a"]])
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`n${index}`, "deep"]))
  expect(placesOf(many, messages)).toHaveLength(64)
  const nested = JSON.parse(`${'{"a":'.repeat(500)}"deep"${"}".repeat(500)}`) as Record<string, unknown>
  expect(placesOf(nested, messages)).toHaveLength(1)
})

test("what the grammar held an argument to is told by its kind, of rules and of the tool's own word", () => {
  const kindOf = (grounding: HeldBy["grounding"]) =>
    originsOf([{ id: "c", name: "read", arguments: { path: "a" } }], [user("a")], { tools: [read], grounding })[0]?.held
  expect(kindOf(undefined)).toBeUndefined()
  expect(kindOf({ text: "a", rules: { read: { path: "path" } } })).toBe("path")
  expect(kindOf({ text: "a", rules: { read: { other: "path" } } })).toBeUndefined()
})
