import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { ToolRegistry, type ToolDefinition } from "@toolwright/toolbox"
import { createBuiltinTools } from "./builtin.ts"
import { ALL_KITS } from "./testing/all-kits.ts"
import { toolsPage } from "./testing/tools-page.ts"

const docs = join(import.meta.dirname, "../../../docs")

function builtinTools(): ToolDefinition[] {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-docs-"))
  try {
    return createBuiltinTools({ roots: [{ path: folder, access: "read-write" }], kits: ALL_KITS, env: {} })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test("docs/tools.md is what the definitions say", () => {
  const text = toolsPage(builtinTools())
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(join(docs, "tools.md"), text)
  expect(readFileSync(join(docs, "tools.md"), "utf8")).toBe(text)
})

test("every tool is fully described, and all can be registered together", () => {
  const registry = new ToolRegistry()
  for (const tool of builtinTools()) {
    registry.register(tool)
    expect(tool.usageHint, `usageHint of ${tool.name}`).toBeDefined()
    expect(tool.outputSchema, `outputSchema of ${tool.name}`).toBeDefined()
    expect(tool.effects ?? tool.actions?.list.every((action) => action.effects), tool.name).toBeTruthy()
    expect(tool.tags?.length ?? 0, `tags of ${tool.name}`).toBeGreaterThan(0)
    expect(tool.examples?.length ?? 0, `examples of ${tool.name}`).toBeGreaterThan(0)
  }
})

test("the example in docs/files.md runs and says what it prints", async () => {
  const text = readFileSync(join(docs, "files.md"), "utf8")
  const code = /```ts\n([\s\S]*?)```/u.exec(text)![1]!
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=toolwright-source", "--input-type=module-typescript", "--eval", code],
    { cwd: join(docs, ".."), encoding: "utf8" },
  )
  expect(stdout).toContain("+export const answer = 42")
  expect(stdout).toMatch(/ACCESS_DENIED\n$/u)
})
