import { readdirSync } from "node:fs"
import { expect, test } from "vitest"
import { cli, folderWith } from "../testing/run-cli.ts"

test("the demonstration fails, is refused, corrects and commits, in a repository of its own", async () => {
  const temporary = folderWith()
  const { code, stdout, stderr } = await cli(["demo", "--remove"], { cwd: temporary, env: { TMPDIR: temporary } })
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toMatch(/^The model is a screenplay[^]*With a real model: toolwright demo --model/)
  expect(stdout).toContain("Missing input validation")
  expect(stdout).toContain("Nothing was committed: validation has not passed since the last change")
  expect(stdout).toContain("not accepted as done")
  expect(stdout).toMatch(/8 rounds, 6 calls, 2 failed, 2 corrected/)
  expect(stdout).toMatch(/fibonacci\.ts\n[^]*export function fibonacci\(n: number\): number/)
  expect(stdout).toMatch(/git log \(2 commits\)\n[0-9a-f]+ Add fibonacci implementation/)
  expect(readdirSync(temporary).filter((name) => name.startsWith("toolwright-demo-"))).toEqual([])
})

test("without git it says so", async () => {
  const temporary = folderWith()
  expect(await cli(["demo"], { env: { PATH: "/nonexistent", TMPDIR: temporary } })).toMatchObject({ code: 1, stderr: expect.stringContaining("needs git") })
})
