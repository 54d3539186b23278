import { resolve } from "node:path"
import type { Toolwright } from "@toolwright/runtime"
import { ToolwrightError } from "@toolwright/toolbox"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, type OptionDeclarations, type OptionValues } from "../options.ts"
import { serviceEnvironment, serviceFolders, tokenIn } from "../service/environment.ts"
import type { Served } from "../service/serve-toolwright.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  port: { type: "string", value: "n", description: "Port to listen on (8001; 0 takes any free one)" },
  host: { type: "string", value: "address", description: "Address to listen on (127.0.0.1); any other needs a token" },
  token: {
    type: "string",
    value: "token[:tag,tag]",
    multiple: true,
    description:
      "Bearer token that is accepted, for tools with these tags only (and not /mcp, /v1 or /conversations); TOOLWRIGHT_TOKEN names one too",
  },
  "token-file": {
    type: "string",
    value: "file",
    description: "File with the token where none is given; one is made where there is no file (TOOLWRIGHT_TOKEN_FILE)",
  },
  "env-file": { type: "string", value: "file", description: "File with variables, such as .env" },
  "allow-host": {
    type: "string",
    value: "name",
    multiple: true,
    description: "Host name that requests may use, beside this machine's own",
  },
  "allow-origin": { type: "string", value: "origin", multiple: true, description: "Origin whose pages may call" },
  "public-url": {
    type: "string",
    value: "url",
    description: "Address under which clients reach the server, for the OpenAPI document",
  },
  prompts: {
    type: "string",
    value: "dir",
    multiple: true,
    description: "Folder of prompt files, beside the shipped prompts",
  },
  database: {
    type: "string",
    value: "url|file",
    description: "Where conversations are kept: a postgres:// address or an SQLite file (.toolwright/state.sqlite)",
  },
  mcp: { type: "boolean", description: "Serve the tools and prompts to MCP hosts at /mcp too" },
  cache: {
    type: "boolean",
    description:
      "Keep results of reading tools for five minutes or until something is written (on; --no-cache turns it off)",
  },
  quiet: { type: "boolean", description: "Write no line for each request" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

export const serveCommand: Command = {
  name: "serve",
  summary: "Serve the tools and prompts over HTTP",
  usage: usageText({
    synopsis: ["serve [options]"],
    description:
      "Serves the built-in tools of the current folder: POST /tools/{name} calls one, /openapi.json describes them for importers, /docs is a page to\n" +
      "try them, /prompts/ renders prompts, /metrics is for Prometheus. With a model configured, /v1/chat/completions gives any OpenAI client tool\n" +
      "use in front of it (model toolwright/assistant: an agent with these tools), and /conversations keeps what is said. Only this machine can reach it, unless a token is set.\n" +
      "Ctrl-C lets calls that are under way end.",
    options: OPTIONS,
    examples: [
      { line: "toolwright serve --read-only .", does: "The tools of this folder, reading only" },
      {
        line: "toolwright serve --host 0.0.0.0 --allow-host tools.example --token $TOKEN",
        does: "For others, with a token",
      },
    ],
  }),
  async run(invocation: Invocation) {
    const { values: given } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    const env = serviceEnvironment(invocation.env, invocation.cwd, given["env-file"])
    const values: typeof given = { ...given, ...serviceFolders(env, given) }
    const port = portOf(values.port)
    const [{ createToolwright }, { serveToolwright }, { configuration }] = await Promise.all([
      import("@toolwright/runtime"),
      import("../service/serve-toolwright.ts"),
      configurationFor({ ...invocation, env }, values),
    ])
    const { stdout, stderr, cwd, signal } = invocation
    await using toolwright = await createToolwright({
      ...configuration,
      withBuiltins: true,
      cwd,
      env,
      log: (line) => void stderr.write(`${line}\n`),
    })
    await using served = await serveToolwright(toolwright, {
      port,
      tokens: tokensOf(env, cwd, values),
      allowedHosts: values["allow-host"] ?? [],
      allowedOrigins: values["allow-origin"] ?? [],
      promptFolders: values.prompts ?? [],
      mcp: values.mcp === true,
      cache: values.cache !== false,
      ...(values.host === undefined ? {} : { host: values.host }),
      ...(values.database === undefined ? {} : { database: values.database }),
      ...(values["public-url"] === undefined ? {} : { publicUrl: values["public-url"] }),
      ...(values.quiet === true ? {} : { log: (entry) => stderr.write(`${JSON.stringify(entry)}\n`) }),
    })
    stdout.write(introduction(served, toolwright, values.mcp === true))
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener("abort", () => resolve(), { once: true })
    })
    stderr.write("Stopping: calls that are under way may end.\n")
    return EXIT.success
  },
}

/** What is served where, and what is not. */
function introduction({ url, offered, hidden, model }: Served, { unavailable }: Toolwright, mcp: boolean): string {
  const clients =
    model === undefined
      ? "is not there, since no model is configured: --model NAME --base-url URL, or --backend pocket"
      : `for OpenAI clients, in front of ${model}`
  const lines = [
    `Serving ${offered.length} tools at ${url}`,
    `  ${url}/docs          a page to try them`,
    `  ${url}/openapi.json  for importers`,
    `  ${url}/v1            ${clients}`,
    ...(mcp ? [`  ${url}/mcp           for MCP hosts`] : []),
    ...unavailable.map(({ name, reason }) => `Not here: ${name} (${reason})`),
    ...(hidden.length === 0
      ? []
      : [
          `Without a token nothing is offered that runs programs, pushes or writes. Left out: ${hidden.join(", ")}. Give one with --token or TOOLWRIGHT_TOKEN.`,
        ]),
  ]
  return `${lines.join("\n")}\n`
}

function portOf(given: string | undefined): number {
  const port = given === undefined ? 8001 : Number(given)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new ToolwrightError("USAGE", `--port must be a number from 0 to 65535, not '${given}'.`)
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
