import { expect, test } from "vitest"
import { newRunId } from "./run-id.ts"

test("of tens of thousands of ids of one second no two are the same", () => {
  const now = new Date("2026-11-23T02:48:35.123Z")
  const ids = new Set(Array.from({ length: 20_000 }, () => newRunId(now)))
  expect(ids.size).toBe(20_000)
  expect([...ids].filter((id) => !/^20261123-024835-[0-9a-f]{12}$/.test(id))).toEqual([])
})

test("an id that was made in a later second sorts after it", () => {
  const times = ["2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z", "2026-01-02T13:00:00Z", "2026-10-01T00:00:00Z"]
  const ids = times.map((time) => newRunId(new Date(time)))
  expect(ids.toSorted()).toEqual(ids)
})
