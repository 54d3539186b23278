import { setTimeout as sleep } from "node:timers/promises"
import type { Client } from "@modelcontextprotocol/client"

/** How long to wait before a server is asked anew, by how often its stream has ended in a row. */
const PAUSE_MS = [1_000, 5_000, 30_000, 120_000]

/**
 * Asks a server of the newer era to tell of changes to its tools; one of the older era tells by itself. Goes on until
 * the client is closed: a stream that ended is asked for again, and what changed meanwhile is looked up.
 *
 * @param changed told that the tools may have changed
 */
export async function hearChanges(client: Client, changed: () => void): Promise<void> {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return
  for (let ended = 0; client.transport !== undefined; ended++) {
    if (ended > 0) {
      await sleep(PAUSE_MS[Math.min(ended, PAUSE_MS.length) - 1], undefined, { ref: false })
      if (client.transport === undefined) return
    }
    try {
      const { closed } = await client.listen({ toolsListChanged: true })
      if (ended > 0) changed()
      if ((await closed) === "local") return
    } catch {
      // Of the older era, or it takes no such requests: then its tools are as they were found.
      return
    }
  }
}
