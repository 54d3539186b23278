import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ToolRegistry, type JsonObject } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { defaultConfiguration } from "../configuration/load.ts"
import { builtinTools } from "./builtins.ts"

/** Stands in what is denied, and must stand in no answer. */
const MARKER = "canaryInTheFile"
const NAMED = "canaryInTheName"

/** A workspace whose folder `private` is denied, with every kind of link into it. */
async function deniedWorkspace(denyPaths: (root: string) => string[]) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-denied-")))
  const root = join(folder, "ws")
  for (const path of ["private/deep", "public"]) mkdirSync(join(root, path), { recursive: true })
  const source = `export function ${MARKER}() {\n  return "${MARKER}"\n}\n`
  writeFileSync(join(root, "private/secret.ts"), source)
  writeFileSync(join(root, `private/deep/${NAMED}.ts`), source)
  writeFileSync(join(root, "public/open.ts"), "export const open = 1\n")
  symlinkSync("private/secret.ts", join(root, "file-link.ts"))
  symlinkSync(join(root, "private/secret.ts"), join(root, "absolute-link.ts"))
  symlinkSync("file-link.ts", join(root, "chained-link.ts"))
  symlinkSync("private", join(root, "folder-link"))
  symlinkSync("..", join(root, "public/up"))
  linkSync(join(root, "private/secret.ts"), join(root, "public/hard-link.ts"))
  const configuration = defaultConfiguration({
    workspace: { roots: [root] },
    permissions: { denyPaths: denyPaths(root) },
  })
  const registry = new ToolRegistry()
  for (const tool of await builtinTools(configuration, root, { env: {} })) registry.register(tool)
  return { root, registry, source, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

const files = (root: string): string[] => [
  "private/secret.ts",
  "./private/secret.ts",
  "private//secret.ts",
  "private/./secret.ts",
  "public/../private/secret.ts",
  "private/deep/../secret.ts",
  `private/deep/${NAMED}.ts`,
  join(root, "private/secret.ts"),
  `${root}/./public/../private/secret.ts`,
  `${root}/../ws/private/secret.ts`,
  "file-link.ts",
  "absolute-link.ts",
  "chained-link.ts",
  "folder-link/secret.ts",
  `folder-link/deep/${NAMED}.ts`,
  "public/up/private/secret.ts",
  "public/up/folder-link/secret.ts",
  "public/up/file-link.ts",
  "public/hard-link.ts",
  "public/up/public/hard-link.ts",
]

const folders = (root: string): string[] => [
  ".",
  root,
  "private",
  "./private/",
  "private/deep",
  "folder-link",
  "folder-link/deep",
  "public/up",
  "public/up/private",
  "public",
]

/** Every way to say something about a file or a folder. What changes comes after what reads. */
function calls(root: string): { name: string; arguments: JsonObject }[] {
  const perFile = files(root).flatMap((path): { name: string; arguments: JsonObject }[] => [
    { name: "read_text_file", arguments: { path } },
    { name: "read_text_file", arguments: { path, head: 1 } },
    { name: "read_text_file", arguments: { path, start_line: 1, end_line: 2 } },
    { name: "read_media_file", arguments: { path } },
    { name: "read_multiple_files", arguments: { paths: ["public/open.ts", path] } },
    { name: "get_file_info", arguments: { path } },
    { name: "file", arguments: { action: "read", path } },
    { name: "code_edit", arguments: { action: "get_lines", path } },
    { name: "search", arguments: { action: "grep", pattern: "canary", path } },
    { name: "search", arguments: { action: "find_in_file", pattern: "canary.*", path } },
    { name: "search", arguments: { action: "find_definition", name: MARKER, path } },
    { name: "navigate", arguments: { action: "outline", path } },
    { name: "navigate", arguments: { action: "imports", path } },
    { name: "navigate", arguments: { action: "references", name: MARKER, path } },
    { name: "workspace", arguments: { action: "read", path } },
    { name: "edit_file", arguments: { path, old_text: "export function canary", new_text: "x" } },
    { name: "file", arguments: { action: "replace", path, old_text: "return canaryInTheFil", new_text: "x" } },
    { name: "code_edit", arguments: { action: "insert_at_line", path, line: 1, content: "x" } },
    { name: "code_edit", arguments: { action: "delete_lines", path, start_line: 1, end_line: 3 } },
    { name: "read_text_file", arguments: { path: `${path.slice(0, -3)}.tx` } },
  ])
  const perFolder = folders(root).flatMap((path): { name: string; arguments: JsonObject }[] => [
    { name: "list_directory", arguments: { path } },
    { name: "list_directory_with_sizes", arguments: { path } },
    { name: "get_directory_tree", arguments: { path } },
    { name: "search_files", arguments: { path, pattern: "canary" } },
    { name: "search_files", arguments: { path, pattern: "**/*.ts" } },
    { name: "search", arguments: { action: "grep", pattern: "canary", path } },
    { name: "search", arguments: { action: "grep", pattern: "canary", path, include_ignored: true, context: 3 } },
    { name: "search", arguments: { action: "find_files", pattern: "*canary*", path, include_ignored: true } },
    { name: "search", arguments: { action: "find_definition", name: MARKER, path } },
    { name: "navigate", arguments: { action: "references", name: MARKER, path } },
    { name: "navigate", arguments: { action: "definitions", name: MARKER, path } },
    { name: "navigate", arguments: { action: "tree", path } },
    { name: "navigate", arguments: { action: "list", path } },
    { name: "get_file_info", arguments: { path } },
  ])
  const changing = files(root).flatMap((path, index): { name: string; arguments: JsonObject }[] => [
    { name: "file", arguments: { action: "append", path, content: "x" } },
    { name: "move_file", arguments: { source: path, destination: `taken-${index}.ts` } },
    { name: "read_text_file", arguments: { path: `taken-${index}.ts` } },
    { name: "file", arguments: { action: "read", path } },
  ])
  const moving = ["private", "./private", "folder-link", "public/up/private"].flatMap((source, index) => [
    { name: "move_file", arguments: { source, destination: `moved-${index}` } },
    { name: "read_text_file", arguments: { path: `moved-${index}/secret.ts` } },
    { name: "search", arguments: { action: "grep", pattern: "canary", path: "." } },
    { name: "get_directory_tree", arguments: {} },
  ])
  return [...perFile, ...perFolder, ...changing, ...moving]
}

const PATTERNS: Record<string, (root: string) => string[]> = {
  "a folder's content": () => ["private/*"],
  "a folder": () => ["private"],
  "a folder, with a slash and a detour": () => ["./private/"],
  "everything below": () => ["private/**"],
  "the absolute path": (root) => [join(root, "private")],
}

describe("what permissions.denyPaths denies is in no answer", () => {
  test.each(Object.entries(PATTERNS))("%s", async (_, denyPaths) => {
    using denied = await deniedWorkspace(denyPaths)
    const { root, registry, source } = denied
    const disclosed: string[] = []
    const all = calls(root)
    for (const { name, arguments: args } of all) {
      const answer = JSON.stringify(await registry.execute(name, args))
      // A call that names the marker may be answered with its own words.
      const own = JSON.stringify(args)
      if ((answer.includes(MARKER) && !own.includes(MARKER)) || /return \\+"canary/u.test(answer))
        disclosed.push(`${name} ${own}: ${answer.slice(0, 400)}`)
      else if (answer.includes(`${NAMED}.ts`) && !own.includes(NAMED))
        disclosed.push(`${name} ${own}: ${answer.slice(0, 400)}`)
    }
    console.log(`${all.length} calls, ${disclosed.length} disclosed something`)
    expect(disclosed).toEqual([])
    expect(readFileSync(join(root, "private/secret.ts"), "utf8")).toBe(source)
    expect(existsSync(join(root, `private/deep/${NAMED}.ts`))).toBe(true)
  })

  test("by a program in a sandbox either", async () => {
    using denied = await deniedWorkspace(PATTERNS["a folder"]!)
    const { root, registry } = denied
    const commands = [
      "cat private/secret.ts",
      "cat file-link.ts folder-link/secret.ts",
      "cat public/hard-link.ts",
      "find . -type f | xargs cat",
      "ls -R .",
      `cat ${root}/private/secret.ts`,
      "cp -r private /tmp/copy; cat /tmp/copy/*",
      "mv private elsewhere; cat elsewhere/*",
    ]
    for (const command of commands) {
      const result = await registry.execute("bash", { command })
      if ((result.data as { sandbox?: { kind?: string } } | undefined)?.sandbox?.kind === "none") return
      expect(JSON.stringify(result)).not.toContain(MARKER)
      expect(JSON.stringify(result)).not.toContain(NAMED)
    }
    expect(readdirSync(root)).toContain("private")
  })
})
