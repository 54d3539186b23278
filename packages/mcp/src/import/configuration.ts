import { readFileSync } from "node:fs"
import { messageOf, ToolwrightError, type AttachOptions } from "@toolwright/toolbox"
import type { BaseMCPClient, McpClientOptions } from "./client.ts"
import { HttpMCPClient, type HttpTransport } from "./http-client.ts"
import { StdioMCPClient } from "./stdio-client.ts"
import { withVariables } from "./variables.ts"

/** One server of an `mcpServers` file, with what of its tools is wanted. */
export interface McpServerConfiguration extends AttachOptions {
  name: string
  url?: string
  /** How it answers at its address; found out unless given. */
  type?: HttpTransport
  headers?: Record<string, string>
  command?: string
  args?: string[]
  env?: Record<string, string>
  cwd?: string
  enabled: boolean
  /** Whether a start without it fails. */
  required: boolean
  /** Whether it may tell of its tools otherwise than at first; see {@link McpClientOptions.acceptChanges}. */
  acceptChanges?: boolean
}

/**
 * Reads the `mcpServers` form: `{"mcpServers": {"name": {"url" | "command", "args", "env", "enabled"}}}`. Beside it:
 * `type` (`http` or `sse`), `prefix`, `rename`, `allow`, `deny`, `tags`, `sets`, `keyed`, `idempotent`, `headers`,
 * `required`, `acceptChanges`.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION`, naming the server and what is wrong
 */
export function readMcpServers(value: unknown, source = "mcpServers"): McpServerConfiguration[] {
  const servers = (value as { mcpServers?: unknown } | null)?.mcpServers
  if (typeof servers !== "object" || servers === null || Array.isArray(servers))
    throw wrong(source, "it has no mapping 'mcpServers'")
  return Object.entries(servers).map(([name, entry]: [string, unknown]) => {
    if (typeof entry !== "object" || entry === null)
      throw wrong(source, `'${name}' must be a mapping with 'url' or 'command'`)
    const server = entry as Partial<McpServerConfiguration> & { disabled?: boolean }
    if ((server.url === undefined) === (server.command === undefined))
      throw wrong(source, `'${name}' needs either a 'url' or a 'command'`)
    const { type, ...rest } = server as Partial<McpServerConfiguration>
    const transport = transportOf(type)
    return {
      ...rest,
      ...(transport === undefined ? {} : { type: transport }),
      name,
      enabled: server.enabled !== false && server.disabled !== true,
      required: server.required === true,
    }
  })
}

/** Reads an `mcpServers` file. @throws ToolwrightError `INVALID_CONFIGURATION` */
export function readMcpServersFile(path: string): McpServerConfiguration[] {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, "utf8"))
  } catch (cause) {
    throw new ToolwrightError(
      "INVALID_CONFIGURATION",
      `The file of MCP servers ${path} cannot be read: ${messageOf(cause)}`,
      { cause },
    )
  }
  return readMcpServers(value, path)
}

/**
 * A server named on a command line: an address, or a command with its arguments. `name=` before it names it; otherwise
 * the address's host or the command's own name does.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` when nothing stands there
 */
export function parseMcpServer(text: string): McpServerConfiguration {
  const named = /^([A-Za-z][\w-]*)=(.+)$/s.exec(text.trim())
  const target = named?.[2] ?? text.trim()
  if (/^https?:\/\//.test(target))
    return { name: named?.[1] ?? URL.parse(target)?.host ?? target, url: target, enabled: true, required: true }
  const [command, ...args] = words(target)
  if (command === undefined)
    throw new ToolwrightError("INVALID_CONFIGURATION", "An MCP server is named by its address or by a command.", {
      hint: "For example --mcp-server http://localhost:8005/mcp",
    })
  return { name: named?.[1] ?? command.split(/[/\\]/).at(-1)!, command, args, enabled: true, required: true }
}

/**
 * Connects to a server by its configuration, variables in it replaced.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where a variable is not set, or as the clients' `create`
 */
export async function connectMcpServer(
  server: McpServerConfiguration,
  { variables = process.env, ...options }: ConnectOptions = {},
): Promise<BaseMCPClient> {
  const { name, url, type, headers, command = "", args, env, cwd, acceptChanges } = withVariables(server, variables)
  const shared = { ...options, name, ...(acceptChanges === undefined ? {} : { acceptChanges }) }
  if (url !== undefined)
    return HttpMCPClient.create({
      ...shared,
      url,
      ...(type === undefined ? {} : { transport: type }),
      ...(headers === undefined ? {} : { headers }),
    })
  return StdioMCPClient.create({
    ...shared,
    command,
    ...(args === undefined ? {} : { args }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  })
}

/** Settings of {@link connectMcpServer}. */
export interface ConnectOptions extends Omit<McpClientOptions, "name"> {
  /** What `${NAME}` in the configuration stands for; the process's own environment unless given. */
  variables?: Readonly<Record<string, string | undefined>>
}

/** Hosts call the newer transport by several names; `stdio` says what a command says anyway. */
function transportOf(type: string | undefined): HttpTransport | undefined {
  if (type === "sse") return "sse"
  return type === "http" || type === "streamable-http" || type === "streamableHttp" ? "http" : undefined
}

/** Words as a shell would cut them, with single and double quotes and no other magic. */
function words(text: string): string[] {
  return [...text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  )
}

function wrong(source: string, message: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `${source}: ${message}.`)
}
