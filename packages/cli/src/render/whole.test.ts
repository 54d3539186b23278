import { failure, success, type RunEvent, type ToolResult } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { SHOWN_LINES, wholeRenderer } from "./whole.ts"
import { words } from "../testing/words.ts"

/** What is shown of a call with this result and the words after it. */
function shown(result: ToolResult, ...after: RunEvent[]): string {
  let text = ""
  const renderer = wholeRenderer({
    stdout: { write: (more) => (text += more) },
    isTTY: { stdin: false, stdout: false, stderr: false },
    env: {},
  })
  const call = { callId: "1", name: "read" }
  const events: RunEvent[] = [
    { type: "round-start", round: 1, maxRounds: 8, tools: [] },
    { type: "tool-start", ...call, arguments: { path: "a" }, repairs: [], provenance: { kind: "local", name: "l" } },
    { type: "tool-end", ...call, result },
    ...after,
  ]
  for (const event of events) renderer.show(event)
  renderer.close()
  return text
}

test("a result is shown in full, and what the model says of it after it", () => {
  expect(shown(success({ output: "one\n\n  two\n" }), words("Two lines."))).toBe(
    "call read path=a\none\n\n  two\n\nTwo lines.\n",
  )
  expect(shown(success({ data: { n: 1 } }))).toBe('call read path=a\n{\n  "n": 1\n}\n')
})

test("words that say no more than what stands above are not shown again", () => {
  const created = success({ output: "Created /home/me/b.txt (1 line, 3 bytes).\n" })
  const call = "call read path=a\nCreated /home/me/b.txt (1 line, 3 bytes).\n"
  expect(shown(created, words("Created b.txt (1 line, 3 bytes)."))).toBe(call)
  expect(shown(created, words("Created c.txt (1 line, 3 bytes)."))).toBe(`${call}\nCreated c.txt (1 line, 3 bytes).\n`)
  expect(shown(created, words("Created b.txt (1 line, 3 bytes). Read it."))).toContain("Read it.")
})

test("of a long result the first lines are shown, and how many there are more", () => {
  const lines = Array.from({ length: SHOWN_LINES + 50 }, (_, index) => `line ${index + 1}`)
  expect(
    shown(success({ output: lines.join("\n") }))
      .split("\n")
      .slice(-3),
  ).toEqual(["line 200", "[50 more lines; the record has them]", ""])
})

test("a failure says so, and what a model was to do instead is not told where a person did not permit the call", () => {
  expect(shown(failure({ code: "NOT_FOUND", message: "No a", hint: "Did you mean b?" }))).toBe(
    "call read path=a\nfailed: No a\nDid you mean b?\n",
  )
  expect(shown(failure({ code: "PERMISSION_DENIED", message: "It needs approval.", hint: "Go on." }))).toBe(
    "call read path=a\nnot permitted: It needs approval.\n",
  )
})

test("a call that was not run is shown as such", () => {
  const times = { totalMs: 1, modelMs: 1, toolMs: 0, overheadMs: 0 }
  const counts = {
    rounds: 2,
    calls: 1,
    failedCalls: 0,
    correctedFailures: 0,
    modifiedFiles: [],
    inputTokens: 0,
    outputTokens: 0,
    times,
  }
  const end: RunEvent = {
    type: "run-end",
    summary: {
      runId: "r",
      outcome: "completed",
      success: true,
      message: "dry run: 1 call, well-formed; nothing was run",
      ...counts,
      dryRun: true,
    },
  }
  expect(shown(success({ metadata: { dryRun: true } }), end)).toBe(
    "call read path=a\n    well-formed, not run\ndry run: 1 call, well-formed; nothing was run\n",
  )
})
