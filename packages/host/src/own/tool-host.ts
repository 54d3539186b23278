import {
  ToolwrightError,
  type ProgramOptions,
  type ProgramOutcome,
  type ToolContext,
  type ToolDefinition,
  type ToolFiles,
  type ToolHost,
} from "@toolwright/toolbox"
import type { NetworkHost } from "../net/network-host.ts"
import { pathFailure } from "../paths/path-errors.ts"
import type { Workspace } from "../paths/workspace.ts"
import { createProcessHost, type ProcessHost, type ProcessToolsConfig } from "../process/host.ts"
import { recordedTool } from "../undo/recorded-tool.ts"

/** What the tools of a user are given of the machine. */
export interface ToolHostConfig {
  readonly workspace: Workspace
  readonly network: NetworkHost
  readonly processes?: ProcessToolsConfig
  log(line: string): void
}

/** The host of one call: what it started ends with it. */
export type CallHost = (context: Pick<ToolContext, "signal">) => ToolHost

/** Longest time of a program where its tool does not say, in milliseconds. */
const PROGRAM_MS = 60_000

/** What built-in tools work with, as tools of others are given it: the same path rules, sandbox and network policy. */
export function createToolHost({ workspace, network, processes = {}, log }: ToolHostConfig): CallHost {
  const files = filesOf(workspace)
  const fetch = network.fetchFor()
  return ({ signal }) => ({
    files,
    log,
    env: (name) => network.env(name),
    runProgram: (argv, options = {}) => runProgram(createProcessHost(workspace, processes), argv, options, signal),
    async fetch(url, request = {}) {
      const { body, headers, status, url: answered } = await fetch(url, { ...request, signal })
      return { url: answered, status, headers, text: new TextDecoder().decode(body) }
    },
  })
}

/**
 * A tool whose calls are given a host, and are entries of the workspace's history.
 *
 * @param host made at the first call: a tool that touches nothing needs no workspace
 */
export function hostedTool(
  tool: ToolDefinition,
  host: () => { callHost: CallHost; recordedIn?: Workspace },
): ToolDefinition {
  return {
    ...tool,
    handler(args, context) {
      const { callHost, recordedIn } = host()
      const hosted: ToolDefinition = {
        ...tool,
        handler: (given, inner) => tool.handler(given, { ...inner, ...callHost(inner) }),
      }
      return (recordedIn === undefined ? hosted : recordedTool(hosted, recordedIn)).handler(args, context)
    },
  }
}

function filesOf(workspace: Workspace): ToolFiles {
  const told = async <Value>(path: string, task: () => Promise<Value>): Promise<Value> => {
    try {
      return await task()
    } catch (thrown) {
      const { error } = pathFailure(thrown, path)
      throw new ToolwrightError(error.code, error.message, {
        cause: thrown,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
      })
    }
  }
  return {
    read: (path) => told(path, async () => (await workspace.read(path)).bytes.toString("utf8")),
    readBytes: (path) => told(path, async () => new Uint8Array((await workspace.read(path)).bytes)),
    write: (path, content) =>
      told(path, async () => {
        const folder = path.replace(/[\\/]?[^\\/]+$/, "")
        if (folder !== "" && folder !== path) await workspace.makeDirectory(folder)
        await workspace.write(path, content)
      }),
    list: (path = ".") =>
      told(path, async () => {
        const { entries } = await workspace.list(path)
        return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
      }),
    remove: (path) => told(path, async () => void (await workspace.removeFile(path))),
  }
}

async function runProgram(
  host: ProcessHost,
  argv: readonly [string, ...string[]],
  { input, folder = ".", timeoutMs = PROGRAM_MS, network = false, env }: ProgramOptions,
  signal: AbortSignal,
): Promise<ProgramOutcome> {
  const { childEnvironment, insideRoot, runInWorkspace } = await import("../process/index.ts")
  try {
    const { outcome } = await runInWorkspace(host, {
      argv,
      cwd: insideRoot(host, folder),
      env: childEnvironment(env, host.config.passEnvironment),
      timeoutMs,
      network,
      signal,
      ...(input === undefined ? {} : { input }),
    })
    const { exitCode, ended, stdout, stderr } = outcome
    return { exitCode, ended, stdout: stdout.text, stderr: stderr.text }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (ToolwrightError.isInstance(cause) || (code !== "ENOENT" && code !== "EACCES")) throw cause
    throw new ToolwrightError("PROGRAM_NOT_FOUND", `The program '${argv[0]}' cannot be started: ${code}.`, { cause })
  }
}
