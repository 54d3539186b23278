/**
 * The protocol's own conformance suite against our export, against the same server imported and exported again, and
 * against our importer. The figures are counts of scenarios, the ratios shares that passed; the report names what
 * failed.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { HttpMCPClient, mcpOverHttp, StdioMCPClient, type McpExportOptions } from "@toolwright/mcp"
import { createApp, listen, type RunningServer } from "@toolwright/server"
import { sampleCall, ToolRegistry } from "@toolwright/toolbox"
import { conformancePrompts, conformanceTools } from "../packages/mcp/src/testing/conformance-registry.ts"
import { installPeers } from "./peers.ts"
import type { BenchmarkResult } from "./run.ts"

const CLIENT_SCENARIOS = ["initialize", "tools_call", "sse-retry"]

/** Scenarios that test what is not offered, by the beginning of their names, with the reason. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  "resources-": "no resources: files are read with tools",
  "sep-2164-resource": "no resources",
  "completion-": "no completion of arguments",
  "tools-call-sampling": "no sampling: the model is the host's",
  "tools-call-elicitation": "tools do not ask the user",
  "elicitation-": "tools do not ask the user",
  "input-required-": "tools do not ask the user, sample or list roots",
  "prompts-get-embedded": "prompts are text",
  "prompts-get-with-image": "prompts are text",
  "server-stateless": "two of its 28 checks need a tool that samples",
  caching: "two of its seven checks need lists of resources",
  "tasks-": "an extension, not scored",
  "json-schema-2020-12":
    "pending, not scored: combinators at the top of a schema are flattened, since hosts drop such tools",
  "http-custom-header": "pending, not scored: no argument travels in a header",
  "server-sse-polling": "no resumable streams; the current protocol has none either",
}

interface Outcome {
  scenario: string
  passed: number
  failed: number
  why: string[]
}

export async function run(): Promise<BenchmarkResult> {
  const { folder } = installPeers("conformance", {
    "@modelcontextprotocol/conformance": "0.1.16",
    "conformance-2026": "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/server-everything": "2026.8.31",
  })
  const suite = (name: string): string => join(folder, "node_modules", name, "dist/index.js")
  await using served = await serve({ tools: conformanceTools(), prompts: conformancePrompts() })
  await using upstream = await HttpMCPClient.create({ name: "upstream", url: `${served.url}/mcp` })
  const imported = new ToolRegistry()
  for (const tool of upstream.toToolDefinitions()) imported.register(tool)
  await using bridged = await serve({ tools: imported, prompts: conformancePrompts() })

  const runs = {
    active: await conform(suite("@modelcontextprotocol/conformance"), ["--url", `${served.url}/mcp`]),
    "2026": await conform(suite("conformance-2026"), ["--url", `${served.url}/mcp`, "--requirements", "2026-07-28"]),
    bridged: await conform(suite("@modelcontextprotocol/conformance"), ["--url", `${bridged.url}/mcp`]),
    client: await clientScenarios(suite("@modelcontextprotocol/conformance")),
  }
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const report: string[] = []
  for (const [name, outcomes] of Object.entries(runs)) {
    const offered = outcomes.filter(({ scenario }) => reasonFor(scenario) === undefined)
    const failed = offered.filter((outcome) => outcome.failed > 0)
    figures[`${name}_scenarios`] = outcomes.length
    figures[`${name}_scenarios_passed`] = outcomes.filter((outcome) => outcome.failed === 0).length
    figures[`${name}_offered`] = offered.length
    figures[`${name}_offered_passed`] = offered.length - failed.length
    ratios[`${name}_offered_passed`] = offered.length === 0 ? 0 : (offered.length - failed.length) / offered.length
    for (const { scenario, why } of failed) report.push(`${name}: ${scenario} failed: ${why.join("; ")}`)
    const left = outcomes.filter(({ scenario, failed: count }) => count > 0 && reasonFor(scenario) !== undefined)
    report.push(`${name}: not offered: ${left.map(({ scenario }) => scenario).join(", ") || "none"}`)
  }
  const everything = await throughUs(join(folder, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"))
  Object.assign(figures, {
    everything_tools: everything.tools,
    everything_calls_equal: everything.equal.length,
    everything_calls_different: everything.different.length,
  })
  ratios.everything_calls_equal = everything.equal.length / (everything.equal.length + everything.different.length)
  report.push(
    `everything: equal ${everything.equal.join(", ")}; different ${everything.different.join(", ") || "none"}`,
  )
  return { figures, ratios, report: report.join("\n") }
}

/** Tools of the reference server whose answers differ from call to call, or that need what our import declines. */
const CHANGEFUL = /^(get-env|get-annotated-message|toggle-|trigger-|simulate-|gzip-)/

