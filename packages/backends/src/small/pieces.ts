import type { GgufFile } from "./gguf-file.ts"

const MARK_KINDS = { unknown: 2, control: 3, userDefined: 4 }
/** Texts of tokens that end a reply in whatever model they stand. */
const END_TEXTS = new Set(["</s>", "<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>", "<|end|>"])
const END_KEYS = ["eos_token_id", "eot_token_id", "eom_token_id"]

/** A vocabulary of pieces as SentencePiece makes them, as a file says it. */
export interface Pieces {
  readonly texts: readonly string[]
  readonly kinds: readonly number[]
  readonly scores: readonly number[]
  readonly endTokens: ReadonlySet<number>
  readonly bosText: string | null
  readonly eosText: string | null
  /** The numbers of the tokens that a text is made of; marks such as `<|im_end|>` count as what they are. */
  tokenize(text: string): number[]
}

/** @throws Error where the vocabulary is of another kind, or its parts are not of one length */
export function piecesOf({ metadata }: GgufFile): Pieces {
  const key = (name: string) => metadata.get(`tokenizer.ggml.${name}`)
  if (key("model") !== "llama")
    throw new Error(`its vocabulary is of kind ${String(key("model"))}; llama alone is read`)
  const texts = listOf(key("tokens"), "string")
  const scores = listOf(key("scores"), "number")
  const kinds = listOf(key("token_type"), "number")
  if (scores.length !== texts.length || kinds.length !== texts.length)
    throw new Error("its vocabulary has tokens without a score or a kind")
  const named = (name: string): string | null => {
    const id = key(name)
    return typeof id === "number" ? (texts[id] ?? null) : null
  }
  const ends = texts.flatMap((text, token) => (END_TEXTS.has(text) ? [token] : []))
  const ids = new Map(texts.map((text, token) => [text, token]))
  const split = markSplitter(texts, kinds)
  const prefix = key("add_space_prefix") === false ? "" : "▁"
  return {
    texts,
    kinds,
    scores,
    endTokens: new Set([...ends, ...END_KEYS.map(key).filter((id) => typeof id === "number")]),
    bosText: named("bos_token_id"),
    eosText: named("eos_token_id"),
    tokenize: (text) =>
      split(text).flatMap((part, index, parts) => {
        if (typeof part === "number") return [part]
        const begins = index === 0 || typeof parts[index - 1] === "number"
        return joined((begins ? prefix : "") + part.replaceAll(" ", "▁"), ids, scores)
      }),
  }
}

function listOf<Kind extends "string" | "number">(
  value: unknown,
  kind: Kind,
): readonly (Kind extends "string" ? string : number)[] {
  if (Array.isArray(value) && value.every((one) => typeof one === kind)) return value as never
  throw new Error("its vocabulary has a part that is no list")
}

/** Parts a text at its marks; longer ones first, since one may stand in another. */
function markSplitter(texts: readonly string[], kinds: readonly number[]): (text: string) => (string | number)[] {
  const marked: readonly number[] = Object.values(MARK_KINDS)
  const marks = texts.flatMap((text, token) => (marked.includes(kinds[token]!) && text !== "" ? [token] : []))
  const longestFirst = marks.toSorted((a, b) => texts[b]!.length - texts[a]!.length)
  return (text) => {
    let parts: (string | number)[] = [text]
    for (const token of longestFirst) {
      const mark = texts[token]!
      if (!text.includes(mark)) continue
      parts = parts.flatMap((part) =>
        typeof part === "number" ? [part] : part.split(mark).flatMap((own, at) => (at === 0 ? [own] : [token, own])),
      )
    }
    return parts.filter((part) => part !== "")
  }
}

/**
 * Joins neighbouring pieces, beginning with single characters, as long as two make a piece that is known: the one with
 * the best score first, of several the leftmost. What is left and no piece is written in bytes.
 */
function joined(text: string, ids: ReadonlyMap<string, number>, scores: readonly number[]): number[] {
  const pieces = [...text]
  const next = pieces.map((_, index) => index + 1)
  const before = pieces.map((_, index) => index - 1)
  const pairs = new BestFirst()
  const offer = (left: number): void => {
    const right = next[left]!
    if (left < 0 || right >= pieces.length) return
    const whole = pieces[left]! + pieces[right]!
    const id = ids.get(whole)
    if (id !== undefined) pairs.add({ left, whole, score: scores[id]! })
  }
  for (let left = 0; left < pieces.length - 1; left++) offer(left)
  for (let pair = pairs.take(); pair !== undefined; pair = pairs.take()) {
    const { left, whole } = pair
    const right = next[left]!
    // One of the two has been joined with another piece since; what was joined to the left is empty.
    if (right >= pieces.length || pieces[left] === "" || pieces[left]! + pieces[right]! !== whole) continue
    pieces[left] = whole
    pieces[right] = ""
    next[left] = next[right]!
    if (next[left]! < pieces.length) before[next[left]!] = left
    if (before[left]! >= 0) offer(before[left]!)
    offer(left)
  }
  return pieces.flatMap((piece) => (piece === "" ? [] : (ids.get(piece) ?? bytesOf(piece, ids))))
}

interface Pair {
  readonly left: number
  readonly whole: string
  readonly score: number
}

/** Pairs by their score, the leftmost of equal ones first: a binary heap. */
class BestFirst {
  readonly #pairs: Pair[] = []

  add(pair: Pair): void {
    const pairs = this.#pairs
    let at = pairs.push(pair) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!comesBefore(pair, pairs[above]!)) break
      pairs[at] = pairs[above]!
      at = above
    }
    pairs[at] = pair
  }

  take(): Pair | undefined {
    const pairs = this.#pairs
    const [first] = pairs
    const last = pairs.pop()
    if (last === undefined || last === first) return first
    let at = 0
    for (let below = 1; below < pairs.length; below = 2 * at + 1) {
      if (below + 1 < pairs.length && comesBefore(pairs[below + 1]!, pairs[below]!)) below++
      if (!comesBefore(pairs[below]!, last)) break
      pairs[at] = pairs[below]!
      at = below
    }
    pairs[at] = last
    return first
  }
}

const comesBefore = (one: Pair, other: Pair): boolean =>
  one.score > other.score || (one.score === other.score && one.left < other.left)

function bytesOf(piece: string, ids: ReadonlyMap<string, number>): number[] {
  return [...new TextEncoder().encode(piece)].flatMap((byte) => {
    const id = ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`)
    return id === undefined ? [] : [id]
  })
}
