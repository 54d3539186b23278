import { fork, spawn, type ChildProcess } from "node:child_process"
import { join } from "node:path"
import { HttpMCPClient, StdioMCPClient } from "@toolwright/mcp"
import { ToolsApiClient } from "@toolwright/rest"
import { createApp, listen } from "@toolwright/server"
import { createResultCache, executeCall, ToolRegistry, type Middleware } from "@toolwright/toolbox"
import { createBuiltinTools } from "@toolwright/tools"
import { childPids } from "./processes.ts"

const CLI = join(import.meta.dirname, "../../packages/cli/bin/toolwright.js")

export interface Way {
  name: string
  /** One read; fails when the content is not the file's. */
  read(): Promise<void>
  /** Processes of the other side, whose CPU counts too. */
  servers?: readonly number[]
  close?(): Promise<void>
}

export function expectContent(success: boolean): void {
  if (!success) throw new Error("the read failed")
}

function registryOf(folder: string): ToolRegistry {
  const registry = new ToolRegistry()
  for (const tool of createBuiltinTools({ roots: [{ path: folder, access: "read-only" }] })) registry.register(tool)
  return registry
}

async function inProcess(folder: string, path: string): Promise<Way> {
  const registry = registryOf(folder)
  return {
    name: "in_process",
    read: async () => expectContent((await registry.execute("read_text_file", { path })).success),
  }
}

const cache = createResultCache()

export function hitRate(): number {
  const { hits, misses } = cache.statistics()
  return hits === 0 ? 0 : hits / (hits + misses)
}

async function cached(folder: string, path: string): Promise<Way> {
  const registry = registryOf(folder)
  const middleware: Middleware[] = [cache.middleware]
  return {
    name: "cached",
    read: async () =>
      expectContent(
        (await executeCall(registry, { name: "read_text_file", arguments: { path } }, { middleware })).success,
      ),
  }
}

/** The floor of REST, in a process of its own. */
async function bareHttp(_folder: string, path: string): Promise<Way> {
  const child = fork(join(import.meta.dirname, "bare-server.ts"), [], {
    execArgv: ["--conditions=toolwright-source"],
  })
  const port = await new Promise<number>((resolve) => child.once("message", (message) => resolve(message as number)))
  const read = async (): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ path }),
    })
    expectContent(((await response.json()) as { success: boolean }).success)
  }
  return { name: "node_http", read, servers: [child.pid!], close: async () => void child.kill() }
}

async function served(folder: string, args: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(
    process.execPath,
    [CLI, "serve", "--port", "0", "--quiet", "--no-cache", "--read-only", folder, ...args],
    { cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
  )
  const url = await new Promise<string>((resolve) => {
    let text = ""
    child.stdout.on("data", (data) => {
      text += String(data)
      const match = /at (http:\S+)\s/.exec(text)
      if (match !== null) resolve(match[1]!)
    })
  })
  return { child, url }
}

async function rest(folder: string, path: string): Promise<Way> {
  const { child, url } = await served(folder, [])
  const client = new ToolsApiClient({ baseUrl: url })
  return {
    name: "rest",
    read: async () => expectContent((await client.executeTool("read_text_file", { path })).success),
    servers: [child.pid!],
    close: async () => void child.kill(),
  }
}

async function mcpHttp(folder: string, path: string): Promise<Way> {
  const { child, url } = await served(folder, ["--mcp"])
  const client = await HttpMCPClient.create({ name: "bench", url: `${url}/mcp` })
  const context = { signal: new AbortController().signal, progress: () => {} }
  return {
    name: "mcp_http",
    read: async () => expectContent((await client.callTool("read_text_file", { path }, context)).success),
    servers: [child.pid!],
    close: async () => {
      await client.close()
      child.kill()
    },
  }
}

async function mcpStdio(folder: string, path: string): Promise<Way> {
  const before = childPids()
  const client = await StdioMCPClient.create({
    name: "bench",
    command: process.execPath,
    args: [CLI, "mcp", "--read-only", folder],
    cwd: folder,
  })
  const servers = childPids().filter((pid) => !before.includes(pid))
  const context = { signal: new AbortController().signal, progress: () => {} }
  return {
    servers,
    name: "mcp_stdio",
    read: async () => expectContent((await client.callTool("read_text_file", { path }, context)).success),
    close: () => client.close(),
  }
}

/** REST in front of an MCP server on stdio, as a bridge between two processes would be. */
async function bridge(folder: string, path: string): Promise<Way> {
  const before = childPids()
  const upstream = await StdioMCPClient.create({
    name: "upstream",
    command: process.execPath,
    args: [CLI, "mcp", "--read-only", folder],
    cwd: folder,
  })
  const servers = childPids().filter((pid) => !before.includes(pid))
  const registry = new ToolRegistry()
  for (const tool of upstream.toToolDefinitions()) registry.register(tool)
  // An export lists the actions of a tool by themselves, under names of their own.
  const reads = registry.list().find(({ name }) => name === "read_text_file" || name === "file_read")!.name
  const server = await listen(createApp({ tools: registry }), { port: 0, secured: false })
  const client = new ToolsApiClient({ baseUrl: server.url })
  return {
    servers,
    name: "bridge",
    read: async () => expectContent((await client.executeTool(reads, { path })).success),
    close: async () => {
      await server.close()
      await upstream.close()
    },
  }
}

/** Every way is used from a process of its own, so that none pays for what another has loaded. */
export const WAYS = {
  in_process: inProcess,
  cached,
  node_http: bareHttp,
  rest,
  bridge,
  mcp_stdio: mcpStdio,
  mcp_http: mcpHttp,
} as const
