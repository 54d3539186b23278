import { canonicalJson, type ToolCall } from "@toolwright/toolbox"

/** By which way a call of a reply came. */
export type CallSource = "text" | "server"

type Named = Pick<ToolCall, "name" | "arguments">

/**
 * Finds calls that a reply makes twice, once in its text and once in the form of the server, which read the text too
 * and left it where it was. Two like calls that came by the same way are two.
 */
export class Twins {
  readonly #alone: Record<CallSource, Alone> = { text: new Alone(), server: new Alone() }

  /** Whether the other way has brought this call already. */
  has(source: CallSource, call: Named): boolean {
    const isTwin = this.#alone[source === "text" ? "server" : "text"].take(call)
    if (!isTwin) this.#alone[source].add(call)
    return isTwin
  }
}

/** What came by one way and has no twin yet. */
class Alone {
  /** Written once there is something to compare them with: most replies bring calls by one way alone. */
  #unwritten: Named[] = []
  readonly #counts = new Map<string, number>()

  add(call: Named): void {
    this.#unwritten.push(call)
  }

  /** Whether there was such a call, which then has its twin. */
  take(call: Named): boolean {
    if (this.#unwritten.length === 0 && this.#counts.size === 0) return false
    for (const one of this.#unwritten) this.#count(textOf(one), 1)
    this.#unwritten = []
    const text = textOf(call)
    const isThere = this.#counts.has(text)
    if (isThere) this.#count(text, -1)
    return isThere
  }

  #count(text: string, more: number): void {
    const count = (this.#counts.get(text) ?? 0) + more
    if (count === 0) this.#counts.delete(text)
    else this.#counts.set(text, count)
  }
}

function textOf({ name, arguments: args }: Named): string {
  return canonicalJson([name, args])
}
