import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import { failure, success } from "@toolwright/toolbox"
import { describe, expect, test, vi } from "vitest"
import { createLines, summaryLines } from "./lines.ts"
import { jsonLinesRenderer } from "./json-lines.ts"
import { neutralise } from "./neutralise.ts"
import { createActivity, rendererFor, terminalRenderer } from "./progress.ts"
import { argumentsToPermit, duration, oneLine, shortArguments } from "./short.ts"
import { styleFor } from "./style.ts"

const plain = styleFor(false, {})
const linesOf = (events: RunEvent[], width = 100) => {
  const lines = createLines({ style: plain, width, unicode: false })
  return events.flatMap((event) => lines(event))
}
const summary: RunSummary = {
  runId: "r",
  outcome: "completed",
  success: true,
  message: "ok",
  rounds: 2,
  calls: 1,
  failedCalls: 0,
  correctedFailures: 0,
  modifiedFiles: ["a.ts"],
  inputTokens: 0,
  outputTokens: 0,
  times: { totalMs: 1234, modelMs: 1000, toolMs: 200, overheadMs: 34 },
}

test("tools that come and go, and a prompt that a server has to read anew, are told", () => {
  const request = { type: "request", round: 2, messages: [], tools: [], delivery: "native" } as const
  expect(
    linesOf([
      { type: "tools-changed", added: ["move_file"], removed: ["old"] },
      { ...request, prefix: { kept: 990, of: 1000 } },
      { ...request, prefix: { kept: 120, of: 1000 } },
    ]),
  ).toEqual([
    "  note   told of more tools: move_file",
    "  note   no longer there: old",
    "  the prompt is as before for 12 %: the server reads the rest anew",
  ])
})

describe("text of models and tools", () => {
  test.each([
    ["an escape sequence", "a\u001b]0;title\u0007b\u001b[2J", "a␛]0;title␇b␛[2J"],
    ["a carriage return", "good\rbad", "good␍bad"],
    ["C1 controls", "\u009b31m", "\\u009b31m"],
    ["marks that reorder", "abc\u202edef\u2066", "abc\\u202edef\\u2066"],
    ["ordinary text", "naïve\t✓ 世界\r\nend", "naïve\t✓ 世界\nend"],
  ])("is shown with %s made harmless", (_, text, shown) => {
    expect(neutralise(text)).toBe(shown)
  })

  test("cannot reach the terminal through any event", () => {
    const evil = "x\u001b[31m\u202e\r"
    const events: RunEvent[] = [
      {
        type: "run-start",
        runId: evil,
        task: evil,
        agent: evil,
        model: evil,
        format: "f",
        because: evil,
        tools: [],
        unavailable: [],
      },
      { type: "model-retry", attempt: 1, delayMs: 1, reason: evil },
      {
        type: "reply",
        round: 1,
        raw: evil,
        content: evil,
        reasoning: evil,
        calls: [],
        finishReason: "stop",
        modelMs: 1,
      },
      { type: "parse-problem", kind: "k", message: evil, text: evil, repaired: false },
      {
        type: "tool-start",
        callId: "1",
        name: evil,
        arguments: { [evil]: evil },
        repairs: [],
        provenance: { kind: "local", name: "l" },
      },
      { type: "tool-end", callId: "1", name: evil, result: failure({ code: "X", message: evil }) },
      { type: "nudge", reason: "no-call", text: evil },
      { type: "completion-refused", reasons: [evil], text: evil },
      {
        type: "run-end",
        summary: { ...summary, message: evil, modifiedFiles: [evil] },
        error: { code: "X", message: evil, hint: evil },
      },
    ]
    const activity = createActivity(() => 0)
    for (const event of events) activity.see(event)
    const all = [...linesOf(events), activity.text() ?? ""].join("\n")
    expect(all).not.toMatch(/[\u001b\u202e\r]/)
    expect(all).toContain("␛[31m")
  })

  test("is whole where somebody is to permit a call, or says how much is not shown", () => {
    const command = `echo ${"a ".repeat(300)}; rm -rf ~\n\u001b[2K`
    expect(argumentsToPermit({ command, in: "src" })).toBe(`command=${JSON.stringify(command)} in=src`)
    expect(argumentsToPermit({ text: "x".repeat(5000) })).toMatch(/^text=x{1995}… \[3005 more characters, not shown\]$/)
  })

  test("says why a request is tried again, on a narrow terminal too", () => {
    const [line] = linesOf(
      [{ type: "model-retry", attempt: 1, delayMs: 1000, reason: "connect ECONNREFUSED 127.0.0.1:11434" }],
      40,
    )
    expect(line).toBe("  retry  connect ECO…; try 2 in 1.0 s")
  })

  test("is cut to one line, between characters", () => {
    expect(oneLine("a\n  b\tc", 10)).toBe("a b c")
    expect(oneLine("😀😀😀", 2)).toBe("😀…")
    expect(shortArguments({ path: "src/a.ts", text: "two words", n: 3, list: ["x"] }, 80)).toBe(
      'path=src/a.ts text="two words" n=3 list=["x"]',
    )
  })
})

