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

/** What one asker has here. */
interface Shelf {
  readonly responses: Map<string, Kept>
  readonly items: Map<string, JsonObject>
  bytes: number
}

/**
 * Keeps the last answers in memory: clients name them (`previous_response_id`), or single items of them
 * (`item_reference`), in place of sending them again. Each is its asker's alone, and none is pushed out by an asker who
 * has more here: once there is too much, the oldest of whoever has the most goes.
 */
export class KeptResponses {
  readonly #shelves = new Map<string, Shelf>()
  readonly #most: number
  #bytes = 0

  /** @param most bytes of all together */
  constructor(most = MOST_BYTES) {
    this.#most = most
  }

  put(caller: string, { items, asked, response }: Omit<Kept, "bytes">): void {
    const bytes = JSON.stringify([items, response]).length
    if (bytes > this.#most / 4) return
    const id = String(response.id)
    this.remove(caller, id)
    const shelf = this.#shelves.get(caller) ?? { responses: new Map(), items: new Map(), bytes: 0 }
    this.#shelves.set(caller, shelf)
    shelf.responses.set(id, { items, asked, response, bytes })
    for (const item of items) if (typeof item.id === "string") shelf.items.set(item.id, item)
    shelf.bytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#most) this.#removeOldestOf(this.#fullest())
  }

  /** Forgets an answer and its items; those of answers that went on from it are found in these. */
  remove(caller: string, id: string): boolean {
    const shelf = this.#shelves.get(caller)
    const kept = shelf?.responses.get(id)
    if (shelf === undefined || kept === undefined) return false
    shelf.responses.delete(id)
    shelf.bytes -= kept.bytes
    this.#bytes -= kept.bytes
    for (const item of kept.items) if (typeof item.id === "string") shelf.items.delete(item.id)
    if (shelf.responses.size === 0) this.#shelves.delete(caller)
    return true
  }

  get(caller: string, id: string): Readonly<Kept> | undefined {
    return this.#shelves.get(caller)?.responses.get(id)
  }

  item(caller: string, id: string): JsonObject | undefined {
    return this.#shelves.get(caller)?.items.get(id)
  }

  #fullest(): string {
    let fullest = ""
    let most = -1
    for (const [caller, { bytes }] of this.#shelves) {
      if (bytes <= most) continue
      fullest = caller
      most = bytes
    }
    return fullest
  }

  #removeOldestOf(caller: string): void {
    for (const oldest of this.#shelves.get(caller)!.responses.keys()) {
      this.remove(caller, oldest)
      return
    }
  }
}
