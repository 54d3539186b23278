import {
  failure,
  ToolwrightError,
  type JsonObject,
  type JsonSchema,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import { repositoryAbove } from "@toolwright/host/paths"
import { failureOf, insideRoot, programDoubt, type ProcessHost } from "@toolwright/host/process"
import { visibleControls } from "@toolwright/host/text"
import { GIT_OUTPUT } from "./output.ts"
import type { GitWork } from "./work.ts"
import { grounded, HERE } from "../ground/grounded.ts"

const PATH: JsonSchema = {
  type: "string",
  description: "Folder inside the repository; the workspace's top unless given.",
}
const FILES: JsonSchema = {
  type: "array",
  items: { type: "string" },
  description: "Files, as paths from the workspace's top.",
}
const BRANCH: JsonSchema = { type: "string", description: "Name of a branch." }
const REF: JsonSchema = { type: "string", description: "A branch, tag or commit." }

type Action = "status" | "diff" | "add" | "commit" | "push" | "checkout" | "create_branch" | "log"

/** What each action is told as, and what it takes. */
const ABOUT: Record<Action, Omit<ActionSpecification, "execute">> = {
  status: {
    description: "Staged, unstaged and untracked files, branch, ahead and behind",
    sets: ["looking-closely"],
    brief: [],
    properties: { path: PATH },
    effects: { readOnly: true },
    examples: [{ description: "What changed?", input: {} }],
  },
  diff: {
    description: "Changes as a unified diff",
    sets: ["looking-closely"],
    brief: ["files", "ref"],
    properties: {
      path: PATH,
      files: FILES,
      staged: { type: "boolean", description: "Compare what is staged with the last commit." },
      ref: REF,
    },
    effects: { readOnly: true },
    examples: [{ description: "The changes that are not staged", input: {} }],
  },
  add: {
    description: "Stage files for the next commit",
    properties: { path: PATH, files: { ...FILES, items: grounded({ type: "string" }, HERE) } },
    required: ["files"],
    examples: [{ description: "Stage one file", input: { files: ["README.md"] } }],
  },
  commit: {
    description: "Commit the named files, or what is staged, or else every change",
    sets: ["handing-in"],
    brief: ["files"],
    properties: { path: PATH, files: FILES, message: { type: "string", description: "Commit message." } },
    required: ["message"],
    role: "commits",
    examples: [
      { description: "Commit what is staged, or else every change", input: { message: "Refuse negative numbers" } },
    ],
  },
  push: {
    description: "Push a branch to a remote",
    role: "hands-in",
    asks: true,
    properties: {
      path: PATH,
      remote: { type: "string", description: "Name of a configured remote; origin unless given." },
      branch: BRANCH,
    },
    effects: { network: true, writes: [] },
    examples: [{ description: "Push the current branch", input: {} }],
  },
  checkout: {
    description: "Switch to a branch or a commit",
    properties: { path: PATH, ref: REF },
    required: ["ref"],
    effects: { destructive: true, writes: [] },
    examples: [{ description: "Back to the main branch", input: { ref: "main" } }],
  },
  create_branch: {
    description: "Create a branch and switch to it",
    properties: {
      path: PATH,
      branch: BRANCH,
      from: { type: "string", description: "Where it begins; the current commit unless given." },
    },
    required: ["branch"],
    examples: [{ description: "Begin a branch for a change", input: { branch: "feature/input-validation" } }],
  },
  log: {
    description: "The latest commits",
    sets: ["looking-closely"],
    brief: ["files", "max_count"],
    properties: {
      path: PATH,
      files: FILES,
      ref: REF,
      max_count: { type: "integer", minimum: 1, maximum: 500, description: "How many; 10 unless given." },
    },
    effects: { readOnly: true },
    examples: [{ description: "The last three commits", input: { max_count: 3 } }],
  },
}

/** The actions of the git tools, each with its code; `names` picks those that a tool offers. */
export function gitActions(host: ProcessHost, names: readonly Action[]): Record<string, ActionSpecification> {
  const run = async (name: Action, args: JsonObject, context: ToolContext) =>
    readable(await runGit(host, name, args, context))
  return Object.fromEntries(
    names.map((name) => [
      name,
      { ...ABOUT[name], ruledAs: ["git", `git_${name}`], execute: (args, context) => run(name, args, context) },
    ]),
  )
}

/** The `git` tool: one action per git command that an agent needs. */
export function createGitTool(host: ProcessHost): ToolDefinition {
  return defineMultiActionTool({
    name: "git",
    sets: ["coding", "reading", "db-migrations", "general"],
    title: "Git",
    description:
      "Work with the git repository of the workspace: see what changed, stage, commit, push, switch and create " +
      "branches, read the log",
    category: "vcs",
    optionality: "optional",
    usageHint:
      "Use when: changes are looked at or, once the tests pass, committed. Don't use when: a GitHub pull " +
      "request is meant.",
    tags: ["git"],
    capabilities: ["git"],
    aliases: { arguments: { commit_message: "message", branch_name: "branch" } },
    effects: { readOnly: false, writes: [] },
    actions: gitActions(host, ["status", "diff", "add", "commit", "push", "checkout", "create_branch", "log"]),
    reconcile: gitReconcile(host, "action"),
    doubts: async ({ action }) => (action === "push" ? programDoubt(host) : undefined),
    outputSchema: GIT_OUTPUT,
    timeoutMs: 120_000,
  })
}

/**
 * A result whose text cannot deceive: names, messages and file contents come from others. The data stay as they are.
 */
function readable(result: ToolResult): ToolResult {
  return { ...result, output: visibleControls(result.output.replace(/\r(?!\n)/gu, "\\u000d")) }
}

const CHANGING: ReadonlySet<Action> = new Set(["add", "commit", "push", "checkout", "create_branch"])

/** Runs one action in the repository that holds `args.path` (the workspace's top unless given). */
async function runGit(
  host: ProcessHost,
  action: Action,
  args: JsonObject,
  context: Pick<ToolContext, "signal">,
): Promise<ToolResult> {
  try {
    using work = await openRepository(host, args.path, context.signal)
    if (!host.writable && CHANGING.has(action)) {
      return failure({
        code: "READ_ONLY",
        message: `The workspace is read-only; ${action} would change it.`,
        hint: "status, diff and log work.",
      })
    }
    return await (
      await actionOf(action)
    )(work, args)
  } catch (thrown) {
    return gitProblem(thrown)
  }
}

type Run = (work: GitWork, args: JsonObject) => Promise<ToolResult>

async function actionOf(action: Action): Promise<Run> {
  switch (action) {
    case "diff":
      return (await import("./diff.ts")).diffAction
    case "add":
      return (await import("./stage.ts")).addAction
    case "commit":
      return (await import("./commit.ts")).commitAction
    case "status":
      return (await import("./actions.ts")).statusAction
    case "push":
      return (await import("./actions.ts")).pushAction
    case "checkout":
      return (await import("./actions.ts")).checkoutAction
    case "create_branch":
      return (await import("./actions.ts")).createBranchAction
    case "log":
      return (await import("./actions.ts")).logAction
  }
}

/** What became of an action whose process died; `argument` names the one that selects it. */
export function gitReconcile(host: ProcessHost, argument: string): NonNullable<ToolDefinition["reconcile"]> {
  return async (call) => {
    using work = await openRepository(host, call.arguments.path, AbortSignal.timeout(60_000))
    const { interruptedAction } = await import("./interrupted.ts")
    return await interruptedAction(work, String(call.arguments[argument]), call)
  }
}

/** What was thrown while git ran, as a failed result. */
export function gitProblem(thrown: unknown): ToolResult {
  const { code, syscall } = thrown as NodeJS.ErrnoException
  if (code === "ENOENT" && syscall?.startsWith("spawn") === true) {
    return failure({
      code: "GIT_MISSING",
      message: "git is not installed on this machine.",
      hint: "A person must install it.",
    })
  }
  return failureOf(thrown)
}

/** @throws ToolwrightError `NOT_A_REPOSITORY`, `REPOSITORY_REFUSED`, `ACCESS_DENIED`, `INVALID_PATH` */
export async function openRepository(host: ProcessHost, path: unknown, signal: AbortSignal): Promise<GitWork> {
  const asked = typeof path === "string" ? path : "."
  insideRoot(host, asked)
  const folder = await host.workspace.realPath(asked, "read")
  const { git: config, sandbox = "auto", limits } = host.config
  const settings = {
    sandbox,
    protocols: config?.protocols ?? ["https", "ssh"],
    identity: config?.identity ?? { name: "Toolwright", email: "toolwright@localhost" },
    limits,
  }
  const { openRepositoryAt } = await import("./repository.ts")
  const repository = await openRepositoryAt(host, settings, folder)
  if (repository === undefined) {
    const top = repositoryAbove(folder)
    throw new ToolwrightError(
      "NOT_A_REPOSITORY",
      `Not a git repository: ${typeof path === "string" ? path : "the workspace"}.`,
      {
        hint:
          top === undefined
            ? 'Name a folder that lies in a repository with "path", or let a person run git init.'
            : `The repository begins above the workspace, at ${top}, which does not count: a person can give that ` +
              `folder with \`workspace.roots: ${top}\`.`,
      },
    )
  }
  return { host, repository, settings, run: { signal }, [Symbol.dispose]: () => repository[Symbol.dispose]() }
}
