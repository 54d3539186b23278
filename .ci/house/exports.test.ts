import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** Exports that nothing uses but tests, and that no page names, with the reason. It only shrinks. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  NOTE_CODES: "the codes that an answer's notes may have, for those who read answers",
  expectPinned: "holds the pocket model to what it said before",
  configurationReference: "makes a page",
}

const files = globSync(["packages/*/src/**/*.{ts,tsx}", "bench/**/*.ts", "examples/**/*.ts", "training/**/*.ts"], {
  cwd: root,
})
/** What is not for use: tests, and what only tests use. The package for tests of others is for use. */
const isTest = (file: string): boolean =>
  file.endsWith(".test.ts") || (/\/(testing|fixtures)\//.test(file) && !file.startsWith("packages/testing/"))
const code = new Map(
  files
    .filter((file) => !isTest(file))
    .map((file) => [file, read(file).replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "")] as const),
)
const pages = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], { cwd: root }).map(read).join("\n")

/** How often each name stands in the code, lines that only hand it on apart. */
function countNames(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of code.values()) {
    const own = text.replaceAll(/export (?:type )?(?:\{[^}]*\}|\*(?: as \w+)?) from "[^"]*"/g, "")
    for (const [name] of own.matchAll(/\b[A-Za-z_]\w*\b/g)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

test("what is exported is used, or a page tells users of it: tests alone keep nothing alive", () => {
  const counts = countNames()
  const named = new Set(pages.match(/\b[A-Za-z_]\w*\b/g))
  const unused = [...code]
    .filter(([file]) => file.startsWith("packages/") && !file.startsWith("packages/testing/"))
    .flatMap(([, text]) => [...text.matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)])
    .map(([, name]) => name!)
    .filter((name) => counts.get(name) === 1 && !named.has(name))
  expect(code.size).toBeGreaterThan(500)
  expect(unused.filter((name) => EXCEPTIONS[name] === undefined)).toEqual([])
  expect(Object.keys(EXCEPTIONS).filter((name) => !unused.includes(name))).toEqual([])
})

/** Values in the entry of a package that only the package itself and tests name, with the reason. It only shrinks. */
const UNNAMED: Readonly<Record<string, string>> = {
  NOTE_CODES: "see above",
  configurationReference: "makes a page",
  NOT_RUN: "asked for by tests of other rooms",
  UNHOSTED: "asked for by tests of other rooms",
  PREDEFINED_BUNDLES: "asked for by tests of other rooms",
  lockWorkspace: "asked for by tests of other rooms",
  groundingOf: "asked for by tests of other rooms",
  findTools: "asked for by tests of other rooms",
  pinByName: "asked for by tests of other rooms",
  isReadAtOnce: "asked for by tests of other rooms",
  readAtOnce: "asked for by tests of other rooms",
  notOfferedReading: "to be told on a page, or taken away",
  uiMessageChunks: "to be told on a page, or taken away",
  toldStore: "stands in a file that is an entry itself",
  startTicks: "stands in a file that is an entry itself",
  STATE_FILE_LIMIT_BYTES: "stands in a file that is an entry itself",
}

/** The values that a file hands out, by way of others too. */
function handedOut(file: string): string[] {
  if (!existsSync(join(root, file))) return []
  const text = code.get(file) ?? ""
  const listed = [...text.matchAll(/export \{([^}]*)\}/g)]
    .flatMap(([, names]) => names!.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "" && !name.startsWith("type "))
    .map((name) => name.split(/\s+/).at(-1)!)
  const own = [...text.matchAll(/export (?:abstract |async )*(?:const|function\*?|class) (\w+)/g)].map(
    ([, name]) => name!,
  )
  const others = [...text.matchAll(/export \* from "(\.[^"]+)"/g)].flatMap(([, from]) =>
    handedOut(join(dirname(file), from!)),
  )
  return [...listed, ...own, ...others]
}

/** The files by which others enter a package. */
function entriesOf(folder: string): string[] {
  const { exports = {} } = JSON.parse(read(`${folder}/package.json`)) as {
    exports?: Record<string, { "toolwright-source"?: string }>
  }
  return Object.values(exports).flatMap(({ "toolwright-source": source }) =>
    source === undefined ? [] : [join(folder, source)],
  )
}

test("each value that a package hands out is named by a page, or by another package", () => {
  const namedBy = new Map<string, Set<string>>()
  for (const [file, text] of code) {
    const room = /^packages\/[^/]+|^[^/]+/.exec(file)![0]
    for (const [name] of text.matchAll(/\b[A-Za-z_]\w*\b/g)) {
      const rooms = namedBy.get(name)
      if (rooms === undefined) namedBy.set(name, new Set([room]))
      else rooms.add(room)
    }
  }
  const paged = new Set(pages.match(/\b[A-Za-z_]\w*\b/g))
  const handed = globSync("packages/*/package.json", { cwd: root })
    .map((file) => dirname(file))
    .flatMap((folder) =>
      entriesOf(folder)
        .flatMap(handedOut)
        .map((name) => ({ folder, name })),
    )
  const unnamed = handed
    .filter(({ folder, name }) => !paged.has(name) && [...(namedBy.get(name) ?? [])].every((room) => room === folder))
    .map(({ name }) => name)
  expect(handed.length).toBeGreaterThan(500)
  expect(unnamed.filter((name) => UNNAMED[name] === undefined)).toEqual([])
  expect(Object.keys(UNNAMED).filter((name) => !unnamed.includes(name))).toEqual([])
})

/** Names that two packages hand out with two meanings; the list only shrinks. */
const TWO_MEANINGS = ["Access", "Conversation", "JsonSchema", "LetIn", "RecordedCall"]

/** The names that a file hands out, types too, with the files that declare them. */
function declared(file: string): [name: string, by: string][] {
  const text = code.get(file) ?? ""
  const own = [...text.matchAll(/^export (?:abstract |async )*(?:const|function\*?|class|interface|type) (\w+)/gm)].map(
    ([, name]): [string, string] => [name!, file],
  )
  const from = [...text.matchAll(/export (?:type )?(\*|\{[^}]*\}) from "(\.[^"]+)"/g)].flatMap(([, list, path]) => {
    const all = declared(join(dirname(file), path!))
    const names = new Set(list!.match(/\w+/g))
    return list === "*" ? all : all.filter(([name]) => names.has(name))
  })
  return [...own, ...from]
}

test("no name that two packages hand out means two things", () => {
  const by = new Map<string, Set<string>>()
  for (const folder of globSync("packages/*/package.json", { cwd: root }).map((file) => dirname(file)))
    for (const [name] of entriesOf(folder).flatMap(declared)) by.set(name, (by.get(name) ?? new Set()).add(folder))
  const twice = [...by].filter(([, folders]) => folders.size > 1).map(([name]) => name)
  expect(by.size).toBeGreaterThan(1000)
  expect(twice.toSorted()).toEqual(TWO_MEANINGS)
})
