import { existsSync } from "node:fs"
import type { Reporter, TestModule } from "vitest/node"

/** What some tests need and is installed apart from the rest; in CI always. */
export interface InstalledApart {
  what: string
  installed: boolean
  command: string
}

const isInstalled = (folder: string): boolean =>
  existsSync(new URL(`${folder}/node_modules/.package-lock.json`, import.meta.url))

/** What tests use of the real world, as large as all else together. */
export const CLIENTS: InstalledApart = {
  what: "real clients, llama.cpp, a browser",
  installed: isInstalled("clients"),
  command: "npm run clients:install",
}

const CHECKS: InstalledApart = {
  what: "whether functions are short",
  installed: isInstalled("checks"),
  command: "npm run check",
}

/** A line for each part that this run did not try, with the command that installs what it needs. */
export function untried(parts: readonly InstalledApart[]): string[] {
  return parts
    .filter(({ installed }) => !installed)
    .map(({ what, command }) => `Not tried, since what it needs is not installed: ${what} (${command}).`)
}

/**
 * Ends a run of tests with its counts as one plain line of its own, which people and programs find without knowing the
 * runner; before it stand the tests that passed at their second try alone, each of which is a defect to be found.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const again = passedAgain(modules).map((name) => `Passed at its second try: ${name}`)
    const lines = ["", ...untried([CLIENTS, CHECKS]), ...again, closingLine(modules, unhandled.length)]
    process.once("exit", () => console.log(lines.join("\n")))
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
