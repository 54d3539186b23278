import { resolve } from "node:path"
import {
  attachSource,
  messageOf,
  ToolwrightError,
  type AttachedSource,
  type ToolDefinition,
  type ToolRegistry,
} from "@toolwright/toolbox"
import type { McpServerConfiguration } from "@toolwright/mcp"
import type { Configuration } from "../configuration/settings.ts"
import { toldStore } from "../configuration/trust/told-store.ts"

/** What came of connecting to the configured sources. */
export interface ConnectedSources {
  attached: AttachedSource[]
  close(): Promise<void>
  /** Sources that are configured, not required, and not there. */
  missing: { name: string; reason: string }[]
}

/** What {@link connectSources} takes from its surroundings. */
export interface ConnectOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  log(line: string): void
}

/**
 * Connects to the configured MCP servers, all at once, and registers their tools in the order of the configuration. A
 * server that does not answer stops the start only where it is required; those named on a command line are.
 *
 * MCP is loaded only where a server is configured.
 *
 * @throws ToolwrightError `SOURCE_UNAVAILABLE`, `DUPLICATE_TOOL`, `INVALID_CONFIGURATION`; nothing stays connected then
 */
export async function connectSources(
  configuration: Configuration,
  registry: ToolRegistry,
  { cwd, env, log }: ConnectOptions,
): Promise<ConnectedSources> {
  const { connect = [], file, servers, folder } = configuration.mcp
  if (connect.length === 0 && file === undefined && servers === undefined) return NOTHING
  const mcp = await import("@toolwright/mcp")
  const wanted = [
    ...(servers === undefined ? [] : mcp.readMcpServers({ mcpServers: servers }, "mcp.servers")),
    ...(file === undefined ? [] : mcp.readMcpServersFile(resolve(cwd, file))),
    ...connect.map(mcp.parseMcpServer),
  ]
    .filter(({ enabled }) => enabled)
    .map(startingIn(resolve(cwd, folder ?? ".")))
  const opened = await Promise.allSettled(
    wanted.map((server) => {
      const told = toldStore(env, { kind: "mcp", name: server.name, target: targetOf(server, cwd) }, log)
      return mcp.connectMcpServer(server, { variables: env, told, log: (line) => log(forPeople(server.name, line)) })
    }),
  )
  const takenBy = (server: string) => (tool: ToolDefinition, name: string) =>
    log(`There is a tool '${tool.name}' already: that of '${server}' is called '${name}'.`)
  const found: ConnectedSources = { attached: [], missing: [], close: () => closeAll(found.attached) }
  try {
    for (const [index, outcome] of opened.entries()) {
      const server = wanted[index]!
      if (outcome.status === "fulfilled")
        found.attached.push(
          await attachSource(registry, outcome.value, { ...server, onTaken: takenBy(server.name) }, (thrown) =>
            log(messageOf(thrown)),
          ),
        )
      else if (server.required || !unavailable(outcome.reason)) throw outcome.reason
      else {
        found.missing.push({ name: server.name, reason: messageOf(outcome.reason) })
        log(messageOf(outcome.reason))
      }
    }
    return found
  } catch (thrown) {
    for (const outcome of opened) if (outcome.status === "fulfilled") await outcome.value.close()
    throw thrown
  }
}

/** What makes a server the one that it was: where it answers, or what starts it, and where. */
function targetOf({ url, command = "", args = [], cwd }: McpServerConfiguration, here: string): string[] {
  return url !== undefined ? [url] : [command, ...args, `in ${resolve(here, cwd ?? ".")}`]
}

/** What a client says of its listing, in words that say something to who started it. */
function forPeople(server: string, line: string): string {
  const [, count] = /^Converted (\d+) tools/.exec(line) ?? []
  return count === undefined ? line : `The MCP server '${server}' has ${count} ${count === "1" ? "tool" : "tools"}.`
}

/** A server that is started, and does not say where, starts in this folder. */
function startingIn(folder: string): (server: McpServerConfiguration) => McpServerConfiguration {
  return (server) => (server.command === undefined ? server : { ...server, cwd: resolve(folder, server.cwd ?? ".") })
}

const NOTHING: ConnectedSources = { attached: [], missing: [], close: async () => {} }

async function closeAll(sources: readonly AttachedSource[]): Promise<void> {
  for (const source of sources) await source.close()
}

function unavailable(thrown: unknown): boolean {
  return ToolwrightError.isInstance(thrown) && thrown.code === "SOURCE_UNAVAILABLE"
}
