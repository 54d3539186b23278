import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { beyond as answered } from "./by-hand.ts"

const beyond = (request: string, root?: string): string | undefined =>
  answered(request, { run: "bash", write: "write_file", removeFolder: "delete_directory" }, root)

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "by-hand-"))
  mkdirSync(join(root, "old/deep"), { recursive: true })
  for (const name of ["a.txt", "shopping-list.txt", "todo.list.txt"]) writeFileSync(join(root, name), "x\n")
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

test.each([
  ["remove old", "--path old"],
  ["please get rid of the old folder.", "--path old"],
  ["delete old/deep/", "--path old/deep"],
])("of a folder that is to go it says what to type: %s", (request, args) => {
  expect(beyond(request, root)).toMatch(new RegExp(`^I can't delete folders: [^]*tools call delete_directory ${args}$`))
})

test.each(["delete a.txt", "delete gone", "delete ../old", "remove old from a.txt"])(
  "of nothing else: %s",
  (request) => {
    expect(beyond(request, root)).toBeUndefined()
  },
)

test("a file that is not named is asked for, with the likeliest one as it would be said", () => {
  const list = 'Which list do you mean? Name its file, as in: add "butter" to '
  expect(beyond("add butter to my todo list", root)).toBe(`${list}todo.list.txt`)
  expect(beyond("please add some butter to the list.", root)).toBe(`${list}shopping-list.txt`)
  expect(beyond("put butter on my wish list", undefined)).toBe(`${list}list.txt`)
  expect(beyond("add call mum to the notes", root)).toBe(
    'Which notes do you mean? Name its file, as in: add "call mum" to notes.txt',
  )
  expect(beyond("add butter to a.txt", root)).toBeUndefined()
})
