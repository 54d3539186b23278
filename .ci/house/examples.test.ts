import { globSync, readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")

/** The code of the examples in a file's comments. */
function examplesIn(text: string): string[] {
  const comments = text.match(/\/\*\*[\s\S]*?\*\//g) ?? []
  return comments
    .flatMap((comment) => {
      const lines = comment.slice(0, -2).split("\n")
      const from = lines.findIndex((line) => /^\s*\* @example$/.test(line))
      if (from === -1) return []
      const to = lines.findIndex((line, at) => at > from && /^\s*\*\s*(?:@\w+.*)?$/.test(line))
      return [lines.slice(from + 1, to === -1 ? undefined : to).map((line) => line.replace(/^\s*\* ?/, ""))]
    })
    .map((lines) => lines.join("\n"))
}

/** What is left out of an example stands for something. */
const whole = (code: string): string => code.replaceAll("[…]", "[]").replaceAll("{ … }", "{}")

function isCode(code: string): boolean {
  try {
    stripTypeScriptTypes(`async function* example() {\n${whole(code)}\n}`)
    return true
  } catch {
    return false
  }
}

test("the examples in comments are code that can be copied: a statement a line, none of them run together", () => {
  const examples = globSync("packages/*/src/**/*.ts", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) => examplesIn(readFileSync(join(root, file), "utf8")).map((code) => ({ file, code })))
  expect(examples.length).toBeGreaterThan(40)
  expect(examples.filter(({ code }) => code.trim() === "" || !isCode(code))).toEqual([])
})

test.each([
  ["const a = open() const b = a.read()", false],
  ["const a = await open()\nfor await (const b of a) console.log(b)", true],
  ["using a = open()\nreturn a.read() // what is there", true],
])("tells code from what was filled like a paragraph: %j", (code, expected) => expect(isCode(code)).toBe(expected))
