import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { JsonObject } from "@toolwright/toolbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { describe, expect, test } from "vitest"
import { preparedFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const STATES = (await probeBubblewrap()).program === undefined ? (["off"] as const) : (["auto", "off"] as const)

/** What keeps a program waiting that opens it and reads to the end. */
const TRAPS: Readonly<Record<string, (path: string) => void>> = {
  "a pipe": (path) => void execFileSync("mkfifo", [path]),
  "8 GB of nothing": (path) => {
    writeFileSync(path, "")
    truncateSync(path, 8 * 2 ** 30)
  },
}

/** Where git reads; above a certain size it passes over attributes by itself. */
const PLACES = [
  ".gitignore",
  ".gitattributes",
  ".gitmodules",
  ".mailmap",
  ".git/info/exclude",
  ".git/info/attributes",
  "sub/deep/.gitignore",
]
const ONLY_PIPES: Readonly<Record<string, JsonObject>> = {
  "sub/deep/.gitattributes": { action: "add", files: ["sub"] },
  ".git/refs/heads/x": { action: "checkout", ref: "x" },
  "other/.git/refs/heads/main": { action: "add", files: ["other"] },
}
const STATUS: JsonObject = { action: "status" }

function repository(sandbox: "auto" | "off"): WorkspaceFixture {
  const prepare = (fixture: WorkspaceFixture): void => {
    fixture.write({ "a.txt": "a\n", "sub/deep/b.txt": "b\n" })
    fixture.gits(["init", "--quiet"], ["add", "a.txt"], ["commit", "--quiet", "--message=Begin"])
  }
  return preparedFixture("repository", prepare, { sandbox })
}

function lay(fixture: WorkspaceFixture, trap: string, place: string): void {
  if (place.startsWith("other/")) fixture.git("init", "--quiet", "other")
  const path = join(fixture.root, place)
  mkdirSync(join(path, ".."), { recursive: true })
  rmSync(path, { force: true })
  TRAPS[trap]!(path)
}

describe.skipIf(process.platform === "win32").for(STATES)("sandbox %s", (sandbox) => {
  const cases = Object.keys(TRAPS).flatMap((trap) =>
    [...PLACES, ...(trap === "a pipe" ? Object.keys(ONLY_PIPES) : [])].map((place) => ({ trap, place })),
  )
  test.for(cases)("$trap in the place of $place is named, and holds nothing up", async ({ trap, place }) => {
    using fixture = repository(sandbox)
    lay(fixture, trap, place)
    const asked = ONLY_PIPES[place] ?? STATUS
    const result = await callTool(fixture.tools.get("git")!, asked)
    expect(result).toMatchObject({ success: false, error: { code: "REPOSITORY_REFUSED" } })
    expect(result.error?.message).toContain(place)
    rmSync(join(fixture.root, place))
    expect((await callTool(fixture.tools.get("git")!, STATUS)).success).toBe(true)
  })

  test("a pipe among the refs does not keep others from being checked out", async () => {
    using fixture = repository(sandbox)
    lay(fixture, "a pipe", ".git/refs/heads/x")
    const result = await callTool(fixture.tools.get("git")!, { action: "checkout", ref: "main" })
    // Without a sandbox nobody opens a repository that holds such a thing.
    if (sandbox === "off") expect(result).toMatchObject({ error: { code: "REPOSITORY_REFUSED" } })
    else expect(result.data, result.output).toMatchObject({ branch: "main" })
  })

  test("a link in the place of one is not followed, and ordinary files are read", async () => {
    using fixture = repository(sandbox)
    execFileSync("mkfifo", [join(fixture.root, "../pipe")])
    symlinkSync("../pipe", join(fixture.root, ".gitignore"))
    fixture.write({ "sub/.gitignore": "deep\n" })
    const result = await callTool(fixture.tools.get("git")!, { action: "status" })
    expect(result.success).toBe(true)
    expect(result.output).toContain("sub/.gitignore")
    expect(result.output).not.toContain("b.txt")
  })
})

test.skipIf(process.platform === "win32" || STATES.length === 1)(
  "a pipe among the refs does not open the history to commands, though it keeps it from being looked through",
  async () => {
    using fixture = repository("auto")
    fixture.write({ ".env": "KEY=CANARY\n" })
    fixture.gits(
      ["add", "--force", ".env"],
      ["commit", "--quiet", "--message=With a secret"],
      ["rm", "--quiet", "--force", ".env"],
      ["commit", "--quiet", "--message=Without"],
    )
    lay(fixture, "a pipe", ".git/refs/heads/x")
    const shown = await callTool(fixture.tools.get("bash")!, {
      command: "git cat-file -p HEAD~1:.env > shown; cat shown",
    })
    expect(JSON.stringify(shown)).not.toContain("CANARY")
    expect(shown.output).toContain(".git/refs/heads/x")
    expect(existsSync(join(fixture.root, "shown"))).toBe(true)
    rmSync(join(fixture.root, ".git/refs/heads/x"))
    expect(fixture.git("cat-file", "-p", "HEAD~1:.env")).toContain("CANARY")
  },
)
