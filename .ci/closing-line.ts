import { existsSync } from "node:fs"
import type { Reporter, TestModule } from "vitest/node"

/** The tests with the real clients, whose packages are as large as all others together: installed apart, with CI. */
export const CLIENTS = {
  installed: existsSync(new URL("clients/node_modules/.package-lock.json", import.meta.url)),
  command: "npm run test:clients",
}

/**
 * Ends a run of tests with its counts as one plain line of its own, which people and programs find without knowing the
 * runner.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const left = CLIENTS.installed
      ? ""
      : `Not run, since they are not installed: the real clients (${CLIENTS.command}).\n`
    process.once("exit", () => console.log(`\n${left}${closingLine(modules, unhandled.length)}`))
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
