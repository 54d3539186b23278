/** How much of a request a server has read already, in characters of what is sent. */
export interface KeptPrefix {
  /** Characters at the front that are as they were in the request before. */
  readonly kept: number
  /** Characters of the request before. */
  readonly of: number
}

/**
 * Compares each request of a run with the one before. A server that keeps what it has read goes on where the two part,
 * so whatever is told late has to stand late. What is the same object is not looked at again: a request that only adds
 * to the one before costs what it adds.
 */
export class PrefixMeter {
  /** The parts of the request before: its tools, then its messages. */
  readonly #parts: unknown[] = []
  /** Characters up to the end of each part. */
  readonly #ends: number[] = []

  /** Nothing for the first request. */
  measure(tools: readonly unknown[], messages: readonly unknown[]): KeptPrefix | undefined {
    const parts = this.#parts
    const count = tools.length + messages.length
    const same = this.#sameAsBefore(tools, messages)
    const [of, kept] = [this.#endOf(parts.length), this.#endOf(same)]
    const alike = same === parts.length ? 0 : alikeIn(parts.slice(same), [...tools, ...messages].slice(same))
    const isFirst = parts.length === 0
    this.#ends.length = parts.length = same
    for (let index = same; index < count; index++) {
      const added = index < tools.length ? tools[index] : messages[index - tools.length]
      parts.push(added)
      this.#ends.push(this.#endOf(index) + charactersIn(added))
    }
    return isFirst ? undefined : { kept: kept + alike, of }
  }

  /** How many parts at the front are the same objects: looked at in every round, so in plain loops. */
  #sameAsBefore(tools: readonly unknown[], messages: readonly unknown[]): number {
    const parts = this.#parts
    const most = parts.length
    let same = 0
    while (same < tools.length && same < most && parts[same] === tools[same]) same++
    if (same < tools.length) return same
    const offset = tools.length
    const end = Math.min(most, offset + messages.length)
    while (same < end && parts[same] === messages[same - offset]) same++
    return same
  }

  #endOf(parts: number): number {
    return this.#ends[parts - 1] ?? 0
  }
}

/** How many characters two lists of parts have in common at their beginning. */
function alikeIn(before: readonly unknown[], now: readonly unknown[]): number {
  let sum = 0
  for (const [index, part] of before.entries()) {
    if (index === now.length) break
    const text = JSON.stringify(part)
    const same = common(text, JSON.stringify(now[index]))
    sum += Math.round((charactersIn(part) * same) / text.length)
    if (same < text.length) break
  }
  return sum
}

/** Characters of a part as it is sent, but for escapes: counted and not written, as each message of a run is. */
function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length + 2
  if (typeof value !== "object" || value === null) return String(value).length
  let sum = 2
  // An array's places are sent by their values alone.
  const isList = Array.isArray(value)
  for (const key in value) sum += charactersIn((value as Record<string, unknown>)[key]) + (isList ? 1 : key.length + 4)
  return sum
}

function common(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at < most && a[at] === b[at]) at++
  return at
}
