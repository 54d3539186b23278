import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"

const packages = join(import.meta.dirname, "../../packages")
const rooms = readdirSync(packages).filter((room) => existsSync(join(packages, room, "src")))

/** What each file of a room imports out of the same room; types count, since a reader follows them too. */
function imports(room: string): Map<string, string[]> {
  const folder = join(packages, room, "src")
  const files = (readdirSync(folder, { recursive: true }) as string[]).filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file) && !/(^|\/)(fixtures|testing)\//.test(file),
  )
  const known = new Set(files)
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(folder, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
      const found = [...text.matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g)]
      return [file, found.map((match) => join(dirname(file), match[1]!)).filter((target) => known.has(target))]
    }),
  )
}

/** Files that reach themselves, in groups that reach each other (Tarjan). */
function circles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const number = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (file: string): void => {
    number.set(file, number.size)
    lowest.set(file, number.get(file)!)
    stack.push(file)
    for (const next of edges.get(file)!) {
      if (!number.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(next)!))
    }
    if (lowest.get(file) !== number.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) found.push(group.toSorted())
  }
  for (const file of edges.keys()) if (!number.has(file)) visit(file)
  return found
}

test("the search for circles finds one", () => {
  const edges = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", ["a"]],
    ["d", []],
  ])
  expect(circles(edges)).toEqual([["a", "b", "c"]])
})

test.each(rooms)("no files of %s import each other in a circle", (room) => {
  expect(circles(imports(room))).toEqual([])
})

/** The folders of `logits`, from the ground up: each may look only into itself and the ones before it. */
const FLOORS = [
  "automaton",
  "schema",
  "lexeme",
  "grammar",
  "plan",
  "lowering",
  "grounding",
  "constraint",
  "matcher",
  "masks",
  "gbnf",
  "text-grammar",
  "filter",
  "sampling",
  "safety",
  "presets",
  "biasing",
  "wire",
  "transformers",
]

test("no folder of logits looks into a floor above it", () => {
  const floorOf = (file: string): number => FLOORS.indexOf(file.split("/")[0]!)
  const files = [...imports("logits")].filter(([file]) => file.includes("/"))
  expect([...new Set(files.map(([file]) => file.split("/")[0]!))].toSorted()).toEqual(FLOORS.toSorted())
  const upward = files.flatMap(([file, targets]) =>
    targets.filter((target) => floorOf(target) > floorOf(file)).map((target) => `${file} imports ${target}`),
  )
  expect(upward).toEqual([])
})
