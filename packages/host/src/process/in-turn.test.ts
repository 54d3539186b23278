import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"
import { BROKEN_OFF, shellInTurn } from "./in-turn.ts"

function run(...commands: string[][]): { status: number | null; stdout: string } {
  const [shell, ...args] = shellInTurn(commands)
  const { status, stdout } = spawnSync(shell!, args, { encoding: "utf8" })
  return { status, stdout }
}

const killed = ["sh", "-c", "printf part; kill -SEGV $$"]

test.skipIf(process.platform === "win32")("commands run in their order, whatever they end with", () => {
  expect(run(["printf", "%s", "it's $HOME; one"], ["false"], ["printf", "three"])).toEqual({
    status: 0,
    stdout: "it's $HOME; one\0\0three",
  })
  // As git ends that cannot do what it was told.
  expect(run(["sh", "-c", "exit 128"], ["printf", "two"])).toEqual({ status: 0, stdout: "\0two" })
})

test.skipIf(process.platform === "win32")("a command that a signal ends is not taken for one that has answered", () => {
  expect(run(killed, ["printf", "two"])).toEqual({ status: BROKEN_OFF, stdout: "part" })
  expect(run(["printf", "one"], killed)).toEqual({ status: BROKEN_OFF, stdout: "one\0part" })
})
