/** A vocabulary, arranged so that all tokens can be tried against an automaton in one walk. */

export interface Vocabulary {
  /** The bytes of each token by its id; null for control tokens, which stand for no text. */
  readonly tokens: readonly (Uint8Array | null)[]
  /** Tokens that end a reply. */
  readonly eos: readonly number[]
}

/** The tree of all tokens in preorder: a node's children follow it, `skip` leads past them. Node 0 is the root. */
export interface TokenTrie {
  readonly byte: Uint8Array
  readonly depth: Uint8Array
  /** The index of the first node that is not below. */
  readonly skip: Int32Array
  /** The token that ends at the node, -1 where none does. */
  readonly token: Int32Array
  /** The root's children by byte, -1 where there is none. */
  readonly roots: Int32Array
}

export interface Tokenizer {
  /** The number of ids, and so of bits in a mask. */
  readonly size: number
  /** The number of 32-bit words in a mask. */
  readonly words: number
  readonly eos: readonly number[]
  bytesOf(token: number): Uint8Array | null
  readonly trie: TokenTrie
  /** For each token the next one with the same bytes, -1 at the end; undefined where no two are the same. */
  readonly twins: Int32Array | undefined
  /** What is worked out about lexemes in this vocabulary, by whoever does. */
  readonly notes: WeakMap<object, unknown>
}

/** Longer tokens cannot occur in a mask. */
const MAX_TOKEN_BYTES = 255

/** Takes some hundred milliseconds for a hundred thousand tokens; make one per model and keep it. */
export function createTokenizer({ tokens, eos }: Vocabulary): Tokenizer {
  const ends = new Set(eos)
  const usable = tokens.flatMap((bytes, id) =>
    bytes === null || bytes.length === 0 || bytes.length > MAX_TOKEN_BYTES || ends.has(id) ? [] : [id],
  )
  const texts = tokens.map((bytes) => (bytes === null ? "" : latin(bytes)))
  const order = usable.toSorted((a, b) => compare(texts[a]!, texts[b]!) || a - b)
  const { trie, twins } = buildTrie(order, tokens)
  return {
    size: tokens.length,
    words: Math.ceil(tokens.length / 32),
    eos,
    bytesOf: (token) => tokens[token] ?? null,
    trie,
    twins,
    notes: new WeakMap(),
  }
}

/** A vocabulary whose tokens are given in base64, as this project's tools store them. */
export function readVocabulary(file: {
  readonly tokens_b64: readonly (string | null)[]
  readonly eos: number | readonly number[]
}): Vocabulary {
  const tokens = file.tokens_b64.map((text) =>
    text === null ? null : Uint8Array.from(atob(text), (character) => character.charCodeAt(0)),
  )
  return { tokens, eos: typeof file.eos === "number" ? [file.eos] : file.eos }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** One UTF-16 unit a byte, so that texts sort as their bytes do. */
function latin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

function buildTrie(
  order: readonly number[],
  tokens: readonly (Uint8Array | null)[],
): { trie: TokenTrie; twins: Int32Array | undefined } {
  const most = order.reduce((sum, id) => sum + tokens[id]!.length, 1)
  const byte = new Uint8Array(most)
  const depth = new Uint8Array(most)
  const skip = new Int32Array(most)
  const token = new Int32Array(most).fill(-1)
  const twins = new Int32Array(tokens.length).fill(-1)
  const path: number[] = [0]
  let hasTwins = false
  let count = 1
  let previous: Uint8Array = new Uint8Array(0)
  const close = (length: number): void => {
    while (path.length > length + 1) skip[path.pop()!] = count
  }
  for (const id of order) {
    const bytes = tokens[id]!
    let common = 0
    while (common < previous.length && common < bytes.length && previous[common] === bytes[common]) common++
    close(common)
    for (let at = common; at < bytes.length; at++) {
      byte[count] = bytes[at]!
      depth[count] = at + 1
      path.push(count++)
    }
    const node = path.at(-1)!
    if (token[node]! >= 0) {
      twins[id] = token[node]!
      hasTwins = true
    }
    token[node] = id
    previous = bytes
  }
  close(0)
  skip[0] = count
  const roots = new Int32Array(256).fill(-1)
  for (let node = 1; node < count; node = skip[node]!) roots[byte[node]!] = node
  const trie = {
    byte: byte.slice(0, count),
    depth: depth.slice(0, count),
    skip: skip.slice(0, count),
    token: token.slice(0, count),
    roots,
  }
  return { trie, twins: hasTwins ? twins : undefined }
}
