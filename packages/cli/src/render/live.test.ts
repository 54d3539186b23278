import { failure, success, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { liveRenderer, speedOf } from "./live.ts"
import { words } from "../testing/words.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const times = { totalMs: 120, modelMs: 50, toolMs: 30, overheadMs: 40 }
const summary: RunSummary = {
  runId: "r",
  outcome: "completed",
  success: true,
  message: "Done.",
  rounds: 2,
  calls: 1,
  failedCalls: 0,
  correctedFailures: 0,
  modifiedFiles: [],
  inputTokens: 0,
  outputTokens: 34,
  times,
}
function renderer(tty: boolean) {
  let text = ""
  const shown = liveRenderer({
    stdout: { write: (piece) => (text += piece), columns: 80 },
    isTTY: { stdin: tty, stdout: tty, stderr: tty },
    env: { NO_COLOR: "1" },
  })
  return { shown, text: () => text, show: (...events: RunEvent[]) => events.forEach((event) => shown.show(event)) }
}
const said = (text: string): RunEvent => ({ type: "text-delta", text })
const called: RunEvent[] = [
  { type: "call-start", callId: "1", name: "look" },
  { type: "args-delta", callId: "1", text: '{"a":\n' },
  { type: "args-delta", callId: "1", text: ' "\u001b[2J"}' },
]

test("text and calls appear as they are decoded, without the white space between them and without escape sequences", () => {
  const { show, text } = renderer(false)
  show(said("\n I "), said("look.\n"))
  expect(text()).toBe("  I look.")
  show(said("\n"), called[0]!, called[1]!)
  expect(text()).toBe('  I look.\n  call   look {"a": ')
  show(called[2]!, { type: "call-end", callId: "1", name: "look", arguments: {}, path: "text" }, said("One\n\ntwo"), {
    type: "run-end",
    summary,
  })
  expect(text()).toBe(
    '  I look.\n  call   look {"a":  "␛[2J"}\n  One\n  \n  two\n  1 call · 34 tokens in 50 ms, 680 a second · ' +
      "0.1 s in all\n",
  )
})

test("says how a run ended that did not succeed, and what to do", () => {
  const { show, text } = renderer(false)
  show({
    type: "run-end",
    summary: { ...summary, success: false, outcome: "failed", message: "No server" },
    error: { code: "X", message: "No server", hint: "Start it." },
  })
  expect(text()).toMatch(/^failed: No server\nStart it\.\n/)
})

test("on a terminal a line says what is going on; it stands still while it is held, and is gone at the end", () => {
  const { shown, show, text } = renderer(true)
  show({ type: "request", round: 1, messages: [], tools: [], delivery: "native" })
  vi.advanceTimersByTime(100)
  expect(text()).toContain("waiting for the model")
  shown.hold()
  const held = text()
  vi.advanceTimersByTime(1000)
  expect(text()).toBe(held)
  shown.release()
  vi.advanceTimersByTime(100)
  expect(text().length).toBeGreaterThan(held.length)
  shown.close()
  expect(text()).toMatch(/\r\u001b\[2K$/)
})

test("the speed is told where tokens are counted, over the model's whole time", () => {
  expect(speedOf(summary)).toBe("1 call · 34 tokens in 50 ms, 680 a second · 0.1 s in all")
  expect(speedOf({ ...summary, calls: 0, outputTokens: 0 })).toBe("0.1 s in all")
})

test("a result is shown in its own lines where there are more than one, up to a limit, and a failure as well", () => {
  let text = ""
  const shown = liveRenderer(
    { stdout: { write: (piece) => (text += piece) }, isTTY: { stdin: false, stdout: false, stderr: false }, env: {} },
    { resultLines: 2 },
  )
  const result = {
    success: true as const,
    output: "one\n  two\nthree\u0007\nfour\n",
    data: undefined,
    modifiedFiles: [],
    metadata: {},
    executionTimeMs: 1,
  }
  shown.show({ type: "tool-end", callId: "1", name: "look", result })
  shown.show({
    type: "tool-end",
    callId: "2",
    name: "look",
    result: failure({ code: "TOOL_FAILED", message: "no\nnot at all" }),
  })
  expect(text).toBe(
    "  ok     look 0.0 s\n    one\n      two\n    [2 more lines]\n  failed look 0.0 s\n    no\n    not at all\n",
  )
})

test("what is said of results is left out where they say it themselves, and otherwise shown before the next call", () => {
  const after = (result: string, ...events: RunEvent[]): string => {
    let text = ""
    const shown = liveRenderer(
      { stdout: { write: (piece) => (text += piece) }, isTTY: { stdin: false, stdout: false, stderr: false }, env: {} },
      { resultLines: 2 },
    )
    shown.show({ type: "tool-end", callId: "1", name: "write", result: success({ output: result }) })
    for (const event of events) shown.show(event)
    return text.slice(text.indexOf("\n", text.indexOf("    Created")) + 1)
  }
  const made = "Created /home/me/b.txt (1 line)"
  expect(after(made, said("Created "), said("b.txt (1 line)."), words("Created b.txt (1 line)."))).toBe("")
  expect(after(made, said("It is "), said("done."), words("It is done."))).toBe("  It is done.\n")
  expect(after(made, said("Now read.\n"), called[0]!)).toBe("  Now read.\n  call   look ")
})
