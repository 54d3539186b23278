import type { PromptRegistry } from "@toolwright/prompts"
import type { RunRequest, Toolwright } from "@toolwright/runtime"
import { ToolwrightError, type CallGate, type Middleware, type Toolset } from "@toolwright/toolbox"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, type OptionDeclarations, type OptionValues } from "../options.ts"
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
    description:
      "Where conversations are kept: a postgres:// address or an SQLite file (.toolwright/conversations.sqlite)",
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
      "use in front of it, and /conversations keeps what is said. Only this machine can reach it, unless a token is set.\n" +
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
    const { values } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    const port = portOf(values.port)
    const [{ createToolwright }, server, { loadPrompts }, { createResultCache }, { configuration }] = await Promise.all(
      [
        import("@toolwright/runtime"),
        import("@toolwright/server"),
        import("@toolwright/prompts"),
        import("@toolwright/toolbox"),
        configurationFor(invocation, values),
      ],
    )
    const tokens = tokensOf(invocation, values)
    await using toolwright = await createToolwright({
      ...configuration,
      withBuiltins: true,
      cwd: invocation.cwd,
      env: invocation.env,
      log: (line) => void invocation.stderr.write(`${line}\n`),
    })
    const offer = await offered(toolwright, tokens.length > 0)
    const chat = await chatRoutes(toolwright, values.database, tokens.length > 0)
    const prompts = await loadPrompts({ folders: values.prompts ?? [] })
    const tracer = await server.openTelemetryTracer()
    const middleware = [...toolwright.middleware, ...(tracer === undefined ? [] : [server.traceCalls(tracer)])]
    const gate = server.gateOf({ tokens })
    const exported =
      values.mcp === true ? await mcpExport(toolwright, offer.tools, prompts, middleware, gate) : undefined
    const app = server.createApp(
      {
        tools: offer.tools,
        prompts,
        middleware,
        gate,
        ...(toolwright.permissions === undefined ? {} : { permissions: toolwright.permissions }),
        tokens,
        allowedHosts: values["allow-host"] ?? [],
        allowedOrigins: values["allow-origin"] ?? [],
        toolTimeoutMs: configuration.agent.toolTimeoutSeconds * 1000,
        ...(values["public-url"] === undefined ? {} : { publicUrl: values["public-url"] }),
        ...(values.cache === false ? {} : { cache: createResultCache({ fingerprint: toolwright.fingerprint }) }),
        ...(values.quiet === true ? {} : { log: (entry) => invocation.stderr.write(`${JSON.stringify(entry)}\n`) }),
      },
      (application) => {
        chat.extend?.(application)
        if (exported !== undefined) server.forward(application, "/mcp", gate, exported.fetch)
      },
    )
    await using running = await server.listen(app, {
      port,
      secured: tokens.length > 0,
      ...(values.host === undefined ? {} : { host: values.host }),
    })
    const clients =
      chat.model === undefined
        ? "is not there, since no model is configured: --model NAME --base-url URL, or --backend pocket"
        : `for OpenAI clients, in front of ${chat.model}`
    invocation.stdout.write(
      `Serving ${offer.tools.list().length} tools at ${running.url}\n  ${running.url}/docs          a page to try them\n  ${running.url}/openapi.json  for importers\n  ${running.url}/v1            ${clients}\n${exported === undefined ? "" : `  ${running.url}/mcp           for MCP hosts\n`}${offer.leftOut}`,
    )
    await new Promise<void>((resolve) => {
      if (invocation.signal.aborted) resolve()
      else invocation.signal.addEventListener("abort", () => resolve(), { once: true })
    })
    invocation.stderr.write("Stopping: calls that are under way may end.\n")
    await running.close()
    await exported?.close()
    await chat.close()
    return EXIT.success
  },
}

/**
 * The tools that are served: those that can run here; and where no token is asked for, only what reads, since
 * whoever reaches the port may call. What was left out is said.
 */
