import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { read, root } from "./run-example.ts"

/** The rows of the page: a promise, and the file and name of the test that holds it. */
const rows = read("docs/promises.md")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| ---") && !line.startsWith("| promise"))
  .map((line) => {
    const [, promise = "", held = ""] = line.split("|").map((cell) => cell.trim())
    const [file = "", name = ""] = held.replaceAll("`", "").split(" > ")
    return { promise, file, name }
  })

test("every promise names a test that is there", () => {
  const missing = rows.filter(
    ({ file, name }) => !existsSync(join(root, file)) || !read(file).includes(name) || name === "",
  )
  expect(missing).toEqual([])
})
