import type { TestModule } from "vitest/node"
import { expect, test } from "vitest"
import { closingLine, passedAgain, untried } from "../closing-line.ts"

test("what passed at its second try alone is named", () => {
  const tests = [true, false].map((flaky) => ({ fullName: flaky ? "waits > too short" : "is sure", flaky }))
  const allTests = () => tests.map(({ fullName, flaky }) => ({ fullName, diagnostic: () => ({ flaky }) }))
  const module = { relativeModuleId: "a.test.ts", children: { allTests } } as unknown as TestModule
  expect(passedAgain([module])).toEqual(["a.test.ts > waits > too short"])
})

test("what a run did not try is named, with the command that installs what it needs", () => {
  const parts = [
    { what: "real clients", installed: false, command: "npm run clients:install" },
    { what: "the layout", installed: true, command: "npm run check" },
  ]
  expect(untried(parts)).toEqual([
    "Not tried, since what it needs is not installed: real clients (npm run clients:install).",
  ])
})

function module(states: readonly string[], errors = 0): TestModule {
  const tests = states.map((state) => ({ result: () => ({ state }) }))
  return {
    errors: () => Array.from({ length: errors }, () => ({})),
    children: { allTests: () => tests },
  } as unknown as TestModule
}

test("a run of tests closes with its counts; files that do not load and stray errors are failures", () => {
  expect(closingLine([module(["passed", "passed", "skipped"]), module(["failed"])], 0)).toBe(
    "2 passed, 1 failed, 1 skipped",
  )
  expect(closingLine([module([], 1), module(["passed", "pending"])], 2)).toBe("1 passed, 3 failed, 0 skipped")
})
