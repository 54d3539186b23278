import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { createToolwright } from "../toolwright.ts"

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "command-limits-"))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const contained = (await probeBubblewrap()).program !== undefined

async function written(limits: object): Promise<{ succeeded: boolean; bytes: number }> {
  await using toolwright = await createToolwright({
    cwd: folder,
    withBuiltins: true,
    record: false,
    builtins: { limits },
  })
  const command = "head -c 3000000 /dev/zero > big"
  const { success } = await toolwright.registry.execute("bash", { command }, {})
  return { succeeded: success, bytes: statSync(join(folder, "big")).size }
}

test.skipIf(!contained)("a program takes no more than the configuration lets it", async () => {
  expect(await written({})).toEqual({ succeeded: true, bytes: 3_000_000 })
  const held = await written({ fileMb: 1 })
  expect(held.succeeded).toBe(false)
  expect(held.bytes).toBeLessThanOrEqual(1024 * 1024)
})

test.each([{ fils: 3 }, { files: 0 }, { files: "many" }, { diskMb: null }])("%j is refused", async (limits) => {
  const made = createToolwright({
    cwd: folder,
    withBuiltins: true,
    record: false,
    builtins: { limits: limits as object },
  })
  await expect(made).rejects.toMatchObject({ code: "INVALID_CONFIGURATION" })
})

test("a command ends at the limit that the configuration sets, and none may ask for more", async () => {
  await using toolwright = await createToolwright({
    cwd: folder,
    withBuiltins: true,
    record: false,
    builtins: { bash: { timeoutSeconds: 1 } },
  })
  const run = (args: object) => toolwright.registry.execute("bash", { command: "sleep 61.0372", ...args }, {})
  expect((await run({})).error).toMatchObject({ code: "TIMEOUT", hint: expect.stringContaining("No command may take") })
  expect((await run({ timeout_ms: 200 })).error?.hint).toContain('Raise "timeout_ms" (at most 1000)')
  expect((await run({ timeout_ms: 5000 })).error?.code).toBe("INVALID_ARGUMENTS")
})
