import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { read, root } from "./run-example.ts"

const [table = "", list = ""] = read("docs/scenarios.md").split("\n## The tests\n")

/** The cells of a table's rows, without its head. */
const rowsOf = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )

const tests = new Map(
  rowsOf(list).map(([name = "", held = ""]) => {
    const [file = "", title = ""] = held.split(" > ")
    return [name, { file, title }]
  }),
)
const rows = rowsOf(table)
/** What a cell names; nothing where it says why there is none. */
const namedIn = (cell: string): string[] => (cell.startsWith("– ") ? [] : cell.split(", "))

test("every test that the page of scenarios names is there", () => {
  expect(rows.length).toBeGreaterThan(20)
  const missing = [...tests].filter(
    ([, { file, title }]) => title === "" || !existsSync(join(root, file)) || !read(file).includes(title),
  )
  expect(missing).toEqual([])
})

test("every scenario has a cell for both databases and three surfaces, with tests of the list or a reason", () => {
  expect(rows.map(([, database]) => database)).toEqual(rows.map((_row, at) => (at % 2 === 0 ? "SQLite" : "PostgreSQL")))
  expect(rows.filter(([scenario = ""], at) => (scenario === "") !== (at % 2 === 1))).toEqual([])
  const cells = rows.flatMap(([, , ...surfaces]) => {
    expect(surfaces).toHaveLength(3)
    return surfaces
  })
  expect(cells.filter((cell) => cell === "" || (cell.startsWith("–") && cell.length < 15))).toEqual([])
  const named = new Set(cells.flatMap(namedIn).map((name) => name.replace("*", "")))
  expect([...named].toSorted()).toEqual([...tests.keys()].toSorted())
})

test("what is said to hold in PostgreSQL is played on both databases, and what is said to be played by the whole alone is", () => {
  expect(read(".ci/whole.ts")).toContain("TOOLWRIGHT_WHOLE:")
  const postgres = rows.filter(([, database]) => database === "PostgreSQL").flatMap(([, , ...cells]) => cells)
  for (const name of postgres.flatMap(namedIn)) {
    const { file } = tests.get(name.replace("*", ""))!
    expect(read(file), name).toContain("onBothDatabases(")
    if (name.endsWith("*")) expect(read(file), name).toContain("TOOLWRIGHT_WHOLE")
  }
})
