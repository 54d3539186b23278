import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { splitActions } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import { blogKit } from "@toolwright/tools-blog"
import { databaseKit } from "@toolwright/tools-database"
import { webKit } from "@toolwright/tools-web"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const packages = join(root, "packages")

/**
 * Places that may still name tools. It only shrinks: the pocket model knows the tools that it was trained on, the demo
 * shows some of them, and an example in the help has one.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "tool-names.json"), "utf8"),
)

const builtin = createBuiltinTools({
  roots: [{ path: root, access: "read-only" }],
  kits: [webKit(), blogKit(), databaseKit()],
})
const names = [...new Set(builtin.flatMap((tool) => [tool, ...splitActions(tool)]).map(({ name }) => name))]
/** Names that could be nothing else; a plain word such as `file` is a name only where it stands as one. */
const telling = names.filter((name) => name.includes("_"))
const plain = names.filter((name) => !name.includes("_"))

function sources(): string[] {
  return readdirSync(packages).flatMap((room) => {
    if (room === "tools" || room.startsWith("tools-")) return []
    const all = readdirSync(join(packages, room), { recursive: true, encoding: "utf8" })
    return all
      .filter((file) => /^src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$|(^|\/)(testing|fixtures)\//.test(file))
      .map((file) => `${room}/${file}`)
  })
}

/**
 * The tools that a file names, comments apart: a telling name anywhere, a plain word as a text of its own in a list.
 */
function namedIn(file: string): string[] {
  const text = readFileSync(join(packages, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "")
  const words = new Set(text.match(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g))
  const lists = [...text.matchAll(/\[\s*(?:["'][\w-]+["'],?\s*)+\]/g)].map(([list]) => list)
  const listed = new Set(lists.flatMap((list) => list.match(/\w+/g) ?? []))
  return [
    ...telling.filter((name) => words.has(name) && new RegExp(`["'\`{ ]${name}\\b`).test(text)),
    ...plain.filter((name) => listed.has(name) && lists.some((list) => isListOfTools(list, name))),
  ]
}

/** A list that names two tools, or a tool and nothing else, is one of tools. */
function isListOfTools(list: string, name: string): boolean {
  const all: string[] = list.match(/[\w-]+/g) ?? []
  return all.length > 1 && all.filter((word) => names.includes(word)).length === all.length && all.includes(name)
}

const found = new Map(sources().map((file) => [file, namedIn(file)] as const))
const naming = [...found].filter(([, named]) => named.length > 0)

test("no file outside the tools names a tool", () => {
  expect(found.size).toBeGreaterThan(300)
  expect(naming.filter(([file]) => EXCEPTIONS[file] === undefined)).toEqual([])
})

test("every exception is still one: the list only shrinks", () => {
  const known = new Set(naming.map(([file]) => file))
  expect(Object.keys(EXCEPTIONS).filter((file) => !known.has(file))).toEqual([])
})

/** Where it is known which model the pocket model is: its backend, its pairing, and the setting that lists them. */
const POCKET_MODEL =
  /^(backends\/src\/(pocket|index\.ts)|runtime\/src\/(pairing\/|configuration\/model-settings\.ts)|testing\/|cli\/src\/pocket-pins\/)/

test("no code outside its backend and its pairing asks for the pocket model", () => {
  const asking = sources().filter((file) => {
    const text = readFileSync(join(packages, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "")
    return !POCKET_MODEL.test(file) && /["'`]pocket["'`]|\bpocket[A-Z]\w*|\bPocket[A-Z]\w*|\bPOCKET_/.test(text)
  })
  expect(sources().filter((file) => POCKET_MODEL.test(file)).length).toBeGreaterThan(5)
  expect(asking).toEqual([])
})
