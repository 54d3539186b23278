import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const packages = join(import.meta.dirname, "../../packages")
const PURE = ["toolbox", "logits", "toolformat"]

const CHANGES = "set|add|delete|clear|push|unshift|pop|shift|splice|sort|reverse|fill|copyWithin|encodeInto"

/** Declarations at the top of a module, laid out by the formatter: they alone begin a line. */
function stateOf(text: string): string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "")
  const found = [...code.matchAll(/^(?:export )?(?:let|var) (\w+)/gm)].map(([, name]) => name!)
  for (const [, name, value] of code.matchAll(/^(?:export )?const (\w+)[^=\n]*=\s*(new \w+|\[|\{)/gm)) {
    const written = new RegExp(
      `\\b${name}\\.(?:${CHANGES})\\(|\\b${name}(?:\\[[^\\]\\n]*\\]|\\.\\w+)+!? ` +
        `?(?:[-+*/|&^?]{0,3}=(?![=>])|\\+\\+|--)`,
    )
    if (value!.startsWith("new Weak") || written.test(code)) found.push(name!)
  }
  return found
}

const found = PURE.flatMap((room) =>
  readdirSync(join(packages, room, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$|(^|\/)(testing|fixtures)\//.test(file))
    .map((file) => [`${room}/src/${file}`, stateOf(readFileSync(join(packages, room, "src", file), "utf8"))] as const),
)

test("pure rooms have no state at the top of a module but the one memory", () => {
  expect(found.length).toBeGreaterThan(150)
  expect(found.filter(([, names]) => names.length > 0)).toEqual([])
})

test.each([
  ["let count = 0", "count"],
  ["const known = new WeakMap<A, B>()", "known"],
  ["const known = new Map<string, B>()\nfunction f() {\n  known.set(a, b)\n}", "known"],
  ["export const all: B[] = []\nexport function f() {\n  all.push(b)\n}", "all"],
  ["const kept = {}\nfunction f() {\n  kept[a] ??= b\n}", "kept"],
  ["const counts = { a: 0 }\nfunction f() {\n  counts.a++\n}", "counts"],
])("%s is state", (text, name) => expect(stateOf(text)).toEqual([name]))

test.each(["const NAMES = new Set([1])\nf(NAMES.has(1))", "const size = known.size\nif (a.known === b) f()"])(
  "%s is none",
  (text) => expect(stateOf(text)).toEqual([]),
)