async function offered(toolwright: Toolwright, secured: boolean): Promise<{ tools: Toolset; leftOut: string }> {
  const { readingTools } = await import("@toolwright/toolbox")
  const without = toolwright.unavailable.map(({ name }) => name)
  const able = toolwright.registry.view({ without })
  const tools = secured ? able : readingTools(able)
  const shown = new Set(tools.list().map((tool) => tool.name))
  const hidden = able.list().filter(({ name }) => !shown.has(name))
  const lines = [
    ...toolwright.unavailable.map(({ name, reason }) => `Not here: ${name} (${reason})\n`),
    ...(hidden.length === 0
      ? []
      : [
          `Without a token nothing is offered that runs programs, pushes or writes. Left out: ${hidden.map(({ name }) => name).join(", ")}. Give one with --token or TOOLWRIGHT_TOKEN.\n`,
        ]),
  ]
  return { tools, leftOut: lines.join("") }
}

async function mcpExport(
  toolwright: Toolwright,
  tools: Toolset,
  prompts: PromptRegistry,
  middleware: readonly Middleware[],
  gate: CallGate,
) {
  const { mcpOverHttp } = await import("@toolwright/mcp")
  const { agent } = toolwright.configuration
  const handler = mcpOverHttp({
    tools,
    prompts,
    middleware,
    gate,
    ...(toolwright.permissions === undefined ? {} : { permissions: toolwright.permissions }),
    toolTimeoutMs: agent.toolTimeoutSeconds * 1000,
  })
  toolwright.registry.subscribe({ onToolRegistered: handler.toolsChanged, onToolUnregistered: handler.toolsChanged })
  return handler
}

/**
 * The routes that need a model: none where none is configured, since the pocket model serves nobody but a person who
 * tries it out.
 */
async function chatRoutes(toolwright: Toolwright, database: string | undefined, secured: boolean) {
  const { hasModel, profileNamed } = await import("@toolwright/runtime")
  if (!hasModel(toolwright.configuration)) return { model: undefined, extend: undefined, close: async () => {} }
  const backend = await toolwright.backend()
  const [{ gatewayRoutes, conversationRoutes }, { conversationStore, openDatabase }] = await Promise.all([
    import("@toolwright/server"),
    import("@toolwright/store"),
  ])
  const opened = await openDatabase(database ?? (await ownDatabase(toolwright)))
  const store = await conversationStore(opened)
  const assistant = profileNamed("assistant")
  const agent = secured ? assistant : { ...assistant, tools: { ...assistant.tools, readOnly: true } }
  const run = ({ task, ...request }: RunRequest) => toolwright.run(task, { ...request, agent, shared: true })
  return {
    model: backend.modelName(),
    close: () => opened.close(),
    extend: (app: Parameters<typeof gatewayRoutes>[0]) => {
      gatewayRoutes(app, { backend, run })
      conversationRoutes(app, { store, run, modelName: () => backend.modelName() })
    },
  }
}

/** The database beside the runs; a link in its place, or of a file that goes with it, would be written through. */
async function ownDatabase(toolwright: Toolwright): Promise<string> {
  const [{ assertStateFile }, { join }] = await Promise.all([
    import("@toolwright/host/state-files"),
    import("node:path"),
  ])
  const file = join(toolwright.runsFolder, "..", "conversations.sqlite")
  for (const ending of ["", "-wal", "-shm", "-journal"]) assertStateFile(file + ending)
  return file
}

function portOf(given: string | undefined): number {
  const port = given === undefined ? 8001 : Number(given)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new ToolwrightError("USAGE", `--port must be a number from 0 to 65535, not '${given}'.`)
}

/** `secret` opens everything; `secret:filesystem,git` only tools with these tags. */
function tokensOf(invocation: Invocation, values: OptionValues<typeof OPTIONS>): { token: string; tags?: string[] }[] {
  const own = invocation.env.TOOLWRIGHT_TOKEN
  return [...(values.token ?? []), ...(own === undefined || own === "" ? [] : [own])].map((given) => {
    const [token = "", tags] = given.split(":", 2)
    if (token.length < 8)
      throw new ToolwrightError("USAGE", "A token needs at least eight characters.", {
        hint: "Make one with: openssl rand -hex 24",
      })
    return tags === undefined ? { token } : { token, tags: tags.split(",") }
  })
}
