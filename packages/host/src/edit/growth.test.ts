import { describe, expect, test, vi } from "vitest"
import { Capture } from "../spawn/capture.ts"
import { streamReport } from "../process/report.ts"
import { plainOutput } from "../text/escapes.ts"
import { applyEdits, type Edit } from "./apply.ts"
import { unifiedDiff } from "./diff.ts"

/**
 * CPU seconds of a task; the smallest of three tries, since other work on the machine only adds. What is below `enough`
 * is not tried again.
 */
async function cpuOf(task: () => unknown, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 3 && least >= enough; attempt++) {
    const before = process.cpuUsage()
    await task()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1e6)
  }
  return least
}

/** What is too short to be measured is no growth. */
const FLOOR_SECONDS = 0.1

async function edited(text: string, edits: readonly Edit[]): Promise<void> {
  const outcome = applyEdits(text, edits, "a.txt")
  if ("changes" in outcome) await unifiedDiff(text, outcome.changes, "a.txt")
}

/** Tasks by the size of their input, each with what once took time that grows faster than it. */
const TASKS: Record<string, (size: number) => () => unknown> = {
  "a near miss among many lines": (size) => {
    const lines = Array.from({ length: size }, (_, at) => `const value${at} = compute(${at * 7}, "some text", ${at})`)
    return () => edited(lines.join("\n"), [{ old_text: `${lines[5]!} and more\n${lines[6]!}x`, new_text: "x" }])
  },
  "a near miss of equal lines": (size) => {
    const text = "same line\n".repeat(size)
    return () => edited(text, [{ old_text: `${"same line\n".repeat(size / 2)}other`, new_text: "x" }])
  },
  "a near miss of equal lines, each with another indentation": (size) => {
    const text = Array.from({ length: size }, (_, at) => `${" ".repeat(at % 7)}same`).join("\n")
    return () => edited(text, [{ old_text: `${"same\n".repeat(size / 2)}same`, new_text: "x" }])
  },
  "many wrong edits": (size) => {
    const text = "const a = 1 // a line of ordinary length\n".repeat(2000)
    const edits = Array.from({ length: size / 100 }, (_, at) => ({
      old_text: `const b${at} = 1 // a line`,
      new_text: "x",
    }))
    return () => edited(text, edits)
  },
  "one text at many places, asked for once": (size) => () =>
    edited("ab\n".repeat(size), [{ old_text: "b", new_text: "c" }]),
  "replacing at many places": (size) => () =>
    edited("ab\n".repeat(size), [{ old_text: "b", new_text: "c", replace_all: true }]),
  "replacing at many places of one line": (size) => () =>
    edited("ab".repeat(size), [{ old_text: "b", new_text: "cd", replace_all: true }]),
  "replacing lines by their trimmed ends": (size) => () =>
    edited("ab \n".repeat(size), [{ old_text: "ab\nab", new_text: "c", replace_all: true }]),
  "a line with many returns": (size) => () => plainOutput(`${"x".repeat(size)}${"\rab".repeat(size)}`),
  "returns at the end of nothing": (size) => () => plainOutput(`${"\r".repeat(size * 10)}x`),
  "escapes without an end": (size) => () => plainOutput("\u001b[0;".repeat(size)),
  "an escape of many parameters": (size) => () => plainOutput(`\u001b[${"0;".repeat(size)}${" ".repeat(size)}`),
  "output in small chunks": (size) => () => {
    const capture = new Capture()
    const chunk = Buffer.from("a\n")
    for (let count = 0; count < size * 10; count++) capture.add(chunk)
    return streamReport(capture.finish())
  },
}

describe("the time of what works on other people's texts grows with them, not faster", () => {
  test.each(Object.entries(TASKS))("%s", async (_, taskOf) => {
    const size = 20_000
    await taskOf(1000)()
    const once = await cpuOf(taskOf(size), FLOOR_SECONDS)
    const most = 3 * Math.max(once, FLOOR_SECONDS)
    expect(await cpuOf(taskOf(size * 2), most)).toBeLessThan(most)
    expect(once).toBeLessThan(2)
  })
})

describe("what is too much", () => {
  test("is refused before it is made", () => {
    const code = (text: string, edits: readonly Edit[]) => {
      const outcome = applyEdits(text, edits, "a.txt")
      return "refused" in outcome ? outcome.refused.error?.code : "changed"
    }
    const large = "a".repeat(45 * 1024 * 1024)
    expect(code(large, [{ old_text: "a", new_text: "b", replace_all: true }])).toBe("EDIT_AMBIGUOUS")
    expect(code("a\n".repeat(90_000), [{ old_text: "a", new_text: "x".repeat(1000), replace_all: true }])).toBe(
      "FILE_TOO_LARGE",
    )
    expect(
      code(
        "a\n".repeat(500_000),
        Array.from({ length: 5000 }, () => ({ old_text: "b", new_text: "c" })),
      ),
    ).toBe("TOO_MANY_EDITS")
    expect(code("a\n".repeat(90_000), [{ old_text: "a", new_text: "b", replace_all: true }])).toBe("changed")
  })
})

test("a text that is there too often is not looked for to the end", () => {
  const looks = vi.spyOn(String.prototype, "indexOf")
  const outcome = applyEdits("a".repeat(300_000), [{ old_text: "a", new_text: "b" }], "a.txt")
  const count = looks.mock.calls.length
  looks.mockRestore()
  expect(outcome).toMatchObject({ refused: { error: { code: "EDIT_AMBIGUOUS" } } })
  expect(count).toBeLessThan(110_000)
})

test("the tail of a stream is the same however it is cut into chunks", () => {
  const all = Buffer.from(Array.from({ length: 5000 }, (_, at) => `line ${at}\n`).join(""))
  const limits = { headBytes: 100, tailBytes: 1000, logBytes: 0 }
  const texts = [1, 7, 99, 1000, 1500, 60_000].map((size) => {
    const capture = new Capture(limits)
    for (let at = 0; at < all.length; at += size) capture.add(all.subarray(at, at + size))
    return capture.finish().text
  })
  expect(texts[0]).toContain("line 4999\n")
  for (const text of texts) expect(text).toBe(texts[0])
})

test("of a line with returns is left what was written last at each place", () => {
  const old = (line: string): string =>
    line
      .replace(/\r+$/u, "")
      .split("\r")
      .reduce((shown, part) => part + shown.slice(part.length), "")
  for (const line of [
    "",
    "\r",
    "a",
    "a\r",
    "\ra",
    "abc\rd",
    "abc\r\rde\r",
    "ab\rcdef\rg",
    "\r\r\ra\r\rbc\rd\r\r",
    "abc\rxyz\r12345\r9",
  ])
    expect([line, plainOutput(line)]).toEqual([line, old(line)])
})
