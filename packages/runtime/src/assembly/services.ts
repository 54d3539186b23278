import {
  attachSource,
  createResultCache,
  messageOf,
  type AttachedSource,
  type Middleware,
  type ResultCache,
  type ToolDefinition,
  type ToolRegistry,
} from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { toldStore } from "../configuration/trust/told-store.ts"
import type { ConnectOptions } from "./sources.ts"

/** REST tools services whose tools stand in a registry. */
export interface ConnectedServices {
  /** Services that do not answer now, and why. */
  away(): readonly { name: string; reason: string }[]
  close(): Promise<void>
}

/**
 * Attaches the configured REST tools services. One that does not answer is told, unless it is required, and its tools
 * come when it does; the client is loaded only where there is a service.
 *
 * @throws ToolwrightError `SOURCE_UNAVAILABLE`, `DUPLICATE_TOOL`, `INVALID_CONFIGURATION`; nothing stays attached then
 */
export async function connectServices(
  { sources: { rest: named, services = [] } }: Configuration,
  registry: ToolRegistry,
  { env, log }: ConnectOptions,
): Promise<ConnectedServices> {
  if (named === undefined && services.length === 0) return { away: () => [], close: async () => {} }
  const rest = await import("@toolwright/rest")
  const wanted = [
    ...(named === undefined ? [] : rest.readRestServices(named, env)),
    ...services.map((service) => rest.parseRestService(service, env)),
  ].filter(({ enabled }) => enabled)
  const opened = wanted.map((service) => {
    const { name, url, required, acceptChanges = false } = service
    const told = toldStore(env, { kind: "rest", name, target: [url] }, log)
    const source = rest.serviceSource(rest.clientOf(service), { required, acceptChanges, told, log })
    return { service, source, asked: source.list() }
  })
  const attached: AttachedSource[] = []
  const takenBy = (service: string) => (tool: ToolDefinition, name: string) =>
    log(`There is a tool '${tool.name}' already: that of '${service}' is called '${name}'.`)
  const close = async (): Promise<void> => {
    for (const each of attached) await each.close()
    for (const { source } of opened) await source.close()
  }
  try {
    // All are asked at once, and stand in the order of the configuration.
    await Promise.all(opened.map(({ asked }) => asked))
    for (const { service, source } of opened)
      attached.push(
        await attachSource(registry, source, { ...service, onTaken: takenBy(service.name) }, (thrown) =>
          log(messageOf(thrown)),
        ),
      )
  } catch (thrown) {
    await Promise.allSettled(opened.map(({ asked }) => asked))
    await close()
    throw thrown
  }
  const away = () =>
    opened.flatMap(({ service, source }) => {
      const reason = source.away()
      return reason === undefined ? [] : [{ name: service.name, reason }]
    })
  return { away, close }
}

/** What was read from services, kept for a while: nothing where there is none, or nothing is to be kept. */
export function serviceCache({ sources: { rest, services, cacheSeconds } }: Configuration): ResultCache | undefined {
  const hasServices = rest !== undefined || services !== undefined
  return hasServices && cacheSeconds > 0 ? createResultCache({ ttlMs: cacheSeconds * 1000 }) : undefined
}

/** A cache around calls of services alone: what is read here is read where it is. */
export function aroundServices(cache: ResultCache | undefined): Middleware[] {
  if (cache === undefined) return []
  return [(call, next) => (call.tool.provenance?.kind === "rest" ? cache.middleware(call, next) : next())]
}
