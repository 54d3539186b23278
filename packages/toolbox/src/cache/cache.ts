import { argumentPaths } from "../execute/effects.ts"
import type { CheckedCall, Middleware } from "../execute/execute.ts"
import type { ToolResult } from "../model/result.ts"
import { canonicalJson } from "./canonical.ts"

/** Settings of {@link createResultCache}. */
export interface ResultCacheOptions {
  /** How long a result is good, in milliseconds; five minutes unless given. */
  ttlMs?: number
  /** Most that is kept, in bytes of JSON; 32 MiB unless given. The results that were used longest ago go first. */
  maxBytes?: number
  /** Milliseconds; a clock for tests. */
  now?: () => number
  /**
   * The state of what a call reads, such as size and time of change of its files; a result is good only while it stays
   * the same.
   * Undefined means that it cannot be told, and the result is not kept. Without this function only time and writes
   * count.
   */
  fingerprint?: (paths: readonly string[]) => Promise<string | undefined> | string | undefined
  /** Whether two paths may be the same place or one contains the other; by their text unless given. */
  overlaps?: (a: string, b: string) => boolean
}

export interface CacheStatistics {
  hits: number
  misses: number
  entries: number
  bytes: number
}

/** A cache of results, to be put around the running of calls. */
export interface ResultCache {
  readonly middleware: Middleware
  statistics(): CacheStatistics
  /** Forgets what was read from these paths, or everything. */
  invalidate(paths?: readonly string[]): void
}

interface Entry {
  result: ToolResult
  reads: readonly string[]
  fingerprint: string | undefined
  expires: number
  bytes: number
}

/**
 * Keeps successes of tools that declare to be read-only and idempotent. A call that writes forgets what overlaps the
 * paths that it
 * names and those that its result reports; one that does not say what it writes forgets everything. A call with
 * `noCache` neither takes from the cache nor adds to it; no caller is given what was read for another. A hit has `cached: true` in its metadata.
 */
export function createResultCache(options: ResultCacheOptions = {}): ResultCache {
  const {
    ttlMs = 300_000,
    maxBytes = 32 * 1024 * 1024,
    now = () => performance.now(),
    fingerprint,
    overlaps = pathsOverlap,
  } = options
  const entries = new Map<string, Entry>()
  let bytes = 0
  let hits = 0
  let misses = 0
  let generation = 0

  const forget = (key: string): void => {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }
  const invalidate = (paths?: readonly string[]): void => {
    generation++
    for (const [key, { reads }] of entries) {
      if (paths === undefined || reads.length === 0 || reads.some((read) => paths.some((path) => overlaps(read, path))))
        forget(key)
    }
  }
  const keep = (key: string, entry: Entry): void => {
    if (entry.bytes > maxBytes) return
    forget(key)
    entries.set(key, entry)
    bytes += entry.bytes
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) break
      forget(oldest)
    }
  }
  async function find(key: string): Promise<ToolResult | undefined> {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    const same = entry.fingerprint === undefined || (await fingerprint?.(entry.reads)) === entry.fingerprint
    if (!same || entry.expires <= now()) {
      if (entries.get(key) === entry) forget(key)
      return undefined
    }
    entries.delete(key)
    entries.set(key, entry)
    const result = copyOf(entry.result)
    return { ...result, metadata: { ...result.metadata, cached: true } }
  }
  async function read(call: CheckedCall, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const key = `${call.caller ?? ""}\u0000${call.tool.provenance?.name ?? ""}\u0000${call.tool.name}\u0000${canonicalJson(call.arguments)}`
    const found = await find(key)
    if (found !== undefined) {
      hits++
      return found
    }
    misses++
    const reads = argumentPaths(call.tool.effects?.reads, call.arguments)
    const before = await fingerprint?.(reads)
    const begun = generation
    const result = await next()
    const stable = fingerprint === undefined || (before !== undefined && before === (await fingerprint(reads)))
    if (result.success && stable && begun === generation) {
      keep(key, {
        result: copyOf(result),
        reads,
        fingerprint: before,
        expires: now() + ttlMs,
        bytes: JSON.stringify(result).length,
      })
    }
    return result
  }
  async function write(call: CheckedCall, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const { effects } = call.tool
    const named = argumentPaths(effects?.writes, call.arguments)
    const forgetIts = (result?: ToolResult): void => {
      if (effects?.writes === undefined) invalidate()
      else if (effects.writes.length > 0 || (result?.modifiedFiles.length ?? 0) > 0)
        invalidate([...named, ...(result?.modifiedFiles ?? [])])
    }
    forgetIts()
    const result = await next()
    forgetIts(result)
    return result
  }

  return {
    middleware: (call, next) => {
      if (call.tool.effects?.readOnly !== true) return write(call, next)
      return call.noCache || call.tool.effects.idempotent !== true ? next() : read(call, next)
    },
    statistics: () => ({ hits, misses, entries: entries.size, bytes }),
    invalidate,
  }
}

/**
 * A copy that shares nothing that can be changed. Results are mostly plain data, for which this is many times faster
 * than
 * `structuredClone`; what is not plain is left to that.
 */
function copyOf<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf) as Value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value)
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) copy[key] = copyOf((value as Record<string, unknown>)[key])
  return copy as Value
}

/** Whether one path is the other or lies in it, by their texts. A relative and an absolute one may always be. */
function pathsOverlap(a: string, b: string): boolean {
  const [first, second] = [trimmed(a), trimmed(b)]
  if (first === "" || second === "" || first.startsWith("/") !== second.startsWith("/")) return true
  return first === second || second.startsWith(`${first}/`) || first.startsWith(`${second}/`)
}

function trimmed(path: string): string {
  return path
    .replace(/^\.\/+/, "")
    .replace(/\/+$/, "")
    .replace(/^\.$/, "")
}
