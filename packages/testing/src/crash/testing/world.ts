import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineTool, ToolRegistry, type JsonObject } from "@toolwright/toolbox"
import { serveRegistry } from "../../../../mcp/src/testing/serve-registry.ts"
import type { AgentPlace } from "./agent.ts"

/** What calls have done outside of the agent's process, each as often as it was really done. */
export interface Effects {
  orders: string[]
  mails: string[]
  rings: number
  stock: number
}

/** A folder, a REST tools service and an MCP server, which all outlive the agent's process. */
export interface World extends AsyncDisposable {
  readonly place: AgentPlace
  readonly effects: Effects
  /** All that is left: files, commits, and effects elsewhere. */
  state(): object
}

export function git(folder: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd()
}

/** A repository with one commit, to be copied. */
export function newRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), "crash-origin-"))
  git(folder, "init", "-q", "-b", "main")
  git(folder, "config", "user.name", "Tester")
  git(folder, "config", "user.email", "tester@example.invalid")
  const check = "import unittest\n\nclass Fine(unittest.TestCase):\n    def test_fine(self):\n        pass\n"
  writeFileSync(join(folder, "test_fine.py"), check)
  writeFileSync(join(folder, ".gitignore"), "__pycache__/\n")
  git(folder, "add", "-A")
  git(folder, "commit", "-q", "-m", "Begin")
  return folder
}

export async function newWorld(repository: string, database?: string): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "crash-"))
  cpSync(repository, folder, { recursive: true })
  const effects: Effects = { orders: [], mails: [], rings: 0, stock: 0 }
  const rest = await restService(effects)
  const mcp = await serveRegistry({ tools: mailTools(effects) })
  const place = { folder, rest: rest.url, mcp: mcp.url, ...(database === undefined ? {} : { database }) }
  return {
    place,
    effects,
    state: () => ({
      files: filesIn(folder),
      commits: git(folder, "log", "--format=%s", "--name-status"),
      branch: git(folder, "branch", "--show-current"),
      status: git(folder, "status", "--porcelain"),
      ...effects,
    }),
    async [Symbol.asyncDispose]() {
      rest.close()
      await mcp[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Carries an order out once for its key; says nothing of that itself. */
async function restService(effects: Effects): Promise<{ url: string; close(): void }> {
  const tool = (name: string, properties: JsonObject) => ({
    name,
    description: name,
    parameters: { type: "object", properties },
    tags: [],
  })
  const tools = [tool("order", { what: { type: "string" } }), tool("stock", { count: { type: "integer" } })]
  const seen = new Set<string>()
  const call = (name: string, key: string, args: { what?: string; count?: number }): string => {
    if (name === "stock") return `stock ${(effects.stock = args.count!)}`
    if (!seen.has(key)) effects.orders.push(args.what!)
    seen.add(key)
    return `ordered ${args.what}`
  }
  const server = createServer(async (request, response) => {
    response.setHeader("content-type", "application/json")
    if (request.method === "GET") return void response.end(JSON.stringify(tools))
    const args = JSON.parse(await textOf(request)) as object
    const result = call(request.url!.split("/").at(-1)!, String(request.headers["idempotency-key"]), args)
    response.end(JSON.stringify({ success: true, result, error: null, metadata: {}, execution_time_ms: 1 }))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString("utf8") || "{}"
}

function mailTools(effects: Effects): ToolRegistry {
  const registry = new ToolRegistry()
  const seen = new Set<string>()
  const parameters = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } } }) as const
  registry.register(
    defineTool({
      name: "mail",
      description: "Sends a mail, once for its key",
      parameters: parameters("to"),
      execute: ({ to }, { idempotencyKey }) => {
        if (!seen.has(idempotencyKey)) effects.mails.push(String(to))
        seen.add(idempotencyKey)
        return `sent to ${String(to)}`
      },
    }),
  )
  registry.register(
    defineTool({
      name: "ring",
      description: "Rings a bell, each time",
      parameters: parameters("bell"),
      execute: () => `rung ${++effects.rings} times`,
    }),
  )
  return registry
}

function filesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1)
    if (/^(?:\.git|\.toolwright|__pycache__)(?:\/|$)/.test(path)) return []
    return [[path, entry.isFile() ? readFileSync(join(folder, path), "utf8") : "directory"]]
  })
  return Object.fromEntries(files.sort()) as Record<string, string>
}
