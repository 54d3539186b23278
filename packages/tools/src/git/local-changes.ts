import { defineTool, success, type ToolDefinition } from "@toolwright/toolbox"
import { shownPath, type ProcessHost } from "@toolwright/host/process"
import { gitProblem, openRepository } from "./git.ts"
import { STATUS_SCHEMA } from "./output.ts"

/** `get_local_git_changes_info`: what is staged, changed and new in a repository. */
export function createLocalChangesTool(host: ProcessHost): ToolDefinition {
  return defineTool({
    name: "get_local_git_changes_info",
    sets: ["reading", "general"],
    title: "Local git changes",
    description: "List the staged, unstaged and untracked files of a git repository",
    category: "vcs",
    optionality: "optional",
    usageHint: "Use when: it is asked what a change touched. Don't use when: it is to be committed (use git).",
    tags: ["git", "dev"],
    capabilities: ["git"],
    aliases: { arguments: { repository: "path", repo_path: "path", repository_path: "path", directory: "path" } },
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Folder inside the repository; the workspace's top unless given." },
      },
      additionalProperties: false,
    },
    outputSchema: {
      ...STATUS_SCHEMA,
      properties: {
        repository: { type: "string" },
        status: { type: "string", enum: ["clean", "changed"] },
        ...STATUS_SCHEMA.properties,
      },
      required: ["repository", "status", "staged", "unstaged", "untracked"],
    },
    examples: [{ description: "What changed in the workspace?", input: {} }],
    timeoutMs: 60_000,
    async execute(args, context) {
      try {
        using work = await openRepository(host, args.path, context.signal)
        const { repository, settings, run } = work
        const { describeStatus, readStatus } = await import("./status.ts")
        const state = await readStatus(repository, settings, run)
        const { clean, ...rest } = state
        const data = { repository: shownPath(host, repository.top), status: clean ? "clean" : "changed", ...rest }
        return success({ output: describeStatus(state), data })
      } catch (thrown) {
        return gitProblem(thrown)
      }
    },
  })
}
