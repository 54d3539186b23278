import { consoleFiles, runAsPage } from "@toolwright/console"
import { loadPrompts } from "@toolwright/prompts"
import type { Toolwright } from "@toolwright/runtime"
import {
  approvalRoutes,
  approvalsWithoutToken,
  createApp,
  forward,
  gateOf,
  listen,
  type ServerOptions,
} from "@toolwright/server"
import type { Database } from "@toolwright/store"
import { createResultCache, type ResultCache } from "@toolwright/toolbox"
import { agentSource } from "./agent-source.ts"
import { chatRoutes, type ClientCalls } from "./chat-routes.ts"
import { connectionsOf } from "./connections.ts"
import { listedTools, offeredTools } from "./offered-tools.ts"
import { runStarter } from "./run-starter.ts"
import { taskSource } from "./task-source.ts"

/**
 * How a {@link Toolwright} is served. Nothing has to be given: it is then reached from this machine, and only reads.
 */
export interface ServeOptions extends Pick<
  ServerOptions,
  "tokens" | "allowedHosts" | "allowedOrigins" | "publicUrl" | "log" | "oneTime"
> {
  /** Gets a line for what takes a while, such as making the page ready, and for what is kept and cannot be read. */
  announce?: (line: string) => void
  /** Where what was found out of models is kept is told by it; the process's own unless given. */
  env?: Readonly<Record<string, string | undefined>>
  /** 8001 unless given; 0 takes any free one. */
  port?: number
  /** 127.0.0.1 unless given; any other needs a token. */
  host?: string
  /** Folders of prompt files, beside the shipped prompts. */
  promptFolders?: readonly string[]
  /** Bundles of tools that are offered; all tools unless given. */
  bundles?: readonly string[]
  /** Whether the tools and prompts are served to MCP hosts at `/mcp` too. */
  mcp?: boolean
  /** Whether results of reading tools are kept for a while; they are unless this is false. */
  cache?: boolean
  /** What becomes of calls that are wrong, of models that clients ask at `/v1`. */
  clientCalls?: ClientCalls
}

/** A server that runs. */
export interface Served extends AsyncDisposable {
  readonly url: string
  /** Names of the tools that are offered. */
  readonly offered: readonly string[]
  /** Names of tools that would be offered with a token. */
  readonly hidden: readonly string[]
  /** Names of the user's own tools that are left out since they do not say whether they only read. */
  readonly silent: readonly string[]
  /** The model behind `/v1` and `/conversations`; undefined where none is configured, and these are not there. */
  readonly model: string | undefined
  /** Lets calls that are under way end. The {@link Toolwright} stays open. */
  close(): Promise<void>
}

/**
 * Serves the tools, prompts and runs of a {@link Toolwright}: what `toolwright serve` does, for a program of one's own.
 *
 * @throws ToolwrightError what `listen`, `loadPrompts` and `openDatabase` throw
 * @example
 * await using toolwright = await createToolwright({ builtins: {} })
 * await using served = await serveToolwright(toolwright, { port: 0, mcp: true })
 * console.log(served.url)
 */
