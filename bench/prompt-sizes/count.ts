/** A vocabulary as it lies beside the repository: the bytes of each token, nothing for one that controls. */
interface VocabularyFile {
  tokens_b64: readonly (string | null)[]
  pre: string
}

const WORDS =
  /'(?:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/giu
const WORDS_OF_QWEN =
  /'(?:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/giu

/** Counts the tokens of a text by a byte-level vocabulary whose tokens stand in the order in which they are merged. */
export function byteLevelCounter({ tokens_b64, pre }: VocabularyFile): (text: string) => number {
  const ranks = new Map<string, number>()
  tokens_b64.forEach((token, id) => {
    const bytes = token === null ? undefined : Buffer.from(token, "base64").toString("latin1")
    if (bytes !== undefined && !ranks.has(bytes)) ranks.set(bytes, id)
  })
  const known = new Map<string, number>()
  const words = pre === "qwen2" ? WORDS_OF_QWEN : WORDS
  return (text) => {
    let sum = 0
    for (const [word] of text.matchAll(words)) {
      let count = known.get(word)
      if (count === undefined) known.set(word, (count = pieces(Buffer.from(word).toString("latin1"), ranks)))
      sum += count
    }
    return sum
  }
}

/** Merges neighbours, those first that the vocabulary has first. */
function pieces(word: string, ranks: ReadonlyMap<string, number>): number {
  const parts = word.split("")
  for (;;) {
    let best = Infinity
    let at = -1
    for (let index = 0; index + 1 < parts.length; index++) {
      const rank = ranks.get(parts[index]! + parts[index + 1]!) ?? Infinity
      if (rank < best) [best, at] = [rank, index]
    }
    if (at === -1) return parts.length
    parts.splice(at, 2, parts[at]! + parts[at + 1]!)
  }
}
