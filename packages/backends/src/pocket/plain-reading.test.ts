import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { losesName } from "./plain-change.ts"
import { isOfNothing, plainReading } from "./plain-reading.ts"
import { sparing } from "./sparing.ts"

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "plain-reading-"))
  writeFileSync(join(root, "a.txt"), "one\n")
  writeFileSync(join(root, "p.json"), '{ "depth": 12, "name": "North", "x": { "size": 1 }, "y": { "size": 2 } }\n')
  writeFileSync(join(root, "c.yaml"), "port: 8080 # the port\ndebug: false\n  deep: a\n")
  writeFileSync(join(root, "s.ini"), "DEBUG=0\nPORT=80\nDEBUG_MORE=1\n")
  writeFileSync(join(root, "list.txt"), "milk\nbread\ncornbread\neggs\n")
  mkdirSync(join(root, "sub"))
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

const edit = (path: string, old_text: string, new_text: string) => ({
  name: "edit_file",
  arguments: { path, old_text, new_text },
})
const search = (pattern: string) => ({ name: "search_grep", arguments: { pattern } })

test.each([
  ["where is fee defined?", search("fee")],
  ["where is the class Cart?", search("Cart")],
  ["who calls fee()?", search("fee")],
  ["which files import fee", search("fee")],
  ["find all the TODOs", search("TODO")],
  ["what is in sub?", { name: "list_directory", arguments: { path: "sub" } }],
  ["show everything in the sub folder", { name: "list_directory", arguments: { path: "sub" } }],
  ["move a.txt to sub", { name: "move_file", arguments: { source: "a.txt", destination: "sub/a.txt" } }],
  [
    'put "# v2" at the top of a.txt',
    { name: "insert_lines", arguments: { path: "a.txt", before_line: 1, content: "# v2" } },
  ],
  ['add a line saying "hello" to a.txt', { name: "append_file", arguments: { path: "a.txt", content: "hello" } }],
  ["change the depth in p.json to 15", edit("p.json", '"depth": 12', '"depth": 15')],
  ["please set name in p.json to South", edit("p.json", '"name": "North"', '"name": "South"')],
  ["set port to 9090 in c.yaml", edit("c.yaml", "port: 8080", "port: 9090")],
  ["set DEBUG to 1 in s.ini", edit("s.ini", "DEBUG=0", "DEBUG=1")],
])("is done as it is said, for nothing else can be meant: %s", (request, call) => {
  expect(plainReading(request, root)).toEqual({ call, literal: true })
})

test.each([
  ["change name to South in p.json", edit("p.json", '"name": "North"', '"name": "South"')],
  ["remove eggs from list.txt", edit("list.txt", "eggs\n", "")],
  ["put rum in list.txt", { name: "append_file", arguments: { path: "list.txt", content: "rum" } }],
  ['put "rum" into the file list.txt', { name: "append_file", arguments: { path: "list.txt", content: "rum" } }],
])("is asked about, where a word could be meant otherwise or a line goes: %s", (request, call) => {
  expect(plainReading(request, root)).toEqual({ call, literal: false })
})

test.each([
  "set size to 3 in p.json",
  "set depth to deep in p.json",
  "set depth to 12 in p.json",
  "set debug to [1] in c.yaml",
  "set the port in c.yaml to something free",
  "set DEBUG to 1 in gone.ini",
  "remove bread from list.txt",
  "remove rum from list.txt",
  "where is it used?",
  "what is in a.txt?",
  "move a.txt to b.txt",
  "put rum in gone.txt",
  "put rum in sub",
])("none where there are several places, other kinds of values, or none: %s", (request) => {
  expect(plainReading(request, root)).toBeUndefined()
})

test("a value is not written over its name, and what is not there is neither deleted nor moved", () => {
  expect(losesName("set size to 3 in p.json", edit("p.json", "size", "3"))).toBe(true)
  expect(losesName("change 'size' to 'length' in p.json", edit("p.json", "size", "length"))).toBe(false)
  expect(isOfNothing({ name: "delete_file", arguments: { path: "bread" } }, root)).toBe(true)
  expect(isOfNothing({ name: "delete_file", arguments: { path: "a.txt" } }, root)).toBe(false)
  expect(isOfNothing({ name: "move_file", arguments: { source: "gone", destination: "a" } }, root)).toBe(true)
  expect(isOfNothing({ name: "delete_file", arguments: { path: "sub" } }, root)).toBe(true)
  expect(isOfNothing({ name: "move_file", arguments: { source: "sub", destination: "b" } }, root)).toBe(false)
})

test("what would be written over a file is offered under a free name before it", () => {
  const write = (path: string) => ({ name: "write_file", arguments: { path, content: "x" } })
  const append = { name: "append_file", arguments: { path: "a.txt", content: "x" } }
  expect(sparing([write("a.txt"), append], root)).toEqual([write("a-2.txt"), append, write("a.txt")])
  expect(sparing([write("new.txt")], root)).toEqual([write("new.txt")])
  expect(sparing([write("sub/.env")], root)).toEqual([write("sub/.env")])
  writeFileSync(join(root, "sub/.env"), "A=1\n")
  writeFileSync(join(root, "a-2.txt"), "taken\n")
  expect(sparing([write("sub/.env"), write("a.txt")], root)).toEqual([
    write("sub/.env-2"),
    write("a-3.txt"),
    write("sub/.env"),
    write("a.txt"),
  ])
  expect(sparing([write("a.txt")], undefined)).toEqual([write("a.txt")])
})
