import { readdirSync } from "node:fs"
import { join } from "node:path"
import { lockWorkspace } from "@toolwright/runtime"
import { describe, expect, test } from "vitest"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const step = (name: string, args: object) =>
  `  - reply: { calls: [{ name: ${name}, arguments: ${JSON.stringify(args)} }] }\n`
const screenplay = (...steps: string[]) => `steps:\n${steps.join("")}`
const DELETE = step("delete_file", { path: "a.txt" })
const COMMIT = step("bash", { command: "git commit -qam gone" })
const flow = screenplay(
  DELETE,
  COMMIT,
  "  - expect: { result: 'Not run: this is a dry run.' }\n    reply: Both would have been done.\n",
)

describe("--dry-run", () => {
  test("shows the calls and their check, changes nothing, and keeps a record that says what it is", async () => {
    const cwd = folderWith({ "a.txt": "a\n", "play.yaml": flow })
    const { code, stdout, stderr } = await here(
      ["run", "delete a.txt and commit", "--screenplay", "play.yaml", "--dry-run"],
      { cwd },
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toMatch(
      /dry run: nothing will be run[^]*call {3}delete_file path=a\.txt[^]*well-formed, not run[^]*call {3}bash command="git commit -qam gone"/,
    )
    expect(stdout).toMatch(/^done: dry run: 2 calls, well-formed; nothing was run$/m)
    expect(readdirSync(cwd).toSorted()).toEqual([".toolwright", "a.txt", "play.yaml"])
    expect((await here(["runs"], { cwd })).stdout).toContain("assistant (dry run): delete a.txt and commit")
  })

  test("prints a line of JSON for each call, with its name and arguments, and no record where none is wanted", async () => {
    const cwd = folderWith({ "a.txt": "a\n", "play.yaml": flow })
    const { code, stdout } = await here(
      ["run", "delete a.txt", "--screenplay", "play.yaml", "--dry-run", "--json", "--no-record"],
      { cwd },
    )
    expect(code).toBe(0)
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string })
    expect(events.filter(({ type }) => type === "call-end")).toMatchObject([
      { name: "delete_file", arguments: { path: "a.txt" } },
      { name: "bash", arguments: { command: "git commit -qam gone" } },
    ])
    expect(events.at(-1)).toMatchObject({ type: "run-end", summary: { dryRun: true } })
    expect(readdirSync(cwd).toSorted()).toEqual(["a.txt", "play.yaml"])
  })

  test("asks a coding agent for no proof of what it was kept from doing", async () => {
    const cwd = folderWith({ "play.yaml": screenplay(COMMIT, "  - reply: Committed. TASK_COMPLETE\n") })
    expect(await here(["build", "commit", "--screenplay", "play.yaml", "--dry-run"], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 call, well-formed") as string,
    })
  })

  test("ends with 1 when a call is not valid", async () => {
    const cwd = folderWith({ "play.yaml": screenplay(step("delete_file", { pth: "a.txt" }), "  - reply: Sorry.\n") })
    const { code, stdout } = await here(["run", "x", "--screenplay", "play.yaml", "--dry-run"], { cwd })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /failed delete_file[^]*wrong arguments[^]*failed: dry run: 1 call, 1 not well-formed; nothing was run/,
    )
  })

  test("needs no lock: it looks on while another run works", async () => {
    const cwd = folderWith({ "play.yaml": flow })
    using _lock = lockWorkspace(join(cwd, ".toolwright"), "other")
    expect((await here(["run", "x", "--screenplay", "play.yaml"], { cwd })).stderr).toContain(
      "Another run works in this workspace",
    )
    expect(await here(["run", "x", "--screenplay", "play.yaml", "--dry-run"], { cwd })).toMatchObject({ code: 0 })
  })
})
