import type { ToolDefinition } from "@toolwright/toolbox"
import { defineMultiActionTool } from "@toolwright/host"
import type { ProcessHost } from "@toolwright/host/process"
import { gitActions, gitReconcile } from "./git.ts"
import { GIT_OUTPUT } from "./output.ts"

/** `git_operations`: the three operations that a code-writing agent needs to finish its work. */
export function createGitOperationsTool(host: ProcessHost): ToolDefinition {
  return defineMultiActionTool({
    name: "git_operations",
    sets: ["owner"],
    title: "Git operations",
    description: "Git operations",
    category: "vcs",
    optionality: "required",
    brief: ["status", "commit", "files"],
    usageHint: "Commit after validation passed. Without files, what is staged is committed, or else every change.",
    tags: ["git"],
    capabilities: ["git"],
    aliases: {
      arguments: { action: "operation", file_path: "files", file_paths: "files", commit_message: "message" },
    },
    effects: { readOnly: false, writes: [] },
    reconcile: gitReconcile(host, "operation"),
    argument: "operation",
    actions: gitActions(host, ["status", "diff", "commit"]),
    outputSchema: GIT_OUTPUT,
    timeoutMs: 120_000,
  })
}
