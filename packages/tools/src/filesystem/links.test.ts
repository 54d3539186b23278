import { execFileSync } from "node:child_process"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { executeCall, ToolRegistry, type JsonObject } from "@toolwright/toolbox"
import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { createBuiltinTools } from "../index.ts"

const SECRET = "WHAT-LIES-OUTSIDE"
let folder: string
let root: string
let outside: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "links-")))
  root = join(folder, "root")
  outside = join(folder, "outside")
  mkdirSync(join(root, "sub"), { recursive: true })
  mkdirSync(join(outside, "inner"), { recursive: true })
  writeFileSync(join(outside, "secret.txt"), `${SECRET}\n`)
  writeFileSync(join(outside, "inner/secret.txt"), `${SECRET}\n`)
  writeFileSync(join(root, "a.txt"), "a\n")
  return () => rmSync(folder, { recursive: true, force: true })
})

/** What is made in the workspace, and the path by which it would lead to the secret. */
const LINKS: Readonly<Record<string, () => string>> = {
  "a link to a file": () => linked("x", join(outside, "secret.txt")),
  "a relative link to a file": () => linked("x", relative(root, join(outside, "secret.txt"))),
  "a link to a folder": () => `${linked("x", outside)}/secret.txt`,
  "a link to a folder, and up again": () => `${linked("x", join(outside, "inner"))}/../secret.txt`,
  "a link to a link": () => {
    linked("y", join(outside, "secret.txt"))
    return linked("x", "y")
  },
  "a link below a folder": () => linked("sub/x", "../../outside/secret.txt"),
  "a link to the folder above": () => `${linked("x", "..")}/outside/secret.txt`,
  "a link by way of the process": () => linked("x", `/proc/self/root${join(outside, "secret.txt")}`),
  "a link by way of the working directory": () =>
    linked("x", `/proc/self/cwd/${relative(process.cwd(), join(outside, "secret.txt"))}`),
  "a link that goes out and in": () => `${linked("x", folder)}/outside/secret.txt`,
  "no link, but a way up": () => "sub/../../outside/secret.txt",
  "a pipe": () => {
    execFileSync("mkfifo", [join(root, "x")])
    return "x"
  },
}

function linked(name: string, target: string): string {
  symlinkSync(target, join(root, name))
  return name
}

/** How a path is written. */
const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  "as it is": (path) => path,
  "from here": (path) => `./${path}`,
  "with a detour": (path) => `sub/../${path}`,
  "with slashes": (path) => path.replaceAll("/", "//"),
  "from the root": (path) => join(root, path.split("/")[0]!) + path.slice(path.split("/")[0]!.length),
}

/** What is asked of a path. */
const CALLS: Readonly<Record<string, (path: string) => JsonObject>> = {
  read_text_file: (path) => ({ path }),
  read_multiple_files: (path) => ({ paths: [path] }),
  file_read: (path) => ({ path }),
  code_edit_get_lines: (path) => ({ path, start_line: 1, end_line: 1 }),
  search_grep: (path) => ({ pattern: "WHAT", path }),
  write_file: (path) => ({ path, content: "mine" }),
  edit_file: (path) => ({ path, edits: [{ old_text: SECRET, new_text: "mine" }] }),
  file_append: (path) => ({ path, content: "mine" }),
  delete_file: (path) => ({ path }),
  move_file: (path) => ({ source: path, destination: "taken.txt" }),
}

const WAYS = Object.keys(SPELLINGS).length * Object.keys(CALLS).length
let count = 0
afterAll(() => console.log(`paths: ${count} cases (paths × tools × kinds of links)`))

describe.skipIf(process.platform === "win32")("what lies outside is neither shown nor touched", () => {
  test.for(Object.keys(LINKS))(`by %s, in ${WAYS} ways (spellings × tools)`, { timeout: 120_000 }, async (kind) => {
    const path = LINKS[kind]!()
    const registry = new ToolRegistry()
    for (const tool of createBuiltinTools({ roots: [{ path: root, access: "read-write" }] })) registry.register(tool)
    const view = registry.view({ splitActions: true })
    const known = (name: string) => registry.get(name) ?? view.get(name)
    const own = await executeCall(registry, { name: "read_text_file", arguments: { path: "a.txt" } })
    expect(own.output).toContain("a")
    expect(own.success).toBe(true)
    const seen: string[] = []
    for (const [name, argumentsFor] of Object.entries(CALLS)) {
      expect(known(name), name).toBeDefined()
      for (const [spelling, written] of Object.entries(SPELLINGS)) {
        const tools = registry.get(name) === undefined ? view : registry
        const result = await executeCall(tools, { name, arguments: argumentsFor(written(path)) }, { timeoutMs: 5000 })
        count++
        // What is told of a call may name the path; only the file's own line is the secret.
        if (JSON.stringify([result.output, result.data ?? null]).includes(SECRET) && name !== "edit_file")
          seen.push(`${name} ${spelling}`)
        if (readFileSync(join(outside, "secret.txt"), "utf8") !== `${SECRET}\n`)
          seen.push(`${name} ${spelling} changed it`)
      }
    }
    expect(seen).toEqual([])
    expect(readdirSync(outside).sort()).toEqual(["inner", "secret.txt"])
  })
})
