import { rmSync } from "node:fs"
import { expect, test } from "vitest"
import { fibonacciDemo } from "./fibonacci.ts"

test("the demonstration ends in one new commit, after two failures that were put right", async () => {
  const demo = fibonacciDemo()
  try {
    const run = demo.run()
    let step = await run.next()
    let summary: object | undefined
    while (!step.done) {
      if (step.value.type === "run-end") summary = step.value.summary
      step = await run.next()
    }
    expect(step.value).toMatchObject({ success: true, content: "Code generation completed using MCP tools" })
    expect(summary).toMatchObject({ rounds: 8, calls: 6, failedCalls: 2, correctedFailures: 2 })
    const { source, log } = demo.outcome()
    expect(source).toContain("export function fibonacci(n: number): number {")
    expect(source).toContain("throw new RangeError")
    expect(log).toMatch(/Add fibonacci implementation[\s\S]*fibonacci\.ts[\s\S]*Say what Fibonacci numbers are/)
  } finally {
    rmSync(demo.folder, { recursive: true, force: true })
  }
})
