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
 * paths that it names and those that its result reports; one that does not say what it writes forgets everything. A
 * call with `noCache` neither takes from the cache nor adds to it; no caller is given what was read for another. A hit
 * has `cached: true` in its metadata.
 */
export function createResultCache(options: ResultCacheOptions = {}): ResultCache {
  return new KeptResults(options)
}

class KeptResults implements ResultCache {
  readonly #options: Required<Pick<ResultCacheOptions, "ttlMs" | "maxBytes" | "now" | "overlaps">>
  readonly #fingerprint: ResultCacheOptions["fingerprint"]
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  #hits = 0
  #misses = 0
  /** Counts what was forgotten: a result that was read meanwhile may be of before. */
  #generation = 0

  constructor({
    ttlMs = 300_000,
    maxBytes = 32 * 1024 * 1024,
    now = () => performance.now(),
    overlaps = pathsOverlap,
    fingerprint,
  }: ResultCacheOptions) {
    this.#options = { ttlMs, maxBytes, now, overlaps }
    this.#fingerprint = fingerprint
  }

  readonly middleware: Middleware = (call, next) => {
    const { effects } = call.tool
    if (effects?.readOnly !== true) return this.#write(call, next)
    return call.noCache || effects.idempotent !== true ? next() : this.#read(call, next)
  }

  readonly statistics = (): CacheStatistics => ({
    hits: this.#hits,
    misses: this.#misses,
    entries: this.#entries.size,
    bytes: this.#bytes,
  })

  readonly invalidate = (paths?: readonly string[]): void => {
    const { overlaps } = this.#options
    this.#generation++
    for (const [key, { reads }] of this.#entries) {
      if (paths === undefined || reads.length === 0 || reads.some((read) => paths.some((path) => overlaps(read, path))))
        this.#forget(key)
    }
  }

  async #read(call: CheckedCall, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const { tool, arguments: args, caller = "" } = call
    const key = [caller, tool.provenance?.name ?? "", tool.name, canonicalJson(args)].join("\u0000")
    const found = await this.#find(key)
    if (found !== undefined) {
      this.#hits++
      return found
    }
    this.#misses++
    const reads = argumentPaths(tool.effects?.reads, args)
    const before = await this.#fingerprint?.(reads)
    const begun = this.#generation
    const result = await next()
    const stable =
      this.#fingerprint === undefined || (before !== undefined && before === (await this.#fingerprint(reads)))
    if (result.success && stable && begun === this.#generation) this.#keep(key, { result, reads, fingerprint: before })
    return result
  }

  async #find(key: string): Promise<ToolResult | undefined> {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    const same = entry.fingerprint === undefined || (await this.#fingerprint?.(entry.reads)) === entry.fingerprint
    if (!same || entry.expires <= this.#options.now()) {
      if (this.#entries.get(key) === entry) this.#forget(key)
      return undefined
    }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    const result = copyOf(entry.result)
    return { ...result, metadata: { ...result.metadata, cached: true } }
  }

  #keep(key: string, read: Pick<Entry, "result" | "reads" | "fingerprint">): void {
    const { maxBytes, now, ttlMs } = this.#options
    const bytes = JSON.stringify(read.result).length
    if (bytes > maxBytes) return
    this.#forget(key)
    this.#entries.set(key, { ...read, result: copyOf(read.result), expires: now() + ttlMs, bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= maxBytes) break
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0
    this.#entries.delete(key)
  }

  async #write(call: CheckedCall, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const writes = call.tool.effects?.writes
    const named = argumentPaths(writes, call.arguments)
    const forgetIts = (modified: readonly string[]): void => {
      if (writes === undefined) this.invalidate()
      else if (writes.length > 0 || modified.length > 0) this.invalidate([...named, ...modified])
    }
    forgetIts([])
    const result = await next()
    forgetIts(result.modifiedFiles)
    return result
  }
}

/**
 * A copy that shares nothing that can be changed. Results are mostly plain data, for which this is many times faster
 * than `structuredClone`; what is not plain is left to that.
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
