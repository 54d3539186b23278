import { defineTool, success, type ToolDefinition } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { unshownClaims } from "./claims.ts"
import { Ledger } from "./ledger.ts"

const tool = (more: Partial<ToolDefinition>): ToolDefinition => ({
  ...defineTool({ name: "t", description: "", parameters: { type: "object" }, execute: () => "" }),
  ...more,
})
const READS = tool({ effects: { readOnly: true } })
const WRITES = tool({ effects: { writes: ["path"] } })
const RUNS = tool({ effects: {} })

/** What is told of an answer after calls of these tools. */
function told(answer: string, ...calls: ToolDefinition[]): string[] {
  const ledger = new Ledger()
  for (const each of calls) {
    const modifiedFiles = each === WRITES ? ["a.txt"] : []
    ledger.record(each.name, { path: "a.txt" }, success({ output: "", modifiedFiles }), each)
  }
  return unshownClaims(answer, ledger).map(({ message }) => message)
}

describe("what an answer claims is told where no result shows it", () => {
  test.each([
    ["I fixed the bug.", [READS]],
    ["We have now added src/report.ts.", []],
    ["I’ve just committed the code.", [READS]],
    ["All tests pass.", []],
    ["The 3 unit tests are green.", [READS]],
    ["The tests pass now.", [RUNS, WRITES]],
  ])("%s", (answer, calls) => {
    expect(told(answer, ...calls)).toHaveLength(1)
  })

  test.each([
    ["I fixed the bug.", [WRITES]],
    ["The tests pass now.", [WRITES, RUNS]],
    ["I wrote a poem for you.", []],
    ["The tests should pass once you rename it.", []],
    ["I have not changed any file.", []],
    ['The commit says "I fixed the parser", and `I moved src/a.ts`.', [READS]],
    ["> I fixed the file\n\nThat is what Ada wrote.", [READS]],
    ["It was fixed in src/add.js by Ada.", [READS]],
    ["done", []],
  ])("nothing of: %s", (answer, calls) => {
    expect(told(answer, ...calls)).toEqual([])
  })
})
