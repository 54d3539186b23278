/** Public MCP servers, asked for their tools; none of them is called. */
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { toolsFromJson } from "@toolwright/toolformat"
import type { ToolDefinition } from "@toolwright/toolbox"
import { installPeers } from "../peers.ts"

const PACKAGES = {
  "@modelcontextprotocol/server-everything": "2026.8.31",
  "@modelcontextprotocol/server-filesystem": "2026.8.31",
  "@modelcontextprotocol/server-memory": "2026.8.31",
  "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
  "@modelcontextprotocol/server-github": "2025.4.8",
  "@modelcontextprotocol/server-gitlab": "2025.4.25",
  "@modelcontextprotocol/server-slack": "2025.4.25",
  "@modelcontextprotocol/server-google-maps": "0.6.2",
  "@modelcontextprotocol/server-puppeteer": "2025.5.12",
  "@playwright/mcp": "0.0.83",
  "chrome-devtools-mcp": "1.11.0",
  "@notionhq/notion-mcp-server": "2.5.2",
  "@antv/mcp-server-chart": "0.9.10",
} as const

/** The command of each, with its arguments. */
const COMMANDS: readonly (readonly string[])[] = [
  ["mcp-server-everything"],
  ["mcp-server-filesystem", "."],
  ["mcp-server-memory"],
  ["mcp-server-sequential-thinking"],
  ["mcp-server-github"],
  ["mcp-server-gitlab"],
  ["mcp-server-slack"],
  ["mcp-server-google-maps"],
  ["mcp-server-puppeteer"],
  ["playwright-mcp", "--caps=vision,pdf,testing,tracing,network,storage,devtools"],
  ["chrome-devtools-mcp"],
  ["notion-mcp-server"],
  ["mcp-server-chart"],
]

/** Servers that ask for a key before they tell their tools get one that opens nothing. */
const KEYS = {
  GITHUB_PERSONAL_ACCESS_TOKEN: "none",
  GITLAB_PERSONAL_ACCESS_TOKEN: "none",
  SLACK_BOT_TOKEN: "none",
  SLACK_TEAM_ID: "none",
  GOOGLE_MAPS_API_KEY: "none",
  NOTION_TOKEN: "none",
}
const TIMEOUT_MS = 120_000

export interface Offered {
  readonly server: string
  readonly tools: readonly ToolDefinition[]
}

/** The tools of every server that starts; `missing` says why another did not. */
export async function offeredTools(): Promise<{ servers: Offered[]; missing: string[] }> {
  const { folder } = installPeers("servers", PACKAGES)
  const servers: Offered[] = []
  const missing: string[] = []
  for (const [command = "", ...args] of COMMANDS) {
    try {
      servers.push({ server: command, tools: await toolsOf(join(folder, "node_modules/.bin", command), args, folder) })
    } catch (thrown) {
      missing.push(`${command}: ${String(thrown)}`)
    }
  }
  return { servers, missing }
}

async function toolsOf(command: string, args: string[], cwd: string): Promise<ToolDefinition[]> {
  const { PATH = "", HOME = cwd } = process.env
  const env = { PATH, HOME, ...KEYS }
  const client = new Client({ name: "toolwright-bench", version: "0.0.0" })
  try {
    await client.connect(new StdioClientTransport({ command, args, cwd, env, stderr: "ignore" }), {
      timeout: TIMEOUT_MS,
    })
    const { tools } = await client.listTools({}, { timeout: TIMEOUT_MS })
    return toolsFromJson(
      tools.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })),
    )
  } finally {
    await client.close()
  }
}