/**
 * The reference server's tools called directly, and called where we serve them again: listing and answers must be the
 * same.
 */
async function throughUs(program: string) {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client")
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio")
  const command = { command: process.execPath, args: [program, "stdio"], stderr: "ignore" as const }
  await using imported = await StdioMCPClient.create({ name: "everything", ...command })
  const registry = new ToolRegistry()
  for (const tool of imported.toToolDefinitions()) registry.register(tool)
  await using served = await serve({ tools: registry })
  const [direct, through] = [
    new Client({ name: "direct", version: "1" }),
    new Client({ name: "through", version: "1" }),
  ]
  await direct.connect(new StdioClientTransport(command))
  await through.connect(new StreamableHTTPClientTransport(new URL(`${served.url}/mcp`)))
  const found = { tools: 0, equal: [] as string[], different: [] as string[] }
  const { tools } = await direct.listTools()
  const again = new Map((await through.listTools()).tools.map((tool) => [tool.name, tool]))
  for (const { name } of tools) {
    const tool = registry.get(name)
    if (tool === undefined || again.get(name) === undefined) {
      found.different.push(name)
      continue
    }
    found.tools++
    if (CHANGEFUL.test(name)) continue
    const call = { name, arguments: sampleCall(tool) }
    const [one, other] = [await direct.callTool(call), await through.callTool(call)]
    const same = isDeepStrictEqual(
      [one.content, one.structuredContent, one.isError ?? false],
      [other.content, other.structuredContent, other.isError ?? false],
    )
    found[same ? "equal" : "different"].push(name)
  }
  await direct.close()
  await through.close()
  return found
}

function reasonFor(scenario: string): string | undefined {
  return Object.entries(NOT_OFFERED).find(([start]) => scenario.startsWith(start))?.[1]
}

async function serve(options: McpExportOptions): Promise<RunningServer> {
  const exported = mcpOverHttp(options)
  const app = createApp({ tools: options.tools }, (application) =>
    application.all("/mcp", (context) => exported.fetch(context.req.raw)),
  )
  return listen(app, { port: 0, secured: false, drainMs: 500 })
}

async function conform(suite: string, args: string[]): Promise<Outcome[]> {
  return outcomes(await output(process.execPath, [suite, "server", ...args, "--verbose"]))
}

async function clientScenarios(suite: string): Promise<Outcome[]> {
  const command = `${process.execPath} --conditions=toolwright-source ${join(import.meta.dirname, "conformance/client.ts")}`
  const found: Outcome[] = []
  for (const scenario of CLIENT_SCENARIOS) {
    const text = await output(process.execPath, [
      suite,
      "client",
      "--command",
      command,
      "--scenario",
      scenario,
      "--verbose",
    ])
    const [passed = 0, failed = 1] = /Passed: (\d+)\/\d+, (\d+) failed/.exec(text)?.slice(1).map(Number) ?? []
    found.push({ scenario, passed, failed, why: failed > 0 ? [text.slice(-300)] : [] })
  }
  return found
}

async function output(command: string, args: string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] })
  let text = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += String(data)))
  await once(child, "close")
  if (process.env["CONFORMANCE_OUTPUT"] !== undefined) console.error(text)
  return text
}

/** Reads the suite's summary: a line for each scenario with its counts, and lines for failed checks. */
function outcomes(text: string): Outcome[] {
  const found: Outcome[] = []
  for (const line of text.split("\n")) {
    const match = /^\s*[✓✗]\s+([\w-]+):\s+(\d+) passed, (\d+) failed/u.exec(line)
    if (match !== null) found.push({ scenario: match[1]!, passed: Number(match[2]), failed: Number(match[3]), why: [] })
  }
  return found
}
