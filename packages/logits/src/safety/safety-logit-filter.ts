import type { LogitFilter } from "../filter/logit-filter.ts"
import type { Tokenizer } from "../masks/tokenizer.ts"
import type { SafetyFilter, SafetyScanner } from "./safety-filter.ts"

/** How many tokens are looked at for each one that is drawn, unless told otherwise. */
const CANDIDATES = 64

/** A place in a reply: what has been scanned, and bytes of a character that is not whole yet. */
interface Place {
  readonly scanner: SafetyScanner
  readonly rest: Uint8Array
}

/**
 * Keeps unwanted text from being written at all: tokens that would complete it are put out. Looking at a token costs
 * microseconds, so only the likeliest `candidates` that may stay are kept and the others are put out with the rest, as
 * top-k does. Where every token that another filter allows would complete something unwanted, none is left, and a
 * sampler says -1.
 *
 * @param options `candidates`: 64 unless given
 */
export function createSafetyLogitFilter(
  filter: SafetyFilter,
  tokenizer: Tokenizer,
  options: { candidates?: number; name?: string } = {},
): LogitFilter {
  const first = (): Place => ({ scanner: filter.scanner(), rest: new Uint8Array(0) })
  return filterAt([first()], first, tokenizer, options.candidates ?? CANDIDATES, options.name ?? "safety")
}

function filterAt(
  initial: readonly Place[],
  first: () => Place,
  tokenizer: Tokenizer,
  candidates: number,
  name: string,
): LogitFilter {
  let places = [...initial]
  const now = () => places.at(-1)!
  const textAfter = (token: number) => completeText(now().rest, tokenizer.bytesOf(token) ?? new Uint8Array(0))
  return {
    name,
    apply(logits) {
      const kept: [token: number, logit: number][] = []
      for (const token of likeliestFirst(logits, candidates)) {
        const { text } = textAfter(token)
        if (text === "" || !now().scanner.wouldFind(text)) kept.push([token, logits[token]!])
        if (kept.length >= candidates) break
      }
      logits.fill(Number.NEGATIVE_INFINITY)
      for (const [token, logit] of kept) logits[token] = logit
    },
    accept(token) {
      const { text, rest } = textAfter(token)
      const scanner = now().scanner.clone()
      if (scanner.push(text).length > 0) return false
      places.push({ scanner, rest })
      return true
    },
    rollback(tokens = 1) {
      if (tokens >= places.length) throw new RangeError(`there are no ${tokens} tokens to take back`)
      places.length -= tokens
    },
    reset() {
      places = [first()]
    },
    clone: () => filterAt(places, first, tokenizer, candidates, name),
  }
}

/**
 * The tokens that are not out, likeliest first: the first few by selection, then, if more are asked for, all by
 * sorting.
 */
function* likeliestFirst(logits: Float32Array, few: number): Generator<number> {
  const top: number[] = []
  let floor = Number.NEGATIVE_INFINITY
  for (let token = 0; token < logits.length; token++) {
    const logit = logits[token]!
    if (logit === Number.NEGATIVE_INFINITY || (top.length >= few && logit <= floor)) continue
    let at = top.length
    while (at > 0 && logits[top[at - 1]!]! < logit) at--
    top.splice(at, 0, token)
    if (top.length > few) top.pop()
    floor = logits[top.at(-1)!]!
  }
  yield* top
  const seen = new Set(top)
  const others: number[] = []
  for (let token = 0; token < logits.length; token++)
    if (logits[token]! > Number.NEGATIVE_INFINITY && !seen.has(token)) others.push(token)
  yield* others.sort((a, b) => logits[b]! - logits[a]! || a - b)
}

/** The whole characters in the bytes, and the bytes of the one that is not whole. */
function completeText(before: Uint8Array, bytes: Uint8Array): { text: string; rest: Uint8Array } {
  const all = before.length === 0 ? bytes : Uint8Array.of(...before, ...bytes)
  let end = all.length
  for (let back = 1; back <= Math.min(3, all.length); back++) {
    const byte = all[all.length - back]!
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      if ((byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back) end = all.length - back
      break
    }
  }
  return { text: new TextDecoder().decode(all.subarray(0, end)), rest: all.slice(end) }
}
