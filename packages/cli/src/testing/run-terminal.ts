import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { onTestFinished } from "vitest"
import { BUILT, userOfTests } from "./run-cli.ts"

/** Debian's and other Linuxes' `script`, which puts a pseudo terminal around a command; BSD's takes other arguments. */
export const HAS_TERMINAL = process.platform === "linux" && existsSync("/usr/bin/script")

/** The command in a pseudo terminal. */
export interface Terminal {
  /** Waits until what came since the last match matches, and moves behind it. */
  until(pattern: RegExp): Promise<string>
  type(text: string): void
  exited: Promise<number | null>
}

/** Starts the real command in a pseudo terminal of 100 columns. Arguments must not need quotes. */
export function startInTerminal(
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Terminal {
  const line = `stty cols 100; exec '${process.execPath}' '${BUILT}' ${args.join(" ")}`
  const child = spawn("/usr/bin/script", ["-qefc", line, "/dev/null"], {
    cwd,
    env: { ...userOfTests(), TERM: "xterm", NO_COLOR: "1", ...env },
    stdio: "pipe",
  })
  let output = ""
  let from = 0
  const waiting = new Set<() => void>()
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text
    waiting.forEach((look) => look())
  })
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve))
  onTestFinished(() => void child.kill("SIGKILL"))
  return {
    exited,
    type: (text) => void child.stdin.write(text),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(output.slice(from))
          if (match === null) return
          from += match.index + match[0].length
          waiting.delete(look)
          resolve(match[0])
        }
        waiting.add(look)
        look()
        void exited.then(() => reject(new Error(`ended before ${pattern}: ${output}`)))
      }),
  }
}
