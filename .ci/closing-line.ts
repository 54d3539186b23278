import type { Reporter, TestModule } from "vitest/node"

/** Ends a run of tests with its counts as one plain line of its own, which people and programs find without knowing the runner. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    process.once("exit", () => console.log(`\n${closingLine(modules, unhandled.length)}`))
  }
}

/** A file that did not load, and an error that belongs to no test, count as failed: nothing of theirs passed. */
export function closingLine(modules: readonly TestModule[], unhandled: number): string {
  const count = { passed: 0, failed: unhandled, skipped: 0 }
  for (const module of modules) {
    count.failed += module.errors().length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state !== "pending") count[state]++
    }
  }
  return `${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`
}
