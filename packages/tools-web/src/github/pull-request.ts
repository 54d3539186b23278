import { defineTool, type JsonSchema, type ToolDefinition, type ToolHandler } from "@toolwright/toolbox"
import type { NetworkHost } from "@toolwright/host/net"
import type { GithubConfig } from "./config.ts"

export type { GithubConfig } from "./config.ts"

const nullable = (type: string): JsonSchema => ({ type: [type, "null"] })

const FILE: JsonSchema = {
  type: "object",
  properties: {
    filename: { type: "string" },
    status: { type: "string", description: "added, removed, modified, renamed, copied, changed or unchanged" },
    additions: { type: "integer" },
    deletions: { type: "integer" },
    previous_filename: { type: "string" },
    patch: { type: "string", description: "Only with include_patches; absent for binary and very large files" },
  },
  required: ["filename", "status", "additions", "deletions"],
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    owner: { type: "string" },
    repo: { type: "string" },
    number: { type: "integer" },
    url: { type: "string" },
    title: { type: "string" },
    state: { type: "string", enum: ["open", "closed"] },
    merged: { type: "boolean" },
    draft: { type: "boolean" },
    author: nullable("string"),
    body: { type: "string" },
    base: { type: "string" },
    head: { type: "string" },
    head_sha: nullable("string"),
    labels: { type: "array", items: { type: "string" } },
    created_at: nullable("string"),
    updated_at: nullable("string"),
    merged_at: nullable("string"),
    mergeable: nullable("boolean"),
    commits: nullable("integer"),
    additions: { type: "integer" },
    deletions: { type: "integer" },
    changed_files: { type: "integer" },
    files: { type: "array", items: FILE },
    files_truncated: { type: "boolean", description: "Whether the pull request has more files than are listed" },
  },
  required: [
    "owner",
    "repo",
    "number",
    "url",
    "title",
    "state",
    "merged",
    "draft",
    "body",
    "base",
    "head",
    "files",
    "files_truncated",
  ],
}

/** The tool that reads one pull request with its changed files from GitHub's REST API. */
export function createPullRequestTool(host: NetworkHost, config: GithubConfig = {}): ToolDefinition {
  let read: Promise<ToolHandler> | undefined
  return defineTool({
    name: "get_github_pull_request_info",
    sets: ["reports", "general"],
    title: "GitHub pull request",
    description:
      "Reads a GitHub pull request: title, state, author, branches, description, and the changed files with " +
      "their line counts. Give its URL, or owner, repo and number.",
    category: "research",
    optionality: "conditional",
    tags: ["github", "vcs"],
    usageHint:
      "Use when: a task names a GitHub pull request. Don't use when: the changes are in the local repository " +
      "(use get_local_git_changes_info or git). Required when the task gives a pull request URL.",
    parameters: {
      type: "object",
      properties: {
        url: { type: "string", description: "The pull request's address, e.g. https://github.com/owner/repo/pull/12" },
        owner: { type: "string", description: "Owner of the repository; instead of url" },
        repo: { type: "string", description: "Name of the repository; instead of url" },
        number: { type: "integer", minimum: 1, description: "Number of the pull request; instead of url" },
        include_files: { type: "boolean", default: true, description: "Whether to list the changed files" },
        include_patches: { type: "boolean", default: false, description: "Whether each file comes with its diff" },
        max_files: { type: "integer", minimum: 1, maximum: 3000, default: 300, description: "Most files to list" },
      },
      additionalProperties: false,
    },
    outputSchema: OUTPUT,
    aliases: {
      arguments: {
        pr_url: "url",
        pull_request_url: "url",
        pull_number: "number",
        pr_number: "number",
        repository: "repo",
      },
    },
    examples: [
      { description: "By URL", input: { url: "https://github.com/octocat/hello-world/pull/1347" } },
      {
        description: "By its parts, without files",
        input: { owner: "octocat", repo: "hello-world", number: 1347, include_files: false },
      },
    ],
    effects: { readOnly: true, idempotent: true, network: true },
    timeoutMs: 120_000,
    maxOutputChars: 30_000,
    execute: async (args, context) => {
      read ??= import("./read-pull-request.ts").then((module) => module.createPullRequestReader(host, config))
      return (await read)(args, context)
    },
  })
}
