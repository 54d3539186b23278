import {
  examine,
  hasModel,
  keepExamination,
  keptExamination,
  type Configuration,
  type Toolwright,
} from "@toolwright/runtime"
import type {
  ConnectionList,
  ConnectionSource,
  DatabaseConnection,
  ModelConnection,
  SourceConnection,
} from "@toolwright/server"
import { isPostgres } from "@toolwright/store"
import { messageOf } from "@toolwright/toolbox"

type Environment = Readonly<Record<string, string | undefined>>

/** What a {@link Toolwright} is connected to, for a server. */
export function connectionsOf(toolwright: Toolwright, env: Environment): ConnectionSource {
  return {
    async list(): Promise<ConnectionList> {
      const sources = sourcesOf(toolwright)
      const known = new Set(sources.map(({ name }) => name))
      const away = toolwright.unavailable.filter(({ name }) => !known.has(name))
      return {
        model: modelOf(toolwright, env),
        sources,
        database: await databaseOf(toolwright),
        unavailable: away.map(({ name, reason }) => ({ name, reason })),
        tools: toolwright.registry.list().filter(({ provenance }) => !isElsewhere(provenance?.kind)).length,
      }
    },
    async examine({ tries, signal, log }) {
      const found = await examine(toolwright.configuration, { tries, signal, log })
      if (found.reachable) keepExamination(env, found)
      return found
    },
  }
}

const isElsewhere = (kind: string | undefined): kind is "mcp" | "rest" => kind === "mcp" || kind === "rest"

function modelOf({ configuration }: Toolwright, env: Environment): ModelConnection {
  const { backend, baseUrl, name, path, screenplay } = configuration.model
  if (!hasModel(configuration)) return { examinable: false }
  const kind = backend ?? (screenplay !== undefined ? "scripted" : path !== undefined ? "llama" : "openai-compatible")
  const examinable = baseUrl !== undefined && name !== undefined
  const examined = examinable ? keptExamination(env, baseUrl, name) : undefined
  return {
    kind,
    examinable,
    ...(name === undefined ? {} : { name }),
    ...(baseUrl === undefined ? {} : { baseUrl: withoutPassword(baseUrl) }),
    ...(examined === undefined ? {} : { examined }),
  }
}

/** Servers that have tools here, and those that are configured and away. */
function sourcesOf({ registry, unavailable, configuration }: Toolwright): SourceConnection[] {
  const found = new Map<string, SourceConnection>()
  for (const { provenance } of registry.list()) {
    if (provenance === undefined || !isElsewhere(provenance.kind)) continue
    const { kind, name } = provenance
    const known = found.get(name)
    if (known === undefined) found.set(name, { kind, name, state: "connected", tools: 1 })
    else known.tools++
  }
  const kinds = configuredNames(configuration)
  for (const { name, reason } of unavailable) {
    const kind = found.get(name)?.kind ?? kinds.get(name)
    if (kind !== undefined) found.set(name, { kind, name, state: "away", reason, tools: found.get(name)?.tools ?? 0 })
  }
  return [...found.values()]
}

/** What is unavailable may be a tool or a server: those that the configuration names are servers. */
function configuredNames({ mcp, sources }: Configuration): Map<string, "mcp" | "rest"> {
  const names = (value: unknown): string[] => Object.keys((value ?? {}) as object)
  const before = (entry: string): string => /^([\w.-]+)=/.exec(entry)?.[1] ?? entry
  return new Map([
    ...names(mcp.servers).map((name) => [name, "mcp"] as const),
    ...(mcp.connect ?? []).map((entry) => [before(entry), "mcp"] as const),
    ...names(sources.rest).map((name) => [name, "rest"] as const),
    ...(sources.services ?? []).map((entry) => [before(entry), "rest"] as const),
  ])
}

async function databaseOf({ log }: Toolwright): Promise<DatabaseConnection> {
  const at = {
    kind: isPostgres(log.target) ? ("postgres" as const) : ("sqlite" as const),
    place: withoutPassword(log.target),
  }
  try {
    const database = (await log.look())?.database
    if (database === undefined) return { ...at, state: "not yet" }
    const [row] = await database.query<{ runs: number }>("SELECT COUNT(*) AS runs FROM runs")
    return { ...at, state: "open", runs: Number(row?.runs ?? 0) }
  } catch (thrown) {
    return { ...at, state: "away", reason: messageOf(thrown) }
  }
}

function withoutPassword(place: string): string {
  return place.replace(/^(\w+:\/\/)[^@/]*@/, "$1…@")
}
