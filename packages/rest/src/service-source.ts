import {
  ChangeWatch,
  messageOf,
  toldHere,
  ToolwrightError,
  type ToldBefore,
  type ToolDefinition,
  type ToolSource,
} from "@toolwright/toolbox"
import type { ToolsApiClient } from "./client.ts"

/** A service as a source that outlives its absences. */
export interface ServiceSource extends ToolSource {
  /** Why it is away; undefined while it answers. */
  away(): string | undefined
}

/** How a service is looked after. */
export interface ServiceSourceOptions {
  /** Whether a service that is away at the beginning is an error. */
  readonly required?: boolean
  /** How often a service that answers is asked for its tools, in milliseconds; half a minute unless given. */
  readonly everyMs?: number
  /** How soon one that is away is asked again at first, in milliseconds; each time twice as long, to ten seconds. */
  readonly againMs?: number
  /** What was told of its tools before; what it tells first unless given. */
  readonly told?: ToldBefore
  /** Whether it may tell of a tool otherwise than when it was let in, without an approval. */
  readonly acceptChanges?: boolean
  log?(line: string): void
}

const LONGEST_MS = 10_000

/**
 * The tools of a service, kept in step with it: while it is away its tools stay and their calls fail, and when it
 * answers again what has changed is taken over. It keeps no process alive.
 */
export function serviceSource(client: ToolsApiClient, options: ServiceSourceOptions = {}): ServiceSource {
  return new WatchedService(client, options)
}

class WatchedService implements ServiceSource {
  readonly provenance: ToolSource["provenance"]
  readonly #client: ToolsApiClient
  readonly #options: Required<Omit<ServiceSourceOptions, "told" | "acceptChanges">>
  /** Nothing where the service may change its tools. */
  readonly #watch: ChangeWatch | undefined
  readonly #listeners = new Set<() => void>()
  #tools: readonly ToolDefinition[] = []
  #known = ""
  #reason: string | undefined
  #wait: number
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(client: ToolsApiClient, options: ServiceSourceOptions) {
    this.provenance = client.provenance
    this.#client = client
    const { told = toldHere(), acceptChanges = false } = options
    this.#options = { required: false, everyMs: 30_000, againMs: 500, log: () => {}, ...options }
    this.#watch = acceptChanges
      ? undefined
      : new ChangeWatch({
          source: this.provenance.name,
          told,
          log: (line) => this.#options.log(line),
          onLetIn: () => this.#listeners.forEach((listener) => listener()),
        })
    this.#wait = this.#options.againMs
  }

  away(): string | undefined {
    return this.#reason
  }

  async list(): Promise<readonly ToolDefinition[]> {
    if (this.#known !== "") return this.#marked()
    try {
      await this.#ask()
      this.#again(this.#options.everyMs)
    } catch (thrown) {
      const wrong = !ToolwrightError.isInstance(thrown) || thrown.code === "INVALID_CONFIGURATION"
      if (this.#options.required || wrong) throw thrown
      this.#isAway(messageOf(thrown))
    }
    return this.#marked()
  }

  #marked(): readonly ToolDefinition[] {
    return this.#watch?.mark(this.#tools) ?? this.#tools
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#listeners.clear()
    await this.#client.close()
  }

  /** @returns whether the tools have changed */
  async #ask(): Promise<boolean> {
    const listed = await this.#client.list()
    if (this.#reason !== undefined) this.#options.log(`The tools service '${this.provenance.name}' answers again.`)
    this.#reason = undefined
    this.#wait = this.#options.againMs
    // Handlers are new each time, and not what tells tools apart.
    const now = JSON.stringify(listed)
    if (now === this.#known) return false
    this.#known = now
    this.#tools = listed.map((tool) => this.#watched(tool))
    return true
  }

  /** A tool whose calls tell that the service is away. */
  #watched(tool: ToolDefinition): ToolDefinition {
    return {
      ...tool,
      handler: async (args, context) => {
        const result = await tool.handler(args, context)
        if (result.error?.code === "SOURCE_UNAVAILABLE" && !context.signal.aborted) this.#isAway(result.error.message)
        return result
      },
    }
  }

  #isAway(why: string): void {
    const isNew = this.#reason === undefined
    this.#reason = why
    if (!isNew) return
    this.#options.log(`The tools service '${this.provenance.name}' is away, the rest works: ${why}`)
    this.#again(this.#wait)
  }

  #again(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#closed) return
    this.#timer = setTimeout(() => void this.#look(), ms)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    try {
      if (await this.#ask()) for (const listener of this.#listeners) listener()
    } catch (thrown) {
      this.#isAway(messageOf(thrown))
      this.#wait = Math.min(this.#wait * 2, LONGEST_MS)
    }
    this.#again(this.#reason === undefined ? this.#options.everyMs : this.#wait)
  }
}
