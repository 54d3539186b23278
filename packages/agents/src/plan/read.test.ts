import { describe, expect, test } from "vitest"
import { readPlan } from "./read.ts"

const task = (more: object = {}) => ({ agent: "reviewer", task: "look", ...more })
const named = (count: number, make: (index: number) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, make(index)]))

describe("a plan that somebody else wrote", () => {
  test("with a quarter of a million unknown names has some of its mistakes told", async () => {
    const after = (index: number) => Array.from({ length: 500 }, (_, other) => `nobody${index}-${other}`)
    const tasks = named(500, (index) => task({ after: after(index) }))
    const thrown = await readPlan({ name: "p", tasks }).catch((error: Error) => error.message)
    expect(String(thrown).split("\n")).toHaveLength(21)
  })

  test("whose inputs multiply is refused before they are put in", async () => {
    const inputs = { a: { default: "y".repeat(20_000) } }
    const tasks = named(500, () => task({ task: "{a}".repeat(10_000) }))
    await expect(readPlan({ name: "p", inputs, tasks })).rejects.toMatchObject({ code: "INVALID_PLAN" })
    await expect(
      readPlan(
        { name: "p", inputs: { a: {} }, tasks: { t: task({ task: "{a}{a}" }) } },
        { said: { a: "z".repeat(3 << 20) } },
      ),
    ).rejects.toMatchObject({ code: "INVALID_PLAN" })
  })

  test("may name an input as objects name what they inherit", async () => {
    const plan = { name: "p", inputs: { constructor: {} }, tasks: { t: task({ task: "{constructor}" }) } }
    await expect(readPlan(plan)).rejects.toMatchObject({ code: "INVALID_PLAN" })
    const filled = await readPlan(plan, { said: Object.fromEntries([["constructor", "said"]]) })
    expect(filled.tasks.t!.task).toBe("said")
  })

  test("that waits for itself, or has too many tasks, is refused", async () => {
    const circle = { a: task({ after: ["b"] }), b: task({ after: ["a"] }) }
    await expect(readPlan({ name: "p", tasks: circle })).rejects.toMatchObject({ code: "TASK_CYCLE" })
    const many = named(100_000, () => task())
    await expect(readPlan({ name: "p", tasks: many })).rejects.toMatchObject({ code: "INVALID_PLAN" })
    await expect(readPlan({ name: "p\u001B[2J", tasks: { a: task() } })).rejects.toMatchObject({ code: "INVALID_PLAN" })
  })
})