test.each([
  [420, "0.4 s"],
  [9940, "9.9 s"],
  [12_300, "12 s"],
  [59_600, "1 min 0 s"],
  [200_000, "3 min 20 s"],
])("%i ms read as %s", (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text)
})

test("colour is for terminals only, and NO_COLOR is respected", () => {
  expect(styleFor(true, {}).red("x")).toBe("\u001b[31mx\u001b[39m")
  expect(styleFor(true, { NO_COLOR: "1" }).red("x")).toBe("x")
  expect(styleFor(true, { TERM: "dumb" }).red("x")).toBe("x")
  expect(styleFor(false, {}).red("x")).toBe("x")
  expect(styleFor(false, { FORCE_COLOR: "1" }).red("x")).toBe("\u001b[31mx\u001b[39m")
})

test("a summary tells counts, corrections, times and changed files", () => {
  expect(summaryLines({ ...summary, failedCalls: 2, correctedFailures: 1 }, plain)).toEqual([
    "done: ok",
    "2 rounds, 1 call, 2 failed, 1 corrected, 1.2 s (model 1.0 s, tools 0.2 s, own 34 ms)",
    "changed: a.ts",
  ])
  expect(summaryLines({ ...summary, success: false, outcome: "max-rounds" }, plain)[0]).toBe("max-rounds: ok")
  const inWords = { ...summary, success: false, outcome: "no-tool-use" } as const
  expect(summaryLines({ ...inWords, calls: 0 }, plain).at(-1)).toContain("'toolwright doctor' tries")
  expect(summaryLines(inWords, plain).join()).not.toContain("in words alone")
})

test("a call's line tells its arguments, its result and how long it took", () => {
  const lines = linesOf([
    {
      type: "tool-start",
      callId: "1",
      name: "search",
      arguments: { pattern: "add" },
      repairs: [],
      provenance: { kind: "local", name: "l" },
    },
    {
      type: "tool-end",
      callId: "1",
      name: "search",
      result: { ...success({ output: "3 matches\nin 2 files" }), executionTimeMs: 1500 },
    },
  ])
  expect(lines).toEqual(["  ok     search pattern=add 1.5 s", "    3 matches in 2 files"])
})

test("JSON lines carry each event, but not the whole conversation each time", () => {
  let text = ""
  const renderer = jsonLinesRenderer({ write: (piece) => (text += piece) })
  renderer.show({ type: "request", round: 1, messages: [1, 2], tools: [], delivery: "native" })
  expect(JSON.parse(text)).toEqual({ type: "request", round: 1, messageCount: 2, toolCount: 0, delivery: "native" })
})

describe("in a terminal", () => {
  const world = (isTTY: boolean, env = {}) => {
    const written: string[] = []
    const stdout = { write: (text: string) => written.push(text), columns: 60 }
    return { written, world: { stdout, isTTY: { stdin: isTTY, stdout: isTTY, stderr: isTTY }, env } }
  }

  test("a line below the others says what is going on, and is gone at the end", () => {
    vi.useFakeTimers()
    try {
      const { written, world: terminal } = world(true)
      let now = 0
      const renderer = terminalRenderer(terminal, () => now)
      renderer.show({ type: "round-start", round: 3, maxRounds: 20, tools: [] })
      renderer.show({ type: "request", round: 3, messages: [], tools: [], delivery: "native" })
      now = 12_000
      vi.advanceTimersByTime(100)
      expect(written.at(-1)).toContain("round 3/20 · waiting for the model · 12 s")
      renderer.show({ type: "text-delta", text: "abc" })
      vi.advanceTimersByTime(100)
      expect(written.at(-1)).toContain("writing (3 characters)")
      renderer.close()
      expect(written.at(-1)).toBe("\r\u001b[2K")
      const count = written.length
      vi.advanceTimersByTime(1000)
      expect(written).toHaveLength(count)
    } finally {
      vi.useRealTimers()
    }
  })

  test("a pipe gets the plain lines only", () => {
    const { written, world: pipe } = world(false)
    const renderer = rendererFor(pipe)
    renderer.show({ type: "round-start", round: 1, maxRounds: 2, tools: [] })
    renderer.show({ type: "text-delta", text: "abc" })
    renderer.close()
    expect(written).toEqual(["round 1/2\n"])
  })
})
