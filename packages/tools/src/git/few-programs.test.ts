import type * as ChildProcess from "node:child_process"
import { expect, test, vi } from "vitest"
import type { JsonObject } from "@toolwright/toolbox"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture } from "../testing/workspace-fixture.ts"

const started = vi.hoisted(() => ({ count: 0 }))
vi.mock("node:child_process", async (original) => {
  const real = await original<typeof ChildProcess>()
  const spawn = ((...args: Parameters<typeof real.spawn>) => {
    started.count++
    return real.spawn(...args)
  }) as typeof real.spawn
  return { ...real, spawn }
})

const contained = (await probeBubblewrap()).program !== undefined

/** Making a sandbox takes longer than what git does in it, so each action says how many it needs at most. */
const CALLS: readonly (JsonObject & { programs: number })[] = [
  { action: "status", programs: 1 },
  { action: "log", programs: 1 },
  { action: "log", ref: "main", programs: 1 },
  { action: "diff", programs: 1 },
  { action: "diff", ref: "HEAD", programs: 1 },
  { action: "add", files: ["README.md"], programs: 1 },
  { action: "commit", message: "Staged", programs: 2 },
  { action: "commit", message: "Named", files: ["new.txt"], programs: 2 },
  { action: "create_branch", branch: "feature/x", programs: 1 },
  { action: "checkout", ref: "main", programs: 2 },
]

test.skipIf(!contained)("an action of git starts few programs", async () => {
  using fixture = workspaceFixture({ "README.md": "one\n" })
  fixture.git("init", "--quiet")
  fixture.git("add", ".")
  fixture.git("commit", "--quiet", "--message=Begin")
  fixture.write({ "README.md": "two\n", "new.txt": "new\n" })
  const tool = fixture.tools.get("git")!
  const taken: object[] = []
  for (const { programs: _, ...call } of CALLS) {
    const before = started.count
    const { success, output } = await callTool(tool, call)
    expect(success, output).toBe(true)
    taken.push({ ...call, programs: started.count - before })
  }
  expect(taken).toEqual(CALLS)
})

/** The command itself, and in a sandbox git before it, asked in one start what of the repository must be hidden. */
const COMMANDS = [
  ...(contained ? [["auto", [2, 1]] as const] : []),
  // Nothing can be hidden there, and nothing is asked.
  ["off", [1, 1]] as const,
]

test.for(COMMANDS)("a command in a repository starts few programs of ours, sandbox %s", async ([sandbox, programs]) => {
  using fixture = workspaceFixture({ "README.md": "one\n", ".env": "SECRET\n" }, { sandbox })
  fixture.gits(["init", "--quiet"], ["add", "--force", "."], ["commit", "--quiet", "--message=Begin"])
  const tool = fixture.tools.get("bash")!
  const taken: number[] = []
  for (const command of ["cat README.md", "ls"]) {
    const before = started.count
    const { success, output, metadata } = await callTool(tool, { command })
    expect(success, output).toBe(true)
    expect(metadata).toMatchObject({ sandbox: { kind: sandbox === "off" ? "none" : "bubblewrap" } })
    const { hidden_history: hidden } = metadata["sandbox"] as JsonObject
    expect(hidden).toEqual(sandbox === "off" ? undefined : [".env"])
    taken.push(started.count - before)
  }
  expect(taken).toEqual(programs)
})
