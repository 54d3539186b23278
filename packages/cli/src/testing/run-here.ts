import { tmpdir } from "node:os"
import { runCommandLine } from "../command-line.ts"
import { userOfTests, type Finished } from "./run-cli.ts"

/**
 * Runs a command line in this process: the same as `cli`, for tables of many cases, without what the process adds
 * around it.
 */
export async function here(
  args: readonly string[],
  { cwd = tmpdir(), env = {}, stdin = "" }: { cwd?: string; env?: Record<string, string>; stdin?: string } = {},
): Promise<Finished> {
  return startHere(args, { cwd, env, stdin }).finished
}

/** The same of a command that goes on until it is stopped, as a server does. */
export function startHere(
  args: readonly string[],
  { cwd = tmpdir(), env = {}, stdin = "" }: { cwd?: string; env?: Record<string, string>; stdin?: string } = {},
) {
  const said = { stdout: "", stderr: "" }
  const stopping = new AbortController()
  let wake = (): void => {}
  const ended = runCommandLine(args, {
    stdout: { write: (text) => ((said.stdout += text), wake()) },
    stderr: { write: (text) => (said.stderr += text) },
    stdin: (async function* () {
      yield stdin
    })(),
    env: { ...userOfTests(), ...env },
    cwd,
    signal: stopping.signal,
    isTTY: { stdin: false, stdout: false, stderr: false },
  })
  const finished = ended.then((code): Finished => ({ code, ...said }))
  return {
    finished,
    /** What it has said so far. */
    said: said as Readonly<typeof said>,
    /** Waits until the output so far matches, and gives the match. */
    until: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        wake = () => {
          const match = pattern.exec(said.stdout)
          if (match !== null) resolve(match)
        }
        void finished.then((all) => reject(new Error(`ended before ${pattern}: ${all.stdout}${all.stderr}`)), reject)
        wake()
      }),
    stop: () => {
      stopping.abort()
      return finished
    },
  }
}
