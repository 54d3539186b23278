import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { read, root } from "./run-example.ts"

/** The rows of the page: a promise, and the file and name of the test that holds it. */
const rows = read("docs/promises.md")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| ---") && !/^\| (promise|sentence) /.test(line))
  .map((line) => {
    const [, promise = "", held = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    const [file = "", name = ""] = held.replaceAll("`", "").split(" > ")
    return { promise, file, name }
  })

test("every promise names a test that is there", () => {
  const missing = rows.filter(
    ({ file, name }) => !existsSync(join(root, file)) || !read(file).includes(name) || name === "",
  )
  expect(missing).toEqual([])
})

/** Words by which a sentence promises something. */
const PROMISING = /\b(never|always|cannot|only|every|each|nothing|no|not|any|same|all)\b/i

test("each sentence of the README that promises something is among them", () => {
  const prose = read("README.md")
    .replaceAll(/```[^]*?```/g, "")
    .split("\n\n")
    .map((paragraph) => paragraph.replaceAll(/\s+/g, " ").trim())
    .filter((paragraph) => paragraph !== "" && !/^[|#]/.test(paragraph))
  const promising = prose
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?:])\s+(?=[A-Z`*])/))
    .filter((sentence) => PROMISING.test(sentence))
    .map((sentence) => sentence.replaceAll("|", "\\|"))
  expect(promising.length).toBeGreaterThan(10)
  expect(promising.filter((sentence) => !rows.some(({ promise }) => promise === sentence))).toEqual([])
})
