import { success, type InterruptedCall, type Reconciled } from "@toolwright/toolbox"
import { branchNames } from "./refs.ts"
import { git } from "./repository.ts"
import type { GitWork } from "./work.ts"

/** Finds out from the repository whether an action took effect whose process died. */
export async function interruptedAction(
  work: GitWork,
  action: string,
  call: InterruptedCall,
): Promise<Reconciled | undefined> {
  if (action === "commit") return committed(work, call)
  // Staging, switching and pushing the same again leave what is there.
  return action === "create_branch" ? branched(work, call) : { outcome: "not-done" }
}

/** The newest commit tells: it has the call's message and was made since, or it is older than the call. */
async function committed(
  work: GitWork,
  { arguments: args, startedAt }: InterruptedCall,
): Promise<Reconciled | undefined> {
  const said = await output(work, ["log", "-1", "--format=%H%x1f%ct%x1f%B"])
  const [commit = "", time = "", ...rest] = said?.split("\x1f") ?? []
  // Git counts whole seconds.
  if (commit === "" || Number(time) < Math.floor(startedAt / 1000)) return { outcome: "not-done" }
  const message = String(args["message"])
  // A hook may have changed the message, or somebody else may have committed since.
  if (trimmed(rest.join("\x1f")) !== trimmed(message)) return undefined
  const names = await output(work, ["diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "--root", "HEAD"])
  const files = (names ?? "").split("\0").filter((name) => name !== "")
  const branch = (await output(work, ["branch", "--show-current"])) || null
  const head = `Committed ${commit.slice(0, 10)} before the run was interrupted: ${message.split("\n")[0]}`
  const data = { commit, branch, message, files, left_out: [] }
  return {
    outcome: "done",
    result: success({ output: [head, ...files.map((file) => `  ${file}`)].join("\n"), data, metadata: RECONCILED }),
  }
}

async function branched(work: GitWork, { arguments: args }: InterruptedCall): Promise<Reconciled | undefined> {
  const branch = String(args["branch"])
  const { repository, settings, run } = work
  if (!(await branchNames(repository, settings, run)).includes(branch)) return { outcome: "not-done" }
  if ((await output(work, ["branch", "--show-current"])) !== branch) return undefined
  const said = `Created branch ${branch} and switched to it before the run was interrupted.`
  return { outcome: "done", result: success({ output: said, data: { branch, changed: [] }, metadata: RECONCILED }) }
}

const RECONCILED = { reconciled: true }

async function output({ repository, settings, run }: GitWork, args: readonly string[]): Promise<string | undefined> {
  const outcome = await git(repository, settings, args, run)
  return outcome.exitCode === 0 ? outcome.stdout.text.trim() : undefined
}

/** As git keeps a message: without blanks at the ends of lines, and without empty lines around it. */
function trimmed(message: string): string {
  return message
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()
}
