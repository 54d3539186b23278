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

/** Tokens are no longer than this many bytes, less one. */
export const MAX_DEPTH = 256

/** The child of a node by its byte, -1 where there is none. */
export function childOf({ byte, skip, roots }: TokenTrie, node: number, wanted: number): number {
  if (node === 0) return roots[wanted]!
  const beyond = skip[node]!
  for (let child = node + 1; child < beyond; child = skip[child]!)
    if (byte[child]! >= wanted) return byte[child] === wanted ? child : -1
  return -1
}

/** Longer tokens cannot occur in a mask. */
const MAX_TOKEN_BYTES = MAX_DEPTH - 1

/** Takes some hundred milliseconds for a hundred thousand tokens; make one per model and keep it. */
export function createTokenizer({ tokens, eos }: Vocabulary): Tokenizer {
  const texts = flatten(tokens, new Set(eos))
  const { trie, twins } = buildTrie(sortByBytes(texts), texts, tokens.length)
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
  const tokens = file.tokens_b64.map((text) => (text === null ? null : bytesOfBase64(text)))
  return { tokens, eos: typeof file.eos === "number" ? [file.eos] : file.eos }
}

function bytesOfBase64(text: string): Uint8Array {
  const characters = atob(text)
  const bytes = new Uint8Array(characters.length)
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at)
  return bytes
}

/**
 * The bytes of all tokens that can occur in a mask, one after the other: where they lie together they are quick to
 * read.
 */
interface Texts {
  readonly bytes: Uint8Array
  /** Text n goes from `starts[n]` to `starts[n + 1]`… */
  readonly starts: Int32Array
  /** …and is that of the token `ids[n]`. */
  readonly ids: Int32Array
}

function flatten(tokens: readonly (Uint8Array | null)[], leftOut: ReadonlySet<number>): Texts {
  const ids: number[] = []
  let length = 0
  for (let id = 0; id < tokens.length; id++) {
    const size = tokens[id]?.length ?? 0
    if (size === 0 || size > MAX_TOKEN_BYTES || leftOut.has(id)) continue
    ids.push(id)
    length += size
  }
  const bytes = new Uint8Array(length)
  const starts = new Int32Array(ids.length + 1)
  let end = 0
  for (let text = 0; text < ids.length; text++) {
    const token = tokens[ids[text]!]!
    for (let at = 0; at < token.length; at++) bytes[end++] = token[at]!
    starts[text + 1] = end
  }
  return { bytes, starts, ids: Int32Array.from(ids) }
}

/** The bytes that texts are first sorted by; with a text's place they fit into one number. */
const HEAD_BYTES = 4
const MOST_PLACES = 2 ** 21

/**
 * The texts in the order of their bytes, of equal ones the token with the lower id first. Numbers are sorted many times
 * faster than texts, and few tokens share their first bytes.
 */
function sortByBytes(texts: Texts): Int32Array {
  const { ids } = texts
  const compare = (a: number, b: number): number => compareTexts(texts, a, b)
  if (ids.length >= MOST_PLACES) return ids.map((_, text) => text).sort(compare)
  const keys = new Float64Array(ids.length)
  for (let text = 0; text < keys.length; text++) keys[text] = headOf(texts, text) * MOST_PLACES + text
  keys.sort()
  const order = Int32Array.from(keys, (key) => key % MOST_PLACES)
  for (let from = 0, to = 0; from < keys.length; from = to) {
    const head = Math.floor(keys[from]! / MOST_PLACES)
    while (to < keys.length && Math.floor(keys[to]! / MOST_PLACES) === head) to++
    if (to - from > 1) order.subarray(from, to).sort(compare)
  }
  return order
}

/** The first bytes as a number; where there are fewer, zeros stand for them. */
function headOf({ bytes, starts }: Texts, text: number): number {
  const end = starts[text + 1]!
  let head = 0
  for (let at = starts[text]!, last = at + HEAD_BYTES; at < last; at++) head = head * 256 + (at < end ? bytes[at]! : 0)
  return head
}

function compareTexts({ bytes, starts }: Texts, a: number, b: number): number {
  const [endA, endB] = [starts[a + 1]!, starts[b + 1]!]
  let [atA, atB] = [starts[a]!, starts[b]!]
  for (; atA < endA && atB < endB; atA++, atB++) if (bytes[atA] !== bytes[atB]) return bytes[atA]! - bytes[atB]!
  return endA - atA - (endB - atB) || a - b
}

function buildTrie(
  order: Int32Array,
  { bytes, starts, ids }: Texts,
  size: number,
): { trie: TokenTrie; twins: Int32Array | undefined } {
  const most = bytes.length + 1
  const byte = new Uint8Array(most)
  const depth = new Uint8Array(most)
  const skip = new Int32Array(most)
  const token = new Int32Array(most).fill(-1)
  const twins = new Int32Array(size).fill(-1)
  // The nodes from the root to the last text's end.
  const path = new Int32Array(MAX_TOKEN_BYTES + 1)
  let [hasTwins, count, length, previous] = [false, 1, 0, 0]
  for (const text of order) {
    const start = starts[text]!
    const own = starts[text + 1]! - start
    let common = 0
    while (common < length && common < own && bytes[previous + common] === bytes[start + common]) common++
    for (let level = length; level > common; level--) skip[path[level]!] = count
    for (let at = common; at < own; at++) {
      byte[count] = bytes[start + at]!
      depth[count] = at + 1
      path[at + 1] = count++
    }
    const node = path[own]!
    if (token[node]! >= 0) {
      twins[ids[text]!] = token[node]!
      hasTwins = true
    }
    token[node] = ids[text]!
    previous = start
    length = own
  }
  for (let level = length; level >= 0; level--) skip[path[level]!] = count
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
