import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { plainReading } from "./plain-reading.ts"

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "plain-reading-"))
  writeFileSync(join(root, "a.txt"), "one\n")
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

describe("a plain reading of a request", () => {
  test.each([
    ["search for 'median' in this folder", { name: "search_grep", arguments: { pattern: "median", path: "." } }],
    ["find median in the a.txt", { name: "search_grep", arguments: { pattern: "median", path: "a.txt" } }],
    ["add sour cream to a.txt!", { name: "append_file", arguments: { path: "a.txt", content: "sour cream" } }],
    [
      'add "a line, and more" to a.txt',
      { name: "append_file", arguments: { path: "a.txt", content: "a line, and more" } },
    ],
    [
      "put x after line 3 of the file a.txt",
      { name: "insert_lines", arguments: { path: "a.txt", after_line: 3, content: "x" } },
    ],
  ])("%s", (request, call) => {
    expect(plainReading(request, root)?.call).toEqual(call)
  })

  test.each([
    ['append "a b" to a.txt', true],
    ["insert `x` before line 1 of a.txt", true],
    ["append oat milk to a.txt", false],
    ["search for 'median' in a.txt", false],
  ])("is literal where what is to be written stands in quotes: %s", (request, literal) => {
    expect(plainReading(request, root)?.literal).toBe(literal)
  })

  test.each([
    "add eggs to b.txt",
    "add a line to a.txt",
    "add the word eggs to a.txt",
    "add eggs and milk to a.txt",
    "add eggs to a.txt and delete it",
    "insert x after line 0 of a.txt",
    "find x in ../a.txt",
    "find x in /etc",
    "find x and y in .",
    `add ${"x ".repeat(50_000)}to a.txt`,
  ])("none of what says more, or names what is not there: %j", (request) => {
    expect(plainReading(request, root)).toBeUndefined()
  })

  test("none where nobody knows the folder", () => {
    expect(plainReading("find x in .", undefined)).toBeUndefined()
  })
})
