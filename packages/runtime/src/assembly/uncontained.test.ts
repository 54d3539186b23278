import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { executeCall } from "@toolwright/toolbox"
import { createToolwright } from "../toolwright.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "toolwright-uncontained-"))
  execFileSync("git", ["init", "--quiet"], { cwd: folder })
  writeFileSync(join(folder, "a.test.js"), 'import "node:fs"\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Calls, and the narrowest name by which a rule permits them. */
const CALLS: readonly [name: string, args: Record<string, string>, rule: string][] = [
  ["bash", { command: "touch ran" }, "bash"],
  ["test", {}, "test"],
  ["validation", {}, "validation"],
  ["validation", { operation: "tests" }, "validation_tests"],
  ["validation", { operation: "pre-commit" }, "validation_pre_commit"],
  ["git", { action: "push" }, "git_push"],
]

async function call(name: string, args: Record<string, string>, more: object = {}) {
  const toolwright = await createToolwright({
    cwd: folder,
    withBuiltins: true,
    record: false,
    builtins: { bash: { sandbox: "off" } },
    ...more,
  })
  try {
    return await toolwright.registry.execute(name, args, { permissions: toolwright.permissions! })
  } finally {
    await toolwright.close()
  }
}

describe("where nothing contains programs", () => {
  test.each(CALLS)("%s %j is asked about, and declined where nobody can be asked", async (name, args, rule) => {
    const result = await call(name, args)
    expect(result).toMatchObject({ success: false, error: { code: "PERMISSION_DENIED" } })
    expect(result.output).toContain("nothing contains programs here")
    expect(result.output).toContain(`permissions.allow: [${rule}]`)
    expect(existsSync(join(folder, "ran"))).toBe(false)
    expect((await call(name, args, { permissions: { allow: [rule] } })).error?.code).not.toBe("PERMISSION_DENIED")
  })

  test("an action that is offered as a tool is permitted by its own name", async () => {
    await using toolwright = await createToolwright({
      cwd: folder,
      withBuiltins: true,
      record: false,
      builtins: { bash: { sandbox: "off" } },
    })
    const permissions = toolwright.permissions!
    const result = await executeCall(
      toolwright.toolsFor("builder"),
      { name: "git_push", arguments: {} },
      { permissions },
    )
    expect(result.output).toContain("permissions.allow: [git_push]")
  })

  test("a person's yes lets it run, and a rule saves the question", async () => {
    const asked: string[] = []
    const approve = async ({ tool }: { tool: { name: string } }) => asked.push(tool.name) > 0
    expect(await call("bash", { command: "true" }, { approve })).toMatchObject({ success: true })
    expect(asked).toEqual(["bash"])
    expect(await call("bash", { command: "true" }, { approve, permissions: { allow: ["bash"] } })).toMatchObject({
      success: true,
    })
    expect(asked).toEqual(["bash"])
  })

  test("what starts no program of the workspace is not asked about", async () => {
    for (const [name, args] of [
      ["git", { action: "status" }],
      ["validation", { operation: "syntax" }],
      ["read_text_file", { path: "a.test.js" }],
    ] as const)
      expect((await call(name, args)).error?.code).not.toBe("PERMISSION_DENIED")
  })

  test("a sandbox that is required refuses by itself, and none of it is asked about", async () => {
    const result = await call("bash", { command: "true" }, { builtins: { bash: { sandbox: "required" } } })
    expect(result.error?.code).not.toBe("PERMISSION_DENIED")
  })
})
