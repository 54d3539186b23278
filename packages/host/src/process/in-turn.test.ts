import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"
import { BROKEN_OFF, CANNOT, shellInTurn } from "./in-turn.ts"

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
})

test.skipIf(process.platform === "win32")("a git that cannot do what it was told has not answered", () => {
  const cannot = ["sh", "-c", "exit 128"]
  expect(run(cannot, ["printf", "two"])).toEqual({ status: CANNOT, stdout: "\0two" })
  expect(run(["printf", "one"], cannot)).toEqual({ status: CANNOT, stdout: "one\0" })
  expect(run(cannot, killed)).toEqual({ status: BROKEN_OFF, stdout: "\0part" })
})

test.skipIf(process.platform === "win32")("a command that a signal ends is not taken for one that has answered", () => {
  expect(run(killed, ["printf", "two"])).toEqual({ status: BROKEN_OFF, stdout: "part" })
  expect(run(["printf", "one"], killed)).toEqual({ status: BROKEN_OFF, stdout: "one\0part" })
})
