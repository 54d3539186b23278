import { execFileSync, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { expect, test } from "vitest"
import { COMMANDS } from "./commands/index.ts"
import { completionScript } from "./completion.ts"
import { here } from "./testing/run-here.ts"

const SHELLS = ["bash", "zsh", "fish"] as const

test.each(SHELLS)("the script for %s knows every command, what it does and its options", async (shell) => {
  const { code, stdout } = await here(["completion", shell])
  expect(code).toBe(0)
  for (const { name } of COMMANDS) expect(stdout).toContain(name)
  expect(stdout).toMatch(shell === "fish" ? /from tools' -a call/ : /tools\).*list show call .*--args/)
  expect(stdout).toMatch(shell === "fish" ? /from run' -l base-url/ : /run\).*--agent.*--base-url/)
})

test("bash completes a command, an action and an option", async () => {
  const script = await completionScript("bash", COMMANDS)
  const completed = (...words: string[]): string[] => {
    const line =
      `COMP_WORDS=(toolwright ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; ` +
      `_toolwright; echo "\${COMPREPLY[@]}"`
    return execFileSync("bash", ["-c", `${script}\n${line}`], { encoding: "utf8" })
      .trim()
      .split(" ")
  }
  expect(completed("ser")).toEqual(["serve"])
  expect(completed("tools", "ca")).toEqual(["call"])
  expect(completed("serve", "--read")).toEqual(["--read-only"])
})

for (const shell of ["zsh", "fish"] as const) {
  const isThere = ["/usr/bin", "/bin", "/usr/local/bin"].some((folder) => existsSync(`${folder}/${shell}`))
  test.skipIf(!isThere)(`${shell} takes its script`, async () => {
    const { status, stderr } = spawnSync(shell, ["-n"], { input: await completionScript(shell, COMMANDS) })
    expect([status, stderr.toString()]).toEqual([0, ""])
  })
}

test("a shell that is none is answered with those that there are", async () => {
  expect(await here(["completion", "csh"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("bash, zsh, fish"),
  })
})
