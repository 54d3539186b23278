import { resolve } from "node:path"
import type { Toolwright } from "@toolwright/runtime"
import { ToolwrightError } from "@toolwright/toolbox"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, type OptionDeclarations, type OptionValues } from "../options.ts"
import { LISTED_BUNDLE } from "../service/bundles.ts"
import { serviceEnvironment, serviceFolders, tokenIn } from "../service/environment.ts"
import type { Served } from "../service/serve-toolwright.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { count } from "../render/short.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  port: { type: "string", value: "n", description: "Port to listen on (8001; 0 takes any free one)" },
  host: { type: "string", value: "address", description: "Address to listen on (127.0.0.1); others need a token" },
  token: {
    type: "string",
    value: "token[:tags]",
    multiple: true,
    description: "Bearer token; with tags for these tools only",
  },
  "token-file": {
    type: "string",
    value: "file",
    description: "File with the token where none is given; made where missing",
  },
  "env-file": { type: "string", value: "file", description: "File with variables, such as .env" },
  "allow-host": {
    type: "string",
    value: "name",
    multiple: true,
    description: "Host name that requests may use",
  },
  "allow-origin": { type: "string", value: "origin", multiple: true, description: "Origin whose pages may call" },
  "public-url": {
    type: "string",
    value: "url",
    description: "Address under which clients reach it, for OpenAPI",
  },
  prompts: {
    type: "string",
    value: "dir",
    multiple: true,
    description: "Folder of prompt files",
  },
  mcp: { type: "boolean", description: "Serve MCP hosts at /mcp too, for compatibility" },
  bundle: {
    type: "string",
    value: "name",
    multiple: true,
    description: "Only tools of this bundle: coding, … (all)",
  },
  cache: {
    type: "boolean",
    description: "Keep what was read for five minutes or until a write (on)",
  },
  "unknown-tools": {
    type: "string",
    value: "how",
    description: "At /v1, calls of tools not offered: text (default) or pass",
    page: "docs/server.md",
  },
  repair: {
    type: "boolean",
    description: "At /v1, ask the model once more where its call is wrong",
    page: "docs/server.md",
  },
  "defer-tools": {
    type: "string",
    value: "share",
    description: "At /v1, share of the window beyond which tools are searched for (0.3), or off",
    page: "docs/server.md",
  },
  workers: {
    type: "string",
    value: "n",
    description: "Tasks worked on at once (1 with a model and a token)",
  },
  quiet: { type: "boolean", description: "Write no line for each request" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

export const serveCommand: Command = {
  name: "serve",
  summary: "Serve the tools and prompts over HTTP",
  usage: usageText({
    synopsis: ["serve [options]"],
    description: "Serves the tools over REST, with a model OpenAI's API too. Ctrl-C lets calls end, twice ends all.",
    options: OPTIONS,
    examples: [
      {
        line: "toolwright serve --host 0.0.0.0 --token $TOKEN",
        does: "For others, with a token",
      },
    ],
  }),
  details: `\`POST /tools/{name}\` calls a tool, \`/openapi.json\` describes them for importers, \`/\` is the console,
\`/docs\` a plain page to try them, \`/prompts/\` renders prompts, \`/metrics\` is for Prometheus. With a model
configured, \`/v1\` gives any client of OpenAI and of Anthropic, \`/api\` any of Ollama, tool use in front of it (model
\`toolwright/assistant\`: an agent with these tools), and \`/conversations\` keeps what is said. With a token too,
\`POST /tasks\` queues what an agent is to do (as \`toolwright tasks add\` does), \`POST /plans\` starts a plan, \`POST
/agents\` makes an agent, and the server works on the tasks. Only this machine can reach it, unless a token is set; a
token \`secret:git,filesystem\` is for tools with these tags alone, and not for \`/mcp\`, \`/v1\`, \`/api\` and
\`/conversations\`. \`TOOLWRIGHT_TOKEN\` and \`TOOLWRIGHT_TOKEN_FILE\` do as \`--token\` and \`--token-file\`. Where
every folder is read-only, no tool that writes is offered. As a service of a container it reads BASE_REPOS_PATH,
BASE_DOWNLOADS_PATH and PLAYBOOKS_PATH ([deployment](deployment.md)). Ctrl-C lets calls that are under way end, a
second one ends them too.`,
  async run(invocation: Invocation) {
    const { values: given } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    const env = serviceEnvironment(invocation.env, invocation.cwd, given["env-file"])
    const values: typeof given = { ...given, ...serviceFolders(env, given) }
    const port = portOf(values.port)
    const [
      { createToolwright, redactorFor },
      { redactDeep },
      { serveToolwright },
      { serviceWorker },
      { configuration },
    ] = await Promise.all([
      import("@toolwright/runtime"),
      import("@toolwright/host/text"),
      import("../service/serve-toolwright.ts"),
      import("../service/service-worker.ts"),
      configurationFor({ ...invocation, env }, values),
    ])
    const { stdout, stderr, cwd, signal } = invocation
    const log = (line: string): void => void stderr.write(`${line}\n`)
    const made = { ...configuration, withBuiltins: true, cwd, env, log }
    const concurrency = workersOf(values.workers)
    const redact = redactorFor({ ...configuration, secrets: {} }, env)
    const redactLine = (entry: object): string => JSON.stringify(redactDeep(entry, (text) => redactPath(text, redact)))
    await using toolwright = await createToolwright(made)
    const tokens = tokensOf(env, cwd, values)
    await using served = await serveToolwright(toolwright, {
      port,
      tokens,
      allowedHosts: values["allow-host"] ?? [],
      allowedOrigins: values["allow-origin"] ?? [],
      promptFolders: values.prompts ?? [],
      mcp: values.mcp === true,
      ...(values.bundle === undefined ? {} : { bundles: values.bundle }),
      cache: values.cache !== false,
      clientCalls: {
        unknownTools: unknownToolsOf(values["unknown-tools"]),
        repair: values.repair === true,
        deferTools: deferToolsOf(values["defer-tools"]),
      },
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(values["public-url"] === undefined ? {} : { publicUrl: values["public-url"] }),
      announce: log,
      env,
      ...(values.quiet === true ? {} : { log: (entry) => log(redactLine(entry)) }),
    })
    await using _worker = await serviceWorker(toolwright, made, { concurrency, secured: tokens.length > 0, log })
    stdout.write(introduction(served, toolwright, values))
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener("abort", () => resolve(), { once: true })
    })
    stderr.write("Stopping: calls that are under way may end.\n")
    return EXIT.success
  },
}

