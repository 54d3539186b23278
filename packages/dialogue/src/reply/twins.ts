import { canonicalJson, type ToolCall } from "@toolwright/toolbox"

/** By which way a call of a reply came. */
export type CallSource = "text" | "server"

/**
 * Finds calls that a reply makes twice, once in its text and once in the form of the server, which read the text too
 * and left it where it was. Two like calls that came by the same way are two.
 */
export class Twins {
  /** What came by each way and has no twin yet. */
  readonly #alone = { text: new Map<string, number>(), server: new Map<string, number>() }

  /** Whether the other way has brought this call already. */
  has(source: CallSource, { name, arguments: args }: Pick<ToolCall, "name" | "arguments">): boolean {
    const key = canonicalJson([name, args])
    const [own, other] =
      source === "text" ? [this.#alone.text, this.#alone.server] : [this.#alone.server, this.#alone.text]
    const count = other.get(key) ?? 0
    if (count === 0) own.set(key, (own.get(key) ?? 0) + 1)
    else other.set(key, count - 1)
    return count > 0
  }
}
