import type { JsonObject } from "@toolwright/toolbox"

/** An answer with what was asked, so that a later request may go on from it. */
interface Kept {
  /** All items up to and with the answer's. */
  items: JsonObject[]
  /** How many of them were asked. */
  asked: number
  /** The answer as its client got it. */
  response: JsonObject
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

  put(caller: string, { items, asked, response }: Omit<Kept, "bytes">): void {
    const bytes = JSON.stringify([items, response]).length
    if (bytes > MOST_BYTES / 4) return
    this.#responses.set(key(caller, String(response.id)), { items, asked, response, bytes })
    for (const item of items) if (typeof item.id === "string") this.#items.set(key(caller, item.id), item)
    this.#bytes += bytes
    for (const oldest of this.#responses.keys()) {
      if (this.#bytes <= MOST_BYTES) break
      this.#remove(oldest)
    }
  }

  /** Forgets an answer and its items; those of answers that went on from it are found in these. */
  remove(caller: string, id: string): boolean {
    return this.#remove(key(caller, id))
  }

  #remove(place: string): boolean {
    const kept = this.#responses.get(place)
    if (kept === undefined) return false
    this.#responses.delete(place)
    this.#bytes -= kept.bytes
    const owner = place.slice(0, place.indexOf("\0"))
    for (const item of kept.items) if (typeof item.id === "string") this.#items.delete(key(owner, item.id))
    return true
  }

  get(caller: string, id: string): Readonly<Kept> | undefined {
    return this.#responses.get(key(caller, id))
  }

  item(caller: string, id: string): JsonObject | undefined {
    return this.#items.get(key(caller, id))
  }
}

function key(caller: string, id: string): string {
  return `${caller}\0${id}`
}
