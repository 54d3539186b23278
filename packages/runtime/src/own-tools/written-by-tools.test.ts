import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { executeCall, type JsonObject } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { createToolwright } from "../toolwright.ts"

const TOOL = `export const hello = { name: "hello", description: "says hello", parameters: { type: "object" },
  handler: async () => ({ success: true, output: "hello", modifiedFiles: [], metadata: {} }) }\n`

test("no tool and no command writes what this program loads into itself, nor beside it where a whole folder is loaded", async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "loaded-")))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  mkdirSync(join(cwd, "tools"))
  const files: Record<string, string> = {
    "mine.mjs": `import "./helper.mjs"\n${TOOL}`,
    "helper.mjs": "export const one = 1\n",
    "tools/other.mjs": TOOL.replaceAll("hello", "other"),
    "around.mjs": "export default (call, next) => next()\n",
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  await using toolwright = await createToolwright({
    cwd,
    tools: ["./mine.mjs", "./tools"],
    calls: { middleware: ["./around.mjs"] },
    workspace: { roots: ["."] },
    withBuiltins: true,
  })
  const { registry, middleware } = toolwright
  for (const path of [...Object.keys(files), "tools/new.mjs"]) {
    const wrote = await executeCall(
      registry,
      { name: "file", arguments: { action: "write", path, content: "planted" } },
      { middleware },
    )
    expect(wrote, path).toMatchObject({ success: false, error: { code: "ACCESS_DENIED" } })
    const command = `echo planted > ${path}`
    await executeCall(registry, { name: "bash", arguments: { command } }, { middleware })
    expect(existsSync(join(cwd, path)) ? readFileSync(join(cwd, path), "utf8") : undefined, path).toBe(files[path])
  }
  const written = { name: "file", arguments: { action: "write", path: "mine.txt", content: "fine" } }
  expect(await executeCall(registry, written, { middleware })).toMatchObject({ success: true })
})

test("what a module imports since it was changed is written by no tool and no command either, there or not there yet", async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "loaded-")))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, "mine.mjs"), TOOL)
  writeFileSync(join(cwd, "later.mjs"), "export const one = 1\n")
  await using toolwright = await createToolwright({
    cwd,
    tools: ["./mine.mjs"],
    workspace: { roots: ["."] },
    withBuiltins: true,
  })
  const { registry, middleware } = toolwright
  const called = (name: string, args: JsonObject) => executeCall(registry, { name, arguments: args }, { middleware })
  const write = (path: string) => called("file", { action: "write", path, content: "// by a tool\n" })
  expect(await write("later.mjs")).toMatchObject({ success: true })
  // By the user, while the program runs.
  writeFileSync(join(cwd, "mine.mjs"), `import "./later.mjs"\nimport "./missing.mjs"\n${TOOL}`)
  for (const path of ["later.mjs", "missing.mjs"]) {
    expect(await write(path), path).toMatchObject({ success: false, error: { code: "ACCESS_DENIED" } })
    await called("bash", { command: `echo planted >> ${path}; mkdir -p x && echo planted > x/y && mv x/y ${path}` })
  }
  expect(readFileSync(join(cwd, "later.mjs"), "utf8")).toBe("// by a tool\n")
  expect(existsSync(join(cwd, "missing.mjs"))).toBe(false)
  writeFileSync(join(cwd, "mine.mjs"), TOOL)
  expect(await write("later.mjs")).toMatchObject({ success: true })
})
