import { basename, dirname } from "node:path"
import {
  defineTool,
  failure,
  success,
  ToolwrightError,
  type JsonObject,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { programsIn, roleOfCommand } from "./shell-commit.ts"
import type { MetCommand } from "./places.ts"
import { toolsLike } from "./tools-like.ts"
import {
  failureOf,
  insideRoot,
  isContained,
  programDoubt,
  type ProcessHost,
  type runInWorkspace,
} from "@toolwright/host/process"
import type { SandboxReport } from "@toolwright/host/sandbox"

const DEFAULT_TIMEOUT_MS = 120_000
const CODES = {
  exit: "COMMAND_FAILED",
  timeout: "TIMEOUT",
  cancelled: "CANCELLED",
  "output-limit": "OUTPUT_LIMIT",
  "disk-limit": "DISK_LIMIT",
  "memory-limit": "MEMORY_LIMIT",
} as const
const LONGEST_TIMEOUT_MS = 600_000
const MAX_OUTPUT_CHARS = 36_000

/** The `bash` tool: one command line, in the sandbox where there is one. */
export function createBashTool(host: ProcessHost): ToolDefinition {
  const { longest, usual } = limitsOf(host)
  const allow = host.config.bash?.allow
  const rule = allow === undefined ? "" : ` Allowed programs: ${allow.join(", ")}.`
  return defineTool({
    name: "bash",
    sets: ["coding", "db-migrations", "general", "essential"],
    brief: [],
    asks: true,
    role: ({ command }) => roleOfCommand(String(command)),
    ruledAs: ({ command }) => toolsLike(String(command)),
    subjects: ({ command }) => programsIn(String(command)),
    title: "Shell command",
    description:
      "Run a shell command in the workspace; of a long output you get the beginning, the end, and the path of the " +
      `whole.${rule}`,
    category: "build",
    optionality: "optional",
    usageHint:
      "Use when: no other tool does it; nothing is kept between commands but files. Don't use when: one does " +
      "(search, file, git, test).",
    tags: ["shell"],
    aliases: {
      arguments: { cmd: "command", timeout: "timeout_ms", workdir: "cwd" },
    },
    effects: { readOnly: false, destructive: true, network: host.config.bash?.network === true },
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1, description: "The command line, for bash." },
        cwd: { type: "string", description: "Folder to run it in; the workspace's top unless given." },
        timeout_ms: {
          type: "integer",
          minimum: 1,
          maximum: longest,
          description: `Time limit in milliseconds; ${usual} unless given.`,
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        exit_code: { type: ["integer", "null"] },
        ended: { type: "string", enum: ["exit", "timeout", "cancelled", "output-limit", "disk-limit", "memory-limit"] },
        stdout: { type: "object" },
        stderr: { type: "object" },
        duration_ms: { type: "number" },
      },
    },
    examples: [{ description: "Which TypeScript files are there?", input: { command: "ls -R . | head -20" } }],
    timeoutMs: longest + 5000,
    maxOutputChars: MAX_OUTPUT_CHARS,
    doubts: () => programDoubt(host),
    execute: (args, context) => runCommand(host, args, context),
  })
}

/** How long a command may take, and how long it may where the call does not say, in milliseconds. */
function limitsOf({ config }: ProcessHost): { longest: number; usual: number } {
  const longest = config.bash?.timeoutMs ?? LONGEST_TIMEOUT_MS
  return { longest, usual: Math.min(longest, DEFAULT_TIMEOUT_MS) }
}

/** What came of a command line, and how it was contained. */
type ContainedRun = Awaited<ReturnType<typeof runInWorkspace>>

async function runCommand(host: ProcessHost, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  const command = String(args.command)
  const { longest, usual } = limitsOf(host)
  const timeoutMs = typeof args.timeout_ms === "number" ? args.timeout_ms : usual
  const { changedFiles, folderState } = await import("@toolwright/host/process")
  try {
    const cwd = await workingFolder(host, args.cwd)
    const { allow } = host.config.bash ?? {}
    const refusal = allow === undefined ? undefined : await notAllowed(host, { command, cwd, allow })
    if (refusal !== undefined) return refusal
    const before = await folderState(host.root)
    const run = await inShell(host, { command, cwd, timeoutMs }, context)
    const after = await folderState(host.root)
    const unknown = after === undefined ? { changes: "unknown: too many files to compare" } : {}
    return await report(
      run,
      { command, timeoutMs, longest },
      {
        modifiedFiles: changedFiles(before, after),
        metadata: { sandbox: run.sandbox, ...unknown },
      },
    )
  } catch (thrown) {
    return failureOf(thrown)
  }
}

