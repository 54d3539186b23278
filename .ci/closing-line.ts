import { existsSync } from "node:fs"
import type { Reporter, TestModule } from "vitest/node"

/** What tests use of the real world, as large as all else together: installed apart, and always in CI. */
export const CLIENTS = {
  installed: existsSync(new URL("clients/node_modules/.package-lock.json", import.meta.url)),
  command: "npm run clients:install",
}

/**
 * Ends a run of tests with its counts as one plain line of its own, which people and programs find without knowing the
 * runner; before it stand the tests that passed at their second try alone, each of which is a defect to be found.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const left = CLIENTS.installed
      ? ""
      : `Not tried, since they are not installed: real clients, llama.cpp, a browser (${CLIENTS.command}).\n`
    const again = passedAgain(modules).map((name) => `Passed at its second try: ${name}\n`)
    process.once("exit", () => console.log(`\n${left}${again.join("")}${closingLine(modules, unhandled.length)}`))
  }
}

/** The tests that failed first, and passed when they were tried again. */
export function passedAgain(modules: readonly TestModule[]): string[] {
  return modules.flatMap((module) =>
    [...module.children.allTests()]
      .filter((test) => test.diagnostic()?.flaky === true)
      .map((test) => `${module.relativeModuleId} > ${test.fullName}`),
  )
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