export async function serveToolwright(toolwright: Toolwright, options: ServeOptions = {}): Promise<Served> {
  const {
    port = 8001,
    host,
    promptFolders = [],
    mcp = false,
    cache = true,
    tokens = [],
    bundles,
    clientCalls,
    announce,
    env = process.env,
    ...rest
  } = options
  const secured = tokens.length > 0
  const offered = offeredTools(toolwright, { secured, bundles })
  const { tools, ...leftOut } = offered
  const chat = await chatRoutes(toolwright, secured, { clientCalls, log: announce })
  const gate = gateOf({ tokens })
  const { prices } = toolwright.configuration.model
  const served = { ...(await servedParts(toolwright, promptFolders)), tools, gate }
  const starter = runStarter(toolwright, secured)
  const recorded = (surface: string) => ({ executeCall: toolwright.executeCall(surface, { many: true }) })
  const listed = { ...served, tools: listedTools(offered, bundles), ...recorded("mcp") }
  const exported = mcp ? await mcpExport(toolwright, listed) : undefined
  const app = createApp(
    {
      ...served,
      ...rest,
      ...recorded("http"),
      runs: toolwright.log,
      starter,
      ...agentWork(toolwright, env),
      ...(prices === undefined ? {} : { prices }),
      page: pageFor(announce),
      tokens,
      ...(cache ? { cache: cacheFor(toolwright) } : {}),
    },
    (application) => {
      // Without a token a server only reads: nobody permits anything through it.
      if (secured) approvalRoutes(application, ...approvalsOf(toolwright, starter))
      else approvalsWithoutToken(application)
      chat.extend(application)
      if (exported !== undefined) mcpRoutes(application, exported, listed)
    },
  )
  const closeBehind = async (): Promise<void> => {
    await exported?.close()
    await starter[Symbol.asyncDispose]()
  }
  const at = { port, secured, ...(host === undefined ? {} : { host }) }
  const { url, close } = await listening(app, at, closeBehind)
  return {
    url,
    offered: tools.list().map(({ name }) => name),
    ...leftOut,
    model: chat.model,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The page, and runs as pages of their own. */
function pageFor(announce: ServeOptions["announce"]): NonNullable<ServerOptions["page"]> {
  const files = consoleFiles(announce === undefined ? {} : { log: announce })
  return { file: (path) => files.file(path), run: (run) => runAsPage(files, run) }
}

/** The agents of a server, the tasks that they are given, and what it is connected to for that. */
const agentWork = (toolwright: Toolwright, env: NonNullable<ServeOptions["env"]>) => ({
  tasks: taskSource(toolwright),
  agents: agentSource(toolwright),
  plans: toolwright.plans,
  evaluations: evaluationSource(toolwright),
  connections: connectionsOf(toolwright, env),
})

/** What was tried with suites: nothing is made by looking. */
const evaluationSource = ({ log }: Toolwright): NonNullable<ServerOptions["evaluations"]> => ({
  async list() {
    const [found, { listEvaluations }] = [await log.look(), await import("@toolwright/runtime/evals")]
    return found === undefined ? [] : listEvaluations(found)
  },
  async show(id) {
    const [found, { evaluationReport, unknownEvaluation }] = [
      await log.look(),
      await import("@toolwright/runtime/evals"),
    ]
    if (found === undefined) throw unknownEvaluation(id, [])
    return evaluationReport(found, id)
  },
})

/** Where questions stand, and who goes on once one was answered. */
const approvalsOf = (
  { log }: Toolwright,
  starter: ReturnType<typeof runStarter>,
): [() => Promise<Database | undefined>, (run: string) => Promise<void>] => [
  async () => (await log.look())?.database,
  (run) => starter.answered(run),
]

/** Listens, and lets go of what is behind it when that ends or cannot begin. */
async function listening(
  app: Parameters<typeof listen>[0],
  at: Parameters<typeof listen>[1],
  closeBehind: () => Promise<void>,
): Promise<{ url: string; close(): Promise<void> }> {
  const running = await listen(app, at).catch(async (thrown: unknown) => {
    await closeBehind()
    throw thrown
  })
  return {
    url: running.url,
    async close() {
      await running.close()
      await closeBehind()
    },
  }
}

/** What every way in shares: prompts, and what stands around calls. */
async function servedParts(toolwright: Toolwright, promptFolders: readonly string[]) {
  const prompts = await loadPrompts({ folders: promptFolders })
  return {
    prompts,
    middleware: toolwright.middleware,
    ...(toolwright.permissions === undefined ? {} : { permissions: toolwright.permissions }),
    toolTimeoutMs: toolwright.configuration.agent.toolTimeoutSeconds * 1000,
  }
}

const cacheFor = ({ fingerprint, serviceCache }: Toolwright): ResultCache =>
  countedTogether(createResultCache({ fingerprint }), serviceCache)

/** A cache whose figures are those of another one too. */
function countedTogether(cache: ResultCache, other: ResultCache | undefined): ResultCache {
  if (other === undefined) return cache
  return {
    ...cache,
    statistics() {
      const [a, b] = [cache.statistics(), other.statistics()]
      // What the other one misses, this one is not asked for: it keeps nothing of services.
      return {
        hits: a.hits + b.hits,
        misses: a.misses + b.misses,
        entries: a.entries + b.entries,
        bytes: a.bytes + b.bytes,
      }
    },
  }
}

type Exported = Parameters<typeof import("@toolwright/mcp").mcpOverHttp>[0]

/** The protocol at `/mcp`, and beside it what hosts are listed, for whoever watches over the server. */
function mcpRoutes(
  application: Parameters<typeof forward>[0],
  { fetch }: Awaited<ReturnType<typeof mcpExport>>,
  { tools, prompts, gate }: Exported & { gate: Parameters<typeof forward>[2] },
): void {
  forward(application, "/mcp", gate, fetch)
  application.get("/mcp/health", (context) => {
    const counts = { tools: tools.list().length, prompts: prompts?.list().length ?? 0 }
    return context.json({ status: "healthy", service: "mcp", ...counts })
  })
}

/** MCP is loaded only where it is served. */
async function mcpExport(toolwright: Toolwright, served: Exported) {
  const { mcpOverHttp } = await import("@toolwright/mcp")
  const handler = mcpOverHttp(served)
  toolwright.registry.subscribe({ onToolRegistered: handler.toolsChanged, onToolUnregistered: handler.toolsChanged })
  return handler
}
