import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FIX_ADD, repositoryWith } from "../../../runtime/src/testing/repository.ts"
import { cli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const SCREENPLAY = fileURLToPath(new URL("../../../runtime/src/scenarios/fixtures/fix-add-qwen.yaml", import.meta.url))
const events = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; summary?: object })

test("build finds, mends, tests and commits, and learns from wrong calls on the way", async () => {
  using repo = repositoryWith(FIX_ADD)
  const { code, stdout, stderr } = await cli(["build", "--description", "fix add()", "--screenplay", SCREENPLAY], {
    cwd: repo.path,
  })
  expect([code, stderr]).toEqual([0, expect.any(String)])
  for (const part of ["grep", "search", "code_edit", "git", "8 rounds"]) expect(stdout).toContain(part)
  expect(repo.git("log", "--format=%s")).toBe("Fix add()\nBegin")
  expect(repo.git("status", "--porcelain")).toBe("")
  execFileSync(process.execPath, ["--test"], { cwd: repo.path, stdio: "ignore" })
  const shown = await here(["runs", "show", "latest"], { cwd: repo.path })
  expect(shown.stdout).toContain("code_edit")
})

test("build ends after exactly twenty inferences when the model never does", async () => {
  using repo = repositoryWith({
    ...FIX_ADD,
    "play.yaml":
      `model: qwen2.5\nabilities: { nativeTools: false }\nsteps:\n  - repeat: always\n    reply: |-\n      ` +
      `<tool_call>\n      {"name": "file", "arguments": {"action": "append", "path": "log.txt", "content": "x"}}\n ` +
      `     </tool_call>\n`,
  })
  const { code, stdout } = await here(["build", "--description", "fix add()", "--screenplay", "play.yaml", "--json"], {
    cwd: repo.path,
  })
  expect(code).toBe(1)
  expect(events(stdout).filter(({ type }) => type === "request")).toHaveLength(20)
  expect(events(stdout).at(-1)).toMatchObject({
    type: "run-end",
    summary: { outcome: "max-rounds", message: "max rounds reached" },
  })
  expect(readFileSync(join(repo.path, "log.txt"), "utf8")).toBe(Array.from({ length: 20 }, () => "x").join("\n"))
})

test("below a repository's top it says why nothing can be committed, and with which option it can", async () => {
  const steps = `model: qwen2.5
abilities: { nativeTools: true }
steps:
  - reply: { calls: [{ name: file, arguments: { action: append, path: log.txt, content: x } }] }
  - { repeat: always, reply: TASK_COMPLETE }
`
  using repo = repositoryWith({ "sub/log.txt": "x\n", "sub/play.yaml": steps })
  const args = ["build", "--description", "write it", "--screenplay", "play.yaml"]
  const { stdout } = await cli(args, { cwd: join(repo.path, "sub") })
  expect(stdout).toContain(
    `begins above the workspace, at ${repo.path}. To work in all of it give --root ${repo.path}.`,
  )
  const { stderr } = await cli(["tools", "call", "git", "--action", "status"], { cwd: join(repo.path, "sub") })
  expect(stderr).toContain(`--root ${repo.path}`)
})

test("the owner of a file that only hears talk has failed, and nothing is written", async () => {
  using repo = repositoryWith({
    ...FIX_ADD,
    "play.yaml":
      "abilities: { nativeTools: true }\nsteps:\n  - repeat: always\n    reply: One could write a function.\n",
  })
  const args = ["run", "Create fibonacci", "--agent", "file-owner", "--screenplay", "play.yaml", "--json"]
  const { code: refused, stderr } = await here(args, { cwd: repo.path })
  expect([refused, stderr]).toEqual([expect.any(Number), expect.stringContaining("--file src/area.py")])
  expect(refused).not.toBe(0)
  const { code, stdout } = await here([...args, "--file", "fibonacci.py"], { cwd: repo.path })
  expect(code).toBe(1)
  expect(events(stdout).at(-1)).toMatchObject({
    summary: { success: false, message: "LLM did not use tools as expected" },
  })
  expect(existsSync(join(repo.path, ".meta"))).toBe(false)
  expect(repo.git("status", "--porcelain")).toBe("")
})
