import type { LogEvent } from "./event.ts"
import type { EventRange } from "./read.ts"

/** How `RunLog.follow` follows. */
export interface FollowOptions {
  /** The number after which it begins; 0 unless given. */
  after?: number
  signal?: AbortSignal
  /** How often it looks for what other processes wrote, in milliseconds; 200 unless given. */
  everyMs?: number
}

interface Following extends FollowOptions {
  get(run: string): Promise<{ state: string } | undefined>
  events(run: string, range: EventRange): Promise<LogEvent[]>
  run: string
  listeners: Map<string, Set<() => void>>
}

const PAGE = 500

/** Reads on whenever this process wrote something, and now and then for what others did. */
export async function* follow({
  get,
  events: read,
  run,
  listeners,
  after = 0,
  signal,
  everyMs = 200,
}: Following): AsyncGenerator<LogEvent[]> {
  let woken = false
  let wake = (): void => {}
  const hear = (): void => {
    woken = true
    wake()
  }
  const own = listeners.get(run) ?? new Set<() => void>()
  listeners.set(run, own.add(hear))
  signal?.addEventListener("abort", hear)
  try {
    for (;;) {
      if (signal?.aborted === true) return
      woken = false
      // Looked at before the events: what was written up to the end is then read before it is left.
      const row = await get(run)
      const events = await read(run, { after, limit: PAGE })
      if (events.length > 0) {
        after = events.at(-1)!.seq
        yield events
        continue
      }
      if (row?.state !== "running") return
      if (woken) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    signal?.removeEventListener("abort", hear)
    own.delete(hear)
    if (own.size === 0) listeners.delete(run)
  }
}
