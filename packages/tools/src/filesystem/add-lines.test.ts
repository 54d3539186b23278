import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { executeCall, ToolRegistry, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { createWorkspace } from "@toolwright/host/paths"
import { expect, onTestFinished, test } from "vitest"
import { createFilesystemTools } from "./index.ts"

function setUp(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-lines-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const registry = new ToolRegistry()
  for (const tool of createFilesystemTools(createWorkspace({ roots: [{ path: folder, access: "read-write" }] })))
    registry.register(tool)
  return {
    read: (name: string) => readFileSync(join(folder, name), "utf8"),
    call: (name: string, args: JsonObject): Promise<ToolResult> => executeCall(registry, { name, arguments: args }),
  }
}

test.each([
  ["one\n", "one\ntwo\n"],
  ["one", "one\ntwo"],
  ["one\r\n", "one\r\ntwo\r\n"],
  ["", "two\n"],
])("append_file adds a line below %j and keeps what is there", async (before, after) => {
  const { call, read } = setUp({ a: before })
  expect((await call("append_file", { path: "a", content: "two" })).success).toBe(true)
  expect(read("a")).toBe(after)
})

test("append_file makes the file where there is none, and refuses what it has not read", async () => {
  const { call, read } = setUp({ a: "one\n" })
  expect((await call("append_file", { path: "b", content: "x" })).output).toContain("Created")
  expect(read("b")).toBe("x\n")
  const stale = await call("append_file", { path: "a", content: "x", expected_hash: "0123456789abcdef" })
  expect([stale.success, read("a")]).toEqual([false, "one\n"])
})

test("insert_lines puts lines before or after a line, and takes nothing away", async () => {
  const { call, read } = setUp({ a: "one\ntwo\n" })
  await call("insert_lines", { path: "a", before_line: 1, content: "zero" })
  await call("insert_lines", { path: "a", after_line: 2, content: "half" })
  expect(read("a")).toBe("zero\none\nhalf\ntwo\n")
  expect((await call("insert_lines", { path: "a", after_line: 9, content: "x" })).error?.code).toBe("INVALID_RANGE")
})

test.each([{}, { before_line: 1, after_line: 1 }])("insert_lines wants one place: %j", async (place) => {
  const { call, read } = setUp({ a: "one\n" })
  expect((await call("insert_lines", { path: "a", content: "x", ...place })).error?.code).toBe("INVALID_ARGUMENTS")
  expect(read("a")).toBe("one\n")
})