/** Runs a command line in a shell that reads no files of its own. */
async function inShell(
  host: ProcessHost,
  { command, cwd, timeoutMs }: { command: string; cwd: string; timeoutMs: number },
  context: ToolContext,
): Promise<ContainedRun> {
  const [{ childEnvironment, runInWorkspace: contained }, { findProgram, trustedPath }] = await Promise.all([
    import("@toolwright/host/process"),
    import("@toolwright/host/sandbox"),
  ])
  const path = trustedPath(host.workspace.roots.map((root) => root.real))
  const bash = findProgram("bash", path)
  const isHeldByList = host.config.bash?.allow !== undefined && !(await isContained(host))
  const shell = bash === undefined ? ["/bin/sh", "-c"] : [bash, "--noprofile", "--norc", "-c"]
  return contained(host, {
    argv: [...shell, command],
    cwd,
    env: childEnvironment(
      { PAGER: "cat", GIT_PAGER: "cat", ...(isHeldByList ? GIT_BY_LIST : {}) },
      host.config.passEnvironment,
    ),
    timeoutMs,
    signal: context.signal,
    limits: { headBytes: 8192, tailBytes: 24_576 },
    logDirectory: await host.workspace.outputDirectory(),
    network: host.config.bash?.network === true,
    repositories: namesGit(command) ? "writable" : "read-only",
    onProgress: ({ elapsedMs, outputBytes, lastLine }) =>
      context.progress({
        message: `${Math.round(elapsedMs / 1000)} s, ${outputBytes} bytes: ${lastLine}`,
        progress: elapsedMs,
      }),
  })
}

/**
 * For git where nothing but an allow list holds it: an editor runs whatever its input says, and any folder that a
 * command has filled may look like a repository without a work tree, whose settings git would obey.
 */
const GIT_BY_LIST = {
  GIT_EDITOR: ":",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
}

/** What to do about a command that did not end well. */
const HINTS = {
  exit: "Read the output above; correct the command or what it complains of.",
  cancelled: "The caller cancelled it.",
  "output-limit": "Redirect the output to a file, or narrow the command.",
  "disk-limit": "Remove what it made, and make fewer or shorter files in one command.",
  "memory-limit": "Do less in one command, or read and write in parts.",
} as const

function timeoutHint(timeoutMs: number, longest: number): string {
  return timeoutMs < longest
    ? `Raise "timeout_ms" (at most ${longest}), or do less in one command.`
    : "No command may take longer: do less in one."
}

/** A run as the tool's result. */
async function report(
  { outcome, sandbox }: ContainedRun,
  { command, timeoutMs, longest }: { command: string; timeoutMs: number; longest: number },
  changes: Pick<ToolResult, "metadata" | "modifiedFiles">,
): Promise<ToolResult> {
  const { endingOf, outcomeText, streamReport } = await import("@toolwright/host/process")
  const { exitCode, ended, durationMs, signal, stdout, stderr } = outcome
  const output =
    outcomeText(outcome, sandbox, timeoutMs) +
    configurationNotice(stderr.text, sandbox) +
    (await historyNotice(command, sandbox))
  const data = {
    command,
    exit_code: exitCode,
    signal,
    ended,
    stdout: streamReport(stdout),
    stderr: streamReport(stderr),
    duration_ms: durationMs,
  }
  if (ended === "exit" && exitCode === 0) return success({ output, data, ...changes })
  return failure({
    code: CODES[ended],
    message: `The command failed: ${endingOf(outcome, timeoutMs)}.`,
    hint: ended === "timeout" ? timeoutHint(timeoutMs, longest) : HINTS[ended],
    output,
    data,
    ...changes,
    retryable: ended === "timeout",
  })
}

/**
 * Whether a command line itself calls git. Where it does not, the repository is read-only to everything that it starts,
 * so that a commit stands in the command, where a caller's rules can see it, and not in a script.
 */
