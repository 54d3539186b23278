import type { JsonObject } from "@toolwright/toolbox"

/** An answer with what was asked, so that a later request may go on from it. */
interface Kept {
  /** All items up to and with the answer's. */
  items: JsonObject[]
  bytes: number
}

/** What is kept at most, of all clients together. */
const MOST_BYTES = 16 * 1024 * 1024

/**
 * Keeps the last answers in memory: clients name them (`previous_response_id`), or single items of them
 * (`item_reference`), in place of sending them again. Each is its asker's alone.
 */
export class KeptResponses {
  readonly #responses = new Map<string, Kept>()
  readonly #items = new Map<string, JsonObject>()
  #bytes = 0

  put(caller: string, id: string, items: JsonObject[]): void {
    const bytes = JSON.stringify(items).length
    if (bytes > MOST_BYTES / 4) return
    this.#responses.set(key(caller, id), { items, bytes })
    for (const item of items) if (typeof item.id === "string") this.#items.set(key(caller, item.id), item)
    this.#bytes += bytes
    for (const [oldest, kept] of this.#responses) {
      if (this.#bytes <= MOST_BYTES) break
      this.#responses.delete(oldest)
      this.#bytes -= kept.bytes
      const owner = oldest.slice(0, oldest.indexOf("\0"))
      for (const item of kept.items) if (typeof item.id === "string") this.#items.delete(key(owner, item.id))
    }
  }

  response(caller: string, id: string): readonly JsonObject[] | undefined {
    return this.#responses.get(key(caller, id))?.items
  }

  item(caller: string, id: string): JsonObject | undefined {
    return this.#items.get(key(caller, id))
  }
}

function key(caller: string, id: string): string {
  return `${caller}\0${id}`
}
