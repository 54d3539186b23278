import { expect, test } from "vitest"
import { KeptResponses } from "./kept.ts"

const KILOBYTE = 1024
const answer = (id: string, bytes = KILOBYTE) => ({
  items: [{ id: `item-${id}`, text: "x".repeat(bytes) }],
  asked: 0,
  response: { id },
})

test("an asker with a thousand answers pushes out its own, and none of an asker with a few", () => {
  const kept = new KeptResponses(100 * KILOBYTE)
  for (let at = 0; at < 20; at++) kept.put("one", answer(`few-${at}`))
  for (let at = 0; at < 1000; at++) kept.put("two", answer(`many-${at}`))
  for (let at = 0; at < 20; at++) {
    expect(kept.get("one", `few-${at}`)).toBeDefined()
    expect(kept.item("one", `item-few-${at}`)).toBeDefined()
  }
  expect([kept.get("two", "many-0"), kept.item("two", "item-many-0")]).toEqual([undefined, undefined])
  expect(kept.get("two", "many-999")).toBeDefined()
})

test("who had everything makes room for who comes later, by the oldest", () => {
  const kept = new KeptResponses(100 * KILOBYTE)
  for (let at = 0; at < 1000; at++) kept.put("one", answer(`${at}`))
  for (let at = 0; at < 40; at++) kept.put("two", answer(`${at}`))
  expect([kept.get("two", "0"), kept.get("one", "999")]).not.toContain(undefined)
  expect(kept.get("one", "900")).toBe(undefined)
})

test("an answer that is kept again counts once, and a huge one is not kept", () => {
  const kept = new KeptResponses(100 * KILOBYTE)
  kept.put("one", answer("other"))
  for (let turn = 0; turn < 1000; turn++) kept.put("one", answer("same"))
  kept.put("one", answer("huge", 26 * KILOBYTE))
  expect([kept.get("one", "other"), kept.get("one", "same")]).not.toContain(undefined)
  expect(kept.get("one", "huge")).toBe(undefined)
})