function namesGit(command: string): boolean {
  return /(^|[\s;&|(){}`$"'/\\])git($|[\s;&|)}`"'])/.test(command)
}

/**
 * The folder to run in, checked as it really lies. @throws ToolwrightError `ACCESS_DENIED`, `NOT_FOUND`,
 * `NOT_A_DIRECTORY`
 */
async function workingFolder(host: ProcessHost, asked: unknown): Promise<string> {
  const path = typeof asked === "string" ? asked : "."
  insideRoot(host, path)
  const { stat, real } = await host.workspace.stat(path)
  if (!stat.isDirectory()) throw new ToolwrightError("NOT_A_DIRECTORY", `${path} is not a folder.`)
  return real
}

/**
 * Explains git's complaint about a file that the sandbox keeps as it is, so that nobody takes the repository for
 * broken.
 */
function configurationNotice(stderr: string, sandbox: SandboxReport): string {
  if (sandbox.kind === "none" || !/could not (?:lock|write) config file/u.test(stderr)) return ""
  return (
    "\n[.git/config is read-only for commands; the repository is fine. Leave out what changes it: push without -u, " +
    "no git config, no git remote add.]"
  )
}

/** Explains why git finds nothing in a repository whose history holds protected files, or may hold some. */
async function historyNotice(command: string, { kind, hidden_history: files }: SandboxReport): Promise<string> {
  if (kind === "none" || files === undefined || !namesGit(command)) return ""
  const { visibleName } = await import("@toolwright/host/text")
  const why =
    files.length === 0
      ? "what its history holds of protected files could not be found out"
      : `its history holds protected files (${files.map(visibleName).join(", ")})`
  return `\n[git cannot read this repository in a command: ${why}. The tool git works.]`
}

async function notAllowed(
  host: ProcessHost,
  { command, cwd, allow }: { command: string; cwd: string; allow: readonly string[] },
): Promise<ToolResult | undefined> {
  const [{ readCommand }, { startsOthers }] = await Promise.all([import("./allow-list.ts"), import("./launchers.ts")])
  const scan = readCommand(command)
  if ("refused" in scan) {
    return failure({
      code: "COMMAND_NOT_ALLOWED",
      message: `With an allow list a command must be plain; this one uses ${scan.refused}.`,
      hint: `Write simple commands joined by ; && || or |, with these programs: ${allow.join(", ")}.`,
    })
  }
  const denied = scan.programs.filter((program) => !allow.includes(program))
  if (denied.length === 0) {
    if (await isContained(host)) return undefined
    const met: MetCommand[] = []
    const rules = { allow, scan: readCommand, met: (one: MetCommand) => void met.push(one) }
    const why = scan.commands.map((one) => startsOthers(one, rules)).find(Boolean)
    return why === undefined ? whereItLeads(host, cwd, met) : uncontained(why, allow)
  }
  return failure({
    code: "COMMAND_NOT_ALLOWED",
    message: `Not allowed: ${[...new Set(denied)].join(", ")}.`,
    hint:
      `Allowed programs: ${allow.join(", ")}. Other tools may do it: search for grep and find, file for cat, git ` +
      "for git, test for tests.",
    details: { denied, allowed: [...allow] },
  })
}

/**
 * What a line that is plain by its text comes to in the folders that it goes to: links may lead out of them, and git
 * itself starts what a repository's configuration and hooks name. It runs where these name nothing.
 */
async function whereItLeads(
  host: ProcessHost,
  cwd: string,
  met: readonly MetCommand[],
): Promise<ToolResult | undefined> {
  const [{ repositoriesIn }, { startsPrograms }, { foldersOf, foldersUpTo, leadsOut }] = await Promise.all([
    import("@toolwright/host/process"),
    import("@toolwright/host/repository"),
    import("./places.ts"),
  ])
  const roots = host.workspace.roots.map((root) => root.real)
  const folders = foldersOf(cwd, met)
  if (folders === undefined) return uncontained("so many changes of folder", ["one cd"])
  const out = leadsOut(roots, folders, met)
  if (out !== undefined)
    return uncontained(`${out}, which may lead out of the workspace, or to files of git or of toolwright`, [
      "names without links",
    ])
  if (!met.some(({ program }) => program === "git")) return undefined
  // git takes the repository of the next folder above that has one, and asks those below it what has changed in them.
  const below = (await repositoriesIn(roots)).filter((path) => basename(path) === ".git").map((path) => dirname(path))
  const tops = new Set([...folders.flatMap((folder) => foldersUpTo(host.root, folder)), ...below])
  const why = [...tops].map((top) => startsPrograms(top, roots)).find((one) => one !== undefined)
  return why === undefined ? undefined : uncontained(`git, and ${why}`, ["the tool git"])
}

function uncontained(why: string, allow: readonly string[]): ToolResult {
  return failure({
    code: "COMMAND_NOT_ALLOWED",
    message:
      `Not allowed: ${why}. Nothing contains commands here, so that one could start another that is not on ` +
      "the list.",
    hint: `Write it plainly with: ${allow.join(", ")}.`,
  })
}
