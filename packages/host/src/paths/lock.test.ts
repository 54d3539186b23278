import { expect, test } from "vitest"
import { createLocks } from "./lock.ts"

const pause = () => new Promise((resolve) => setImmediate(resolve))

test("tasks with a common key run one after the other in their order, others side by side", async () => {
  const lock = createLocks()
  const seen: string[] = []
  const task = (name: string) => async () => {
    seen.push(`${name} begins`)
    await pause()
    seen.push(`${name} ends`)
    if (name === "a1") throw new Error("failed")
    return name
  }
  const results = await Promise.allSettled([lock(["a"], task("a1")), lock(["a"], task("a2")), lock(["b"], task("b1"))])
  expect(results.map((result) => (result.status === "fulfilled" ? result.value : "failed"))).toEqual([
    "failed",
    "a2",
    "b1",
  ])
  expect(seen.indexOf("a2 begins")).toBeGreaterThan(seen.indexOf("a1 ends"))
  expect(seen.indexOf("b1 begins")).toBeLessThan(seen.indexOf("a1 ends"))
})

test(
  "tasks that take the same keys in any order, or one twice, do not wait for each other for ever",
  { timeout: 120_000 },
  async () => {
    const lock = createLocks()
    const rounds = Array.from({ length: 20 }, (_, round) =>
      lock(round % 2 === 0 ? ["a", "b", "c"] : ["c", "b", "a"], pause),
    )
    await Promise.all([...rounds, lock(["a", "a"], pause)])
  },
)
