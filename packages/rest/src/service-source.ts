import { messageOf, ToolwrightError, type ToolDefinition, type ToolSource } from "@toolwright/toolbox"
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
  log?(line: string): void
}

const LONGEST_MS = 10_000

/**
 * The tools of a service, kept in step with it: while it is away its tools stay and their calls fail, and when it
 * answers again what has changed is taken over. It keeps no process alive.
 */
export function serviceSource(client: ToolsApiClient, options: ServiceSourceOptions = {}): ServiceSource {
  const { required = false, everyMs = 30_000, againMs = 500, log = () => {} } = options
  const { name } = client.provenance
  const listeners = new Set<() => void>()
  let tools: readonly ToolDefinition[] = []
  let known = ""
  let reason: string | undefined
  let wait = againMs
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const ask = async (): Promise<boolean> => {
    const listed = await client.list()
    if (reason !== undefined) log(`The tools service '${name}' answers again.`)
    reason = undefined
    wait = againMs
    // Handlers are new each time, and not what tells tools apart.
    const now = JSON.stringify(listed)
    if (now === known) return false
    known = now
    tools = listed.map((tool) => watched(tool))
    return true
  }
  const watched = (tool: ToolDefinition): ToolDefinition => ({
    ...tool,
    async handler(args, context) {
      const result = await tool.handler(args, context)
      if (result.error?.code === "SOURCE_UNAVAILABLE" && !context.signal.aborted) isAway(result.error.message)
      return result
    },
  })
  const isAway = (why: string): void => {
    if (reason === undefined) log(`The tools service '${name}' is away, the rest works: ${why}`)
    const isNew = reason === undefined
    reason = why
    if (isNew) again(wait)
  }
  const again = (ms: number): void => {
    clearTimeout(timer)
    if (closed) return
    timer = setTimeout(() => void look(), ms)
    timer.unref()
  }
  const look = async (): Promise<void> => {
    try {
      if (await ask()) for (const listener of listeners) listener()
    } catch (thrown) {
      isAway(messageOf(thrown))
      wait = Math.min(wait * 2, LONGEST_MS)
    }
    again(reason === undefined ? everyMs : wait)
  }
  return {
    provenance: client.provenance,
    away: () => reason,
    async list() {
      if (known !== "") return tools
      try {
        await ask()
        again(everyMs)
      } catch (thrown) {
        if (required || !ToolwrightError.isInstance(thrown) || thrown.code === "INVALID_CONFIGURATION") throw thrown
        isAway(messageOf(thrown))
      }
      return tools
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      listeners.clear()
      await client.close()
    },
  }
}
