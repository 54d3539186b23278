import { ToolwrightError } from "@toolwright/toolbox"
import type { Access } from "../gate/access.ts"
import type { CompletionCriteria } from "../gate/criteria.ts"
import { fileOwnerPrompt } from "./file-owner.ts"
import type { AgentProfile } from "./profile.ts"

/** The tools that write files as artifacts. */
const OWNER_SET = "owner"

const told = (files: readonly string[], task: string): string =>
  `You own ${files.join(", ")} and write no other file.\n\nTask: ${task}`

/** How a task is given to an agent: what it is told, what it may change, and when it is done. */
export interface GivenTask {
  task: string
  access: Access
  completion: CompletionCriteria
}

/**
 * What a profile comes to for one task. An agent that owns files is told of them, may write no other, and is done only
 * when it has written one; an agent that only reads may write none, whichever tools its profile names.
 *
 * @param given the files that it owns, relative to the workspace; its own unless given
 * @throws ToolwrightError `FILES_NEEDED` for an owner without files, `FILES_NOT_OWNED` for files of another agent
 */
export function givenTask(profile: AgentProfile, task: string, given?: readonly string[]): GivenTask {
  const files = given ?? profile.files ?? []
  const foreign = profile.files === undefined ? [] : files.filter((file) => !profile.files!.includes(file))
  if (foreign.length > 0) {
    throw new ToolwrightError("FILES_NOT_OWNED", `The agent '${profile.name}' does not own ${foreign.join(", ")}.`, {
      hint: `It owns ${profile.files!.join(", ")}.`,
    })
  }
  if (profile.ownsFiles !== true) {
    if (files.length > 0) {
      throw new ToolwrightError("FILES_NOT_OWNED", `The agent '${profile.name}' owns no files.`, {
        hint: "Leave `files` out, or use `agent: file-owner`.",
      })
    }
    return { task, access: profile.changesWorkspace ? "all" : "nothing", completion: profile.completion }
  }
  const [first, ...more] = files
  if (first === undefined) {
    throw new ToolwrightError("FILES_NEEDED", `The agent '${profile.name}' has to be told which file it owns.`, {
      hint: `Name them: \`agent: ${profile.name}\` \`files: [src/area.py]\`.`,
    })
  }
  return {
    task:
      profile.tools.sets?.includes(OWNER_SET) === true ? fileOwnerPrompt([first, ...more], task) : told(files, task),
    access: { owns: files },
    completion: { ...profile.completion, requireFiles: files },
  }
}
