import { join } from "node:path"
import { isInside } from "@toolwright/host/paths"
import { stateTextOf } from "@toolwright/host/state-files"
import { belowRoot, markedLines } from "./report.ts"

/**
 * Loaded before every file that node's runner starts: says that the file was begun, that it came to its end by itself,
 * and which assertions are others than at the beginning. To the error stream, for on the other the runner's own words
 * go.
 */
const WITNESS = `
import { writeSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
import assert from "node:assert"
const marker = process.env.TOOLWRIGHT_TEST_MARKER
if (marker && isMainThread && process.env.NODE_TEST_CONTEXT) {
  const file = process.argv[1]
  const say = (event) => { try { writeSync(2, "\\n" + marker + JSON.stringify({ ...event, file }) + "\\n") } catch {} }
  const held = [assert, assert.strict].flatMap((all) => Object.keys(all).map((name) => [all, name, all[name]]))
  say({ event: "begun" })
  process.on("beforeExit", () => {
    for (const [all, name, value] of held) if (all[name] !== value) say({ event: "replaced", name: "assert." + name })
    say({ event: "through" })
  })
}
`

/** What node loads first, as an option's value without blanks. */
export const NODE_WITNESS = `data:text/javascript;base64,${Buffer.from(WITNESS).toString("base64")}`

/**
 * Why the results of a run show nothing, although none is bad: code that the tests load ended the process, or replaced
 * what tests compare with. A test file that ends the process itself is taken at its word: what it was is known.
 */
export function whyNotShown(output: string, marker: string, root: string): string | undefined {
  const events = markedLines(output, marker)
  const replaced = [...new Set(events.flatMap(({ event, name }) => (event === "replaced" ? [String(name)] : [])))]
  if (replaced.length > 0)
    return `The code that was tested replaces what tests compare with (${replaced.join(", ")}): they show nothing.`
  const filesOf = (kind: string) => events.flatMap(({ event, file }) => (event === kind ? [String(file)] : []))
  const through = new Set(filesOf("through"))
  const cut = [...new Set(filesOf("begun"))].filter((file) => !through.has(file) && hasTests(root, file))
  return cut.length === 0
    ? undefined
    : `Not all tests ran: ${cut.map((file) => belowRoot(root, file)).join(", ")} ended before its tests were ` +
        "through; something that it loads ends the process."
}

function hasTests(root: string, file: string): boolean {
  if (!isInside(root, file)) return false
  const text = stateTextOf(file) ?? ""
  return /["']node:test["']/u.test(text) && !/\bprocess\b.{0,40}exit/iu.test(text)
}

/** Runners that say how many tests they ran. */
const RUNNER =
  /(?:^|[\s;&|/])(?:mocha|ava|tap|tape|jest|vitest|jasmine|uvu|qunit|playwright test|bun test|deno test|node (?:\S+ )*--test)\b/u

/** Whether the test script of a package names a runner by itself, so that its silence means that nothing ran. */
export function namesRunner(root: string): boolean {
  try {
    const { scripts } = JSON.parse(stateTextOf(join(root, "package.json")) ?? "{}") as { scripts?: { test?: string } }
    return RUNNER.test(scripts?.test ?? "")
  } catch {
    return false
  }
}
