import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture } from "../testing/workspace-fixture.ts"
import { probeBubblewrap } from "@toolwright/host/sandbox"

const { program } = await probeBubblewrap()

describe("bash", () => {
  test("gives output, exit code and what contained it", async () => {
    using fixture = workspaceFixture({ "a.txt": "hello\n" })
    const result = await callTool(fixture.tools.get("bash")!, { command: "cat a.txt; echo oops >&2" })
    expect(result.success).toBe(true)
    expect(result.data).toMatchObject({
      exit_code: 0,
      ended: "exit",
      stdout: { text: "hello\n", truncated: false },
      stderr: { text: "oops\n" },
    })
    expect(result.output).toMatch(/^hello\n\[stderr\]\noops\n\[exit code 0, \d+ ms\]/u)
    expect(result.metadata.sandbox).toMatchObject({ kind: program === undefined ? "none" : "bubblewrap" })
  })

  test("says loudly that there is no sandbox", async () => {
    using fixture = workspaceFixture({}, { sandbox: "off" })
    const result = await callTool(fixture.tools.get("bash")!, { command: "echo hello" })
    expect(result.output).toMatch(/WARNING: ran WITHOUT a sandbox \(switched off by configuration\)/u)
    expect(result.metadata.sandbox).toMatchObject({ kind: "none", reason: "switched off by configuration" })
  })

  test("makes a failed command a failed result with its output", async () => {
    using fixture = workspaceFixture()
    const result = await callTool(fixture.tools.get("bash")!, { command: "echo half; ls no-such-file" })
    expect(result).toMatchObject({ success: false, error: { code: "COMMAND_FAILED" } })
    expect(result.output).toContain("half")
    expect(result.output).toContain("no-such-file")
  })

  test("ends a command at its time limit and says how to raise it", async () => {
    using fixture = workspaceFixture()
    const result = await callTool(fixture.tools.get("bash")!, { command: "echo begun; sleep 61.0371", timeout_ms: 300 })
    expect(result).toMatchObject({ success: false, error: { code: "TIMEOUT", retryable: true } })
    expect(result.error!.hint).toContain("timeout_ms")
    expect(result.output).toContain("begun")
  })

  test("keeps both ends of a long output and tells where all of it is", async () => {
    using fixture = workspaceFixture()
    const result = await callTool(fixture.tools.get("bash")!, { command: "seq 1 100000" })
    const { stdout } = result.data as { stdout: { text: string; log: string; bytes: number; truncated: boolean } }
    expect(stdout).toMatchObject({ bytes: 588_895, truncated: true })
    expect(stdout.text).toMatch(/^1\n2\n[\s\S]*99999\n100000\n$/u)
    expect(result.output).toContain(stdout.log)
    const whole = await fixture.workspace.read(stdout.log)
    expect(whole.bytes.toString().split("\n")).toHaveLength(100_001)
  })

  test("strips terminal sequences", async () => {
    using fixture = workspaceFixture()
    const result = await callTool(fixture.tools.get("bash")!, {
      command: String.raw`printf '\033[31mred\033[0m \033]0;title\007 \342\200\256x'`,
    })
    expect(result.output).toMatch(/^red  \\u202ex/u)
  })

  test("runs in a folder of the workspace only", async () => {
    using fixture = workspaceFixture({ "src/a.ts": "" })
    expect((await callTool(fixture.tools.get("bash")!, { command: "ls", cwd: "src" })).output).toMatch(/^a\.ts/u)
    expect(await callTool(fixture.tools.get("bash")!, { command: "ls", cwd: ".." })).toMatchObject({
      success: false,
      error: { code: "ACCESS_DENIED" },
    })
    expect(await callTool(fixture.tools.get("bash")!, { command: "ls", cwd: "nowhere" })).toMatchObject({
      success: false,
      error: { code: "NOT_FOUND" },
    })
  })

  test("tells which files a command changed", async () => {
    using fixture = workspaceFixture({
      "same.txt": "1",
      "changed.txt": "1",
      "gone.txt": "1",
      "node_modules/x/index.js": "",
    })
    const command =
      "echo 2 > changed.txt; mkdir new; echo 3 > new/a.txt; rm gone.txt; echo 4 > node_modules/x/index.js; cat same.txt"
    const result = await callTool(fixture.tools.get("bash")!, { command })
    expect(result.modifiedFiles).toEqual(["changed.txt", "gone.txt", "new/a.txt"])
    expect((await callTool(fixture.tools.get("bash")!, { command: "cat same.txt" })).modifiedFiles).toEqual([])
  })

  test("keeps to the allow list, and names it", async () => {
    using fixture = workspaceFixture({}, { bash: { allow: ["git", "ls"] } })
    expect(await callTool(fixture.tools.get("bash")!, { command: "ls" })).toMatchObject({ success: true })
    const refused = await callTool(fixture.tools.get("bash")!, { command: "ls; touch made" })
    expect(refused).toMatchObject({
      success: false,
      error: { code: "COMMAND_NOT_ALLOWED", message: "Not allowed: touch." },
    })
    expect(refused.output).toContain("git, ls")
    expect(existsSync(join(fixture.root, "made"))).toBe(false)
    expect(fixture.tools.get("bash")!.description).toContain("Allowed programs: git, ls.")
  })

  test.for(["auto", "off"] as const)("shows a command harmless variables alone, sandbox %s", async (sandbox) => {
    const harmless = new Set(["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TEMP"])
    for (const ours of ["TMP", "TZ", "PWD", "SHLVL", "_", "OLDPWD", "PAGER", "GIT_PAGER", "TOOLWRIGHT_PROCESS"])
      harmless.add(ours)
    process.env.TOOLWRIGHT_CANARY_KEY = "canary-0815"
    try {
      using fixture = workspaceFixture({}, { sandbox })
      const result = await callTool(fixture.tools.get("bash")!, { command: "env | grep -a = | cut -d= -f1" })
      const names = result.output.split("\n").filter((line) => /^\w+$/.test(line))
      expect(names).toContain("PATH")
      expect(names.filter((name) => !harmless.has(name) && !name.startsWith("LC_"))).toEqual([])
    } finally {
      delete process.env.TOOLWRIGHT_CANARY_KEY
    }
  })

  test("leaks no variable of ours", async () => {
    process.env.TOOLWRIGHT_CANARY_KEY = "canary-0815"
    try {
      using fixture = workspaceFixture()
      const result = await callTool(fixture.tools.get("bash")!, {
        command: "env; cat /proc/*/environ | tr '\\0' '\\n'; false",
      })
      expect(JSON.stringify(result)).not.toContain(program === undefined ? "no sandbox hides /proc" : "canary-0815")
    } finally {
      delete process.env.TOOLWRIGHT_CANARY_KEY
    }
  })
})