/** What is served where, and what is not. */
/** A path without secrets, also such as are known by signs that an address spells otherwise. */
function redactPath(path: string, redact: (text: string) => string): string {
  try {
    const plain = decodeURIComponent(path)
    return redact(plain) === plain ? redact(path) : redact(plain)
  } catch {
    return redact(path)
  }
}

function introduction(
  { url, offered, hidden, silent, model }: Served,
  { unavailable, configuration }: Toolwright,
  { mcp = false, bundle: bundles }: OptionValues<typeof OPTIONS>,
): string {
  const clients =
    model === undefined
      ? "is not there, since no model is configured: --model NAME --base-url URL, or --backend pocket"
      : `for clients of OpenAI and Anthropic, and of Ollama at ${url}, in front of ${model}`
  const { readOnly, roots = [] } = configuration.workspace
  const lines = [
    `Serving ${count(offered.length, "tool")} at ${url}`,
    bundles === undefined
      ? "  of all bundles; --bundle coding has those for code alone"
      : `  of the bundle ${bundles.join(", ")}`,
    `  ${url}/              the console: call tools, look into runs`,
    `  ${url}/docs          the tools as OpenAPI shows them`,
    `  ${url}/openapi.json  for importers`,
    `  ${url}/v1            ${clients}`,
    ...(mcp
      ? [
          `  ${url}/mcp           for MCP ` +
            `hosts${bundles === undefined ? `, which are listed the bundle ${LISTED_BUNDLE}` : ""}`,
        ]
      : []),
    ...unavailable.map(({ name, reason }) => `Not here: ${name} (${reason})`),
    ...(readOnly === undefined || roots.length > 0
      ? []
      : ["Every folder is read-only, so no tool that writes or runs programs is offered, with a token neither."]),
    ...(hidden.length === 0
      ? []
      : [
          "Without a token nothing is offered that runs programs, pushes or writes. Left out: " +
            `${hidden.join(", ")}. Give one with --token or TOOLWRIGHT_TOKEN.`,
        ]),
    ...(silent.length === 0
      ? []
      : [
          `Whether they only read is not said by ${silent.join(", ")}: effects: { readOnly: true } in the definition ` +
            "of one that does lets it be offered here.",
        ]),
  ]
  return `${lines.join("\n")}\n`
}

function portOf(given: string | undefined): number {
  const port = given === undefined ? 8001 : Number(given)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new ToolwrightError("USAGE", `--port must be a number from 0 to 65535, not '${given}'.`)
}

function unknownToolsOf(given: string | undefined): "text" | "pass" {
  if (given === undefined || given === "text" || given === "pass") return given ?? "text"
  throw new ToolwrightError("USAGE", `--unknown-tools must be text or pass, not '${given}'.`)
}

function deferToolsOf(given: string | undefined): number | undefined {
  if (given === "off") return undefined
  const share = given === undefined ? DEFERRED_ABOVE : Number(given)
  if (given?.trim() !== "" && share >= 0 && share <= 1) return share
  throw new ToolwrightError("USAGE", `--defer-tools must be a number from 0 to 1, or off, not '${given}'.`)
}

/** The share of the window that clients' tools take at most, unless another is given. */
const DEFERRED_ABOVE = 0.3

function workersOf(given: string | undefined): number {
  const workers = given === undefined ? 1 : Number(given)
  if (Number.isInteger(workers) && workers >= 0 && workers <= 64) return workers
  throw new ToolwrightError("USAGE", `--workers must be a number from 0 to 64, not '${given}'.`)
}

/** `secret` opens everything; `secret:filesystem,git` only tools with these tags. */
function tokensOf(
  env: Invocation["env"],
  cwd: string,
  values: OptionValues<typeof OPTIONS>,
): { token: string; tags?: string[] }[] {
  const own = env.TOOLWRIGHT_TOKEN
  const said = [...(values.token ?? []), ...(own === undefined || own === "" ? [] : [own])]
  const file = values["token-file"] ?? env.TOOLWRIGHT_TOKEN_FILE ?? ""
  const tokens = said.length > 0 || file === "" ? said : [tokenIn(resolve(cwd, file))]
  return tokens.map((given) => {
    const [token = "", tags] = given.split(":", 2)
    if (token.length < 8)
      throw new ToolwrightError("USAGE", "A token needs at least eight characters.", {
        hint: "Make one with: openssl rand -hex 24",
      })
    return tags === undefined ? { token } : { token, tags: tags.split(",") }
  })
}
