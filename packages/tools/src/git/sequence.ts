import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { shellQuoted } from "@toolwright/toolbox/shell-word"
import {
  git,
  gitArgv,
  runInRepository,
  type GitOutcome,
  type GitRun,
  type GitSettings,
  type Repository,
} from "./repository.ts"

/** One of several commands that follow one another. */
export interface GitCommand {
  readonly args: readonly string[]
  readonly input?: string
  /** Settings for this command alone. */
  readonly config?: readonly string[]
}

/**
 * Runs commands one after the other until one fails; in one sandbox where there is one, for making a sandbox takes
 * longer than what most commands do in it. None of them may start programs of the repository.
 *
 * @returns the outcomes of those that ran; the last one may have failed
 */
export async function gitSequence(
  repository: Repository,
  settings: GitSettings,
  commands: readonly GitCommand[],
  run: GitRun = {},
): Promise<GitOutcome[]> {
  if (repository.contained && commands.length > 1) return together(repository, settings, commands, run)
  const outcomes: GitOutcome[] = []
  for (const { args, ...more } of commands) {
    const outcome = await git(repository, settings, args, { ...run, ...more })
    outcomes.push(outcome)
    if (outcome.exitCode !== 0) break
  }
  return outcomes
}

async function together(
  repository: Repository,
  settings: GitSettings,
  commands: readonly GitCommand[],
  run: GitRun,
): Promise<GitOutcome[]> {
  // Nobody who made a file or a name before can have known it.
  const mark = randomBytes(16).toString("hex")
  const steps = commands.map(({ args, input, config = [] }, at) => {
    const file = input === undefined ? "/dev/null" : join(repository.view.folder, `input-${at}`)
    if (input !== undefined) writeFileSync(file, input, { mode: 0o600 })
    const words = gitArgv(repository, args, { ...run, config }).map(shellQuoted)
    return (
      `${words.join(" ")} <${shellQuoted(file)}; ended=$?; printf '\\n${mark} %d\\n' "$ended"; ` +
      `printf '\\n${mark}\\n' >&2; [ "$ended" = 0 ] || exit "$ended"`
    )
  })
  const whole = await runInRepository(repository, settings, {
    argv: ["/bin/sh", "-c", steps.join("\n")],
    commands: commands.map(({ args }) => args[0]!),
    run,
  })
  return partedAt(mark, whole)
}

/** The outcomes of the single commands; the last one is the whole's where it did not come to its mark. */
function partedAt(mark: string, whole: GitOutcome): GitOutcome[] {
  const said = whole.stdout.text.split(new RegExp(`\n${mark} (\\d+)\n`, "u"))
  const complaints = whole.stderr.text.split(`\n${mark}\n`)
  const part = (from: "stdout" | "stderr", text: string) => ({ ...whole[from], text, bytes: Buffer.byteLength(text) })
  const outcomes: GitOutcome[] = []
  for (let at = 0; 2 * at + 1 < said.length; at++) {
    const [stdout, stderr] = [part("stdout", said[2 * at]!), part("stderr", complaints[at] ?? "")]
    outcomes.push({ ...whole, ended: "exit", signal: null, exitCode: Number(said[2 * at + 1]), stdout, stderr })
  }
  if (outcomes.length > 0 && (whole.ended === "exit" || outcomes.at(-1)!.exitCode !== 0)) return outcomes
  const rest = { stdout: part("stdout", said.at(-1) ?? ""), stderr: part("stderr", complaints[outcomes.length] ?? "") }
  return [...outcomes, { ...whole, ...rest, exitCode: whole.exitCode === 0 ? null : whole.exitCode }]
}
