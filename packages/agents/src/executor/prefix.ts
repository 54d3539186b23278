/** How much of a request a server has read already, in characters of what is sent. */
export interface KeptPrefix {
  /** Characters at the front that are as they were in the request before. */
  readonly kept: number
  /** Characters of the request before. */
  readonly of: number
}

/**
 * Compares each request of a run with the one before. A server that keeps what it has read goes on where the two part,
 * so whatever is told late has to stand late. What is the same object is not looked at again.
 */
export class PrefixMeter {
  #parts: readonly object[] = []
  #texts = new WeakMap<object, string>()

  /** Nothing for the first request. */
  measure(tools: readonly unknown[], messages: readonly unknown[]): KeptPrefix | undefined {
    const before = this.#parts
    const now = [...tools, ...messages] as readonly object[]
    this.#parts = now
    if (before.length === 0) return undefined
    const of = before.reduce((sum, part) => sum + this.#text(part).length, 0)
    let kept = 0
    for (const [index, part] of before.entries()) {
      const text = this.#text(part)
      const other = now[index]
      const same = other === part ? text.length : other === undefined ? 0 : common(text, this.#text(other))
      kept += same
      if (same < text.length) break
    }
    return { kept, of }
  }

  #text(part: object): string {
    let text = this.#texts.get(part)
    if (text === undefined) this.#texts.set(part, (text = JSON.stringify(part)))
    return text
  }
}

function common(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at < most && a[at] === b[at]) at++
  return at
}
