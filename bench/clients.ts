/**
 * The gateway with the real clients, unmodified: libraries and command lines, installed into `bench/.peers/clients`.
 * `--write-docs` writes what came of it into `docs/clients.md`.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createOpenAICompatibleBackend } from "@toolwright/backends"
import { createApp, gatewayRoutes, listen } from "@toolwright/server"
import { ToolRegistry } from "@toolwright/toolbox"
import { COMMAND_LINES, tryCommandLine, type Tried } from "./clients/command-lines.ts"
import { LIBRARIES, type Library, type Load } from "./clients/libraries.ts"
import { FAMILIES, serveModel } from "./clients/model.ts"
import { page } from "./clients/page.ts"
import { SCENARIOS, type Ask, type Scenario, type Seen } from "./clients/scenarios.ts"
import { installPeers } from "./peers.ts"
import type { BenchmarkResult } from "./run.ts"

const PACKAGES = {
  openai: "7.57.0",
  "@anthropic-ai/sdk": "1.12.0",
  ollama: "0.6.4",
  "ai-7": "npm:ai@7.0.173",
  "ai-6": "npm:ai@6.0.326",
  "@ai-sdk/openai": "4.0.118",
  "@ai-sdk/openai-compatible": "3.0.92",
  "@ai-sdk/anthropic": "4.0.105",
  "openai-provider-3": "npm:@ai-sdk/openai@3.0.141",
  "@langchain/openai": "1.6.0",
  "@langchain/core": "1.4.0",
  "@openai/agents": "0.20.0",
  "@mastra/core": "1.71.0",
  "@llamaindex/openai": "0.4.23",
  "@llamaindex/core": "0.6.23",
  "@llamaindex/env": "0.1.31",
  zod: "4.6.7",
  "@anthropic-ai/claude-code": "2.1.330",
  "@openai/codex": "0.169.0",
  "opencode-ai": "1.18.33",
  "@qwen-code/qwen-code": "0.24.4",
  "@continuedev/cli": "1.5.47",
}

type Client = (ask: Ask) => Promise<Seen>

/** A client's row: what was wrong by scenario, empty where nothing was. */
export interface Row {
  name: string
  wire: string
  version: string
  wrong: string[]
  /** What of that the client makes of any server, by scenario. */
  own: Readonly<Record<string, string>>
}

export async function run(): Promise<BenchmarkResult> {
  const { folder, load } = installPeers("clients", PACKAGES)
  const rows: Row[] = []
  for (const library of LIBRARIES) rows.push(await rowOf(library, load, folder))
  const tried: Tried[] = []
  for (const line of COMMAND_LINES)
    for (const family of Object.keys(FAMILIES)) tried.push(await tryCommandLine(line, family, folder))
  const text = page(rows, tried)
  if (process.argv.includes("--write-docs")) writeFileSync(join(import.meta.dirname, "../docs/clients.md"), text)
  const faults = rows.flatMap(({ name, wire, wrong, own }) =>
    wrong.flatMap((one, at) =>
      one === "" || own[SCENARIOS[at]!.name] !== undefined ? [] : [`${name}, ${wire}, ${SCENARIOS[at]!.name}: ${one}`],
    ),
  )
  const failed = tried
    .filter(({ wrong }) => wrong !== "")
    .map(({ name, family, wrong }) => `${name}, ${family}: ${wrong}`)
  return {
    figures: {
      libraries: rows.length,
      trials: rows.length * SCENARIOS.length,
      trials_wrong: faults.length,
      command_line_tasks: tried.length,
      command_line_tasks_wrong: failed.length,
    },
    ratios: {},
    report: [text, ...faults, ...failed].join("\n"),
  }
}

async function rowOf(library: Library, load: Load, folder: string): Promise<Row> {
  const manifest = readFileSync(join(folder, "node_modules", library.package, "package.json"), "utf8")
  const { version } = JSON.parse(manifest) as { version: string }
  const client = await library.open(load)
  const wrong: string[] = []
  for (const scenario of SCENARIOS) {
    const faults = new Set<string>()
    for (const family of Object.values(FAMILIES)) {
      await using model = await behindGateway(scenario, family)
      faults.add(await tryOut(client, scenario, model).catch((thrown: unknown) => String(thrown).slice(0, 300)))
    }
    wrong.push([...faults].filter((fault) => fault !== "").join("; "))
  }
  return { name: library.name, wire: library.wire, version, wrong, own: library.own ?? {} }
}

async function behindGateway(scenario: Scenario, family: (typeof FAMILIES)["hermes"]) {
  const model = await serveModel(family, (asked) => scenario.reply(asked))
  const backend = createOpenAICompatibleBackend({
    baseUrl: model.baseUrl,
    modelName: family.model,
    abilities: { nativeTools: false },
  })
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  const server = await listen(app, { port: 0, secured: false })
  return {
    url: server.url,
    allLeft: model.allLeft,
    async [Symbol.asyncDispose]() {
      await server.close()
      await model.close()
    },
  }
}

async function tryOut(
  client: Client,
  { name, ask, wrong }: Scenario,
  { url, allLeft }: Awaited<ReturnType<typeof behindGateway>>,
): Promise<string> {
  const asking = { ...ask, url, prompt: "What is the weather?" }
  if (wrong !== undefined) return wrong(await client(asking)) ?? ""
  const leaving = new AbortController()
  const failed = await client({ ...asking, signal: leaving.signal, begun: () => leaving.abort() }).then(
    () => undefined,
    (thrown: unknown) => thrown as { status?: number; status_code?: number; statusCode?: number },
  )
  if (name === "abort") return (await allLeft()) ? "" : "the model still writes"
  const status = failed?.status ?? failed?.statusCode ?? failed?.status_code
  return status === 429 ? "" : `status ${String(status)} (${String(failed)})`
}
