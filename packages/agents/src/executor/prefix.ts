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
  #parts: readonly unknown[] = []
  /** Characters up to the end of each part. */
  readonly #ends: number[] = []

  /** Nothing for the first request. */
  measure(tools: readonly unknown[], messages: readonly unknown[]): KeptPrefix | undefined {
    const before = this.#parts
    const now = [...tools, ...messages]
    const of = this.#ends.at(-1) ?? 0
    let same = 0
    while (same < before.length && before[same] === now[same]) same++
    const kept = (this.#ends[same - 1] ?? 0) + commonTexts(before, now, same)
    this.#parts = now
    this.#ends.length = same
    for (let end = this.#ends[same - 1] ?? 0; same < now.length; same++)
      this.#ends.push((end += JSON.stringify(now[same]).length))
    return before.length === 0 ? undefined : { kept, of }
  }
}

/** How many characters two lists of parts have in common from a place on. */
function commonTexts(before: readonly unknown[], now: readonly unknown[], from: number): number {
  let sum = 0
  for (let index = from; index < Math.min(before.length, now.length); index++) {
    const text = JSON.stringify(before[index])
    const same = common(text, JSON.stringify(now[index]))
    sum += same
    if (same < text.length) break
  }
  return sum
}

function common(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at < most && a[at] === b[at]) at++
  return at
}
