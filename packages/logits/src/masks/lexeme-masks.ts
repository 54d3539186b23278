/**
 * What every token does to a lexeme, whatever surrounds it: the tokens that stay inside, and the places in the token
 * tree at which the lexeme may end and something else has to go on. This is the part of a mask that depends on no
 * schema, so it is worked out once per vocabulary for the lexemes that all schemas share: strings, numbers, white
 * space.
 */
import { DEAD, type Lexeme, type Nearly } from "../lexeme/lexeme.ts"
import { SLICES } from "../lexeme/slices.ts"
import { lexemeRoom } from "./allocator.ts"
import { type Exits, sharedExits } from "./exits.ts"
import { type FreeText, freeText } from "./free-text.ts"
import { namesFrom } from "./names.ts"
import { setToken, unsetToken } from "./set-token.ts"
import { type SliceTokens, sliceTokens } from "./slice-tokens.ts"
import { MAX_DEPTH, type Tokenizer } from "./tokenizer.ts"

export interface LexemeMask {
  /** Tokens after which the lexeme goes on or has just ended, but for what differs; undefined for none. */
  readonly like: Uint32Array | undefined
  /** In which tokens it differs, in this order: token n is in where n stands, and out where ~n does. */
  readonly changes: readonly number[]
  /** Where tokens go on beyond the lexeme. */
  readonly exits: Exits
  /** Of free text: nodes, in ascending order, whose tokens close the string and belong to the lexeme nevertheless. */
  readonly closers: readonly number[]
}

/**
 * The mask of a lexeme in a state; what its outcomes are called, where it is that of another lexeme that behaves alike.
 */
export function lexemeMask(
  tokenizer: Tokenizer,
  lexeme: Lexeme,
  state: number,
): { mask: LexemeMask; outcome: ((theirs: number) => number) | undefined } {
  const canonical = lexeme.canonical(state)
  if (canonical === undefined) return { mask: ownMask(tokenizer, lexeme, state), outcome: undefined }
  const deeper = lexemeMask(tokenizer, canonical.lexeme, canonical.state)
  const { outcome } = deeper
  return {
    mask: deeper.mask,
    outcome: outcome === undefined ? canonical.outcome : (theirs) => canonical.outcome(outcome(theirs)),
  }
}

function ownMask(tokenizer: Tokenizer, lexeme: Lexeme, state: number): LexemeMask {
  let byState = tokenizer.notes.get(lexeme) as (LexemeMask | undefined)[] | undefined
  if (byState === undefined) tokenizer.notes.set(lexeme, (byState = []))
  return (byState[state] ??= workOut(tokenizer, lexeme, state))
}

/** A mask while it is worked out. */
interface Unfinished {
  readonly tokenizer: Tokenizer
  readonly lexeme: Lexeme
  /** What the tokens that stay inside are set in; undefined where only changes to another's are noted. */
  readonly inside: Uint32Array | undefined
  readonly like: Uint32Array | undefined
  readonly changes: number[]
  /** Where `inside` began with all that stays in free text: what does not is taken out of it. */
  readonly base: FreeText | undefined
  readonly exits: number[]
  readonly outcomes: number[]
  readonly closers: number[]
}

function workOut(tokenizer: Tokenizer, lexeme: Lexeme, state: number): LexemeMask {
  const { roots, skip } = tokenizer.trie
  if (lexeme.narrows !== undefined) return narrowed(tokenizer, lexeme, lexeme.narrows, state)
  const freedom = lexeme.freedom(state)
  const near = freedom?.limit === Infinity ? lexeme.nearly(state) : undefined
  if (near !== undefined) return nearMask(tokenizer, lexeme, state, near)
  if (freedom !== undefined) {
    const { inside, upTo } = freeText(tokenizer, freedom.anyEscape)
    const mask = beginLike(tokenizer, lexeme, freedom.limit < upTo.length ? upTo[freedom.limit]! : inside, [])
    walkClosing(mask, state, { above: 0, from: 1, to: skip[0]! }, freedom.anyEscape)
    return finished(mask)
  }
  const bytes = lexeme.bytes(state)
  if (bytes === undefined) {
    const slice = sliceFrom(tokenizer, lexeme, state)
    if (slice !== undefined) return slicedMask(tokenizer, lexeme, state, slice)
  }
  const base = bytes === undefined ? mostlyFree(tokenizer, lexeme, state) : undefined
  const mask = begin(tokenizer, lexeme, base?.inside, base)
  const states = new Int32Array(MAX_DEPTH)
  states[0] = state
  if (bytes === undefined) walkLexeme(mask, states, 1, skip[0]!)
  else for (const byte of bytes) if (roots[byte]! >= 0) walkLexeme(mask, states, roots[byte]!, skip[roots[byte]!]!)
  return finished(mask)
}

/** The largest slice out of which any text may follow. */
function sliceFrom(tokenizer: Tokenizer, lexeme: Lexeme, state: number): SliceTokens | undefined {
  for (let slice = 0; slice < SLICES.length; slice++)
    if (lexeme.takes(state, slice)) return sliceTokens(tokenizer)[slice]
  return undefined
}

/** The tokens of a slice, and of the others those that the lexeme takes. */
function slicedMask(tokenizer: Tokenizer, lexeme: Lexeme, state: number, slice: SliceTokens): LexemeMask {
  const { byte, depth, skip, token } = tokenizer.trie
  const { whole, bit } = slice
  const mask = begin(tokenizer, lexeme, slice.inside)
  const states = new Int32Array(MAX_DEPTH)
  states[0] = state
  for (let node = 1, to = skip[0]!; node < to;) {
    const level = depth[node]!
    const next = (whole[node]! & bit) !== 0 ? DEAD : lexeme.next(states[level - 1]!, byte[node]!)
    if (next === DEAD) {
      node = skip[node]!
      continue
    }
    states[level] = next
    if (token[node]! >= 0) allow(mask, token[node]!)
    noteExit(mask, node, lexeme.outcome(next))
    node++
  }
  return finished(mask)
}

/** What is left of all names' mask where only some may still come. */
function narrowed(tokenizer: Tokenizer, lexeme: Lexeme, all: Lexeme, state: number): LexemeMask {
  const mask = beginLike(tokenizer, lexeme, undefined, [])
  const open = lexeme.ends(state)!
  const { reached, exits } = namesFrom(tokenizer, all, state)
  for (const { ends, tokens } of reached) if ((ends & open) !== 0n) for (const token of tokens) allow(mask, token)
  for (const { node, outcome, ends } of exits) {
    if ((ends & open) === 0n) continue
    mask.exits.push(node)
    mask.outcomes.push(outcome)
  }
  return finished(mask)
}

/** The mask of a state that behaves like another but after a few bytes: the other's, with these looked at anew. */
function nearMask(tokenizer: Tokenizer, lexeme: Lexeme, state: number, near: Nearly): LexemeMask {
  const { mask: like, outcome: deeper } = lexemeMask(tokenizer, near.lexeme, near.state)
  const named = (outcome: number): number => near.outcome(deeper?.(outcome) ?? outcome)
  const { trie } = tokenizer
  const mask = beginLike(tokenizer, lexeme, like.like, like.changes)
  const { anyEscape } = lexeme.freedom(state)!
  let [exit, closer] = [0, 0]
  const take = (to: number): void => {
    const { nodes, outcomes } = like.exits
    for (; exit < nodes.length && nodes[exit]! < to; exit++) {
      mask.exits.push(nodes[exit]!)
      mask.outcomes.push(named(outcomes[exit]!))
    }
    for (; closer < like.closers.length && like.closers[closer]! < to; closer++)
      mask.closers.push(like.closers[closer]!)
  }
  for (const byte of near.except.toSorted((a, b) => a - b)) {
    const root = trie.roots[byte]!
    if (root < 0) continue
    const to = trie.skip[root]!
    take(root)
    for (; closer < like.closers.length && like.closers[closer]! < to; closer++)
      forbid(mask, trie.token[like.closers[closer]!]!)
    exit = firstBeyond(like.exits.nodes, to - 1)
    walkClosing(mask, state, { above: 0, from: root, to }, anyEscape)
  }
  take(trie.skip[0]!)
  return finished(mask)
}

function begin(tokenizer: Tokenizer, lexeme: Lexeme, from?: Uint32Array, base?: FreeText): Unfinished {
  const inside = lexemeRoom(tokenizer)
  if (from !== undefined) inside.set(from)
  return { tokenizer, lexeme, inside, like: inside, changes: [], base, exits: [], outcomes: [], closers: [] }
}

/** A mask that is another's but for some tokens: room for all of them is made where it is put to use. */
function beginLike(
  tokenizer: Tokenizer,
  lexeme: Lexeme,
  like: Uint32Array | undefined,
  changes: readonly number[],
): Unfinished {
  const lists = { changes: [...changes], exits: [], outcomes: [], closers: [] }
  return { tokenizer, lexeme, inside: undefined, like, base: undefined, ...lists }
}

function allow({ tokenizer, inside, changes }: Unfinished, token: number): void {
  if (inside === undefined) changes.push(token)
  else setToken(inside, token, tokenizer.twins)
}

function forbid({ tokenizer, inside, changes }: Unfinished, token: number): void {
  if (inside === undefined) changes.push(~token)
  else unsetToken(inside, token, tokenizer.twins)
}

const finished = ({ tokenizer, like, changes, exits, outcomes, closers }: Unfinished): LexemeMask => ({
  like,
  changes,
  exits: sharedExits(tokenizer, exits, outcomes),
  closers,
})

/** The free text that a state soon becomes by most of what can follow. */
function mostlyFree(tokenizer: Tokenizer, lexeme: Lexeme, state: number): FreeText | undefined {
  const { roots, skip } = tokenizer.trie
  let found: FreeText | undefined
  let free = 0
  for (let byte = 0; byte < roots.length; byte++) {
    const root = roots[byte]!
    const next = root < 0 ? DEAD : lexeme.next(state, byte)
    const text = next === DEAD ? undefined : freeFrom(tokenizer, lexeme, next, root)
    if (text === undefined) continue
    found = text
    free += text.keptBefore[skip[root]!]! - text.keptBefore[root]!
  }
  return found !== undefined && free * 2 > found.kept.length ? found : undefined
}

/** Below a node with fewer nodes than this, each is tried. */
const MANY_NODES = 32

/**
 * Tries the nodes from `from` up to `to` against a lexeme.
 *
 * @param states the lexeme's states along the way from the root, by depth; that above `from` is set
 */
function walkLexeme(mask: Unfinished, states: Int32Array, from: number, to: number): void {
  const { tokenizer, lexeme } = mask
  const { byte, depth, skip, token } = tokenizer.trie
  for (let node = from; node < to;) {
    const level = depth[node]!
    const next = lexeme.next(states[level - 1]!, byte[node]!)
    const beyond = skip[node]!
    if (next === DEAD) {
      if (mask.base !== undefined) leaveOut(mask, mask.base, node, beyond)
      node = beyond
      continue
    }
    states[level] = next
    if (token[node]! >= 0) allow(mask, token[node]!)
    noteExit(mask, node, lexeme.outcome(next))
    node = beyond - node > MANY_NODES && takeFree(mask, next, node) ? beyond : node + 1
  }
}

/** A place at which the lexeme may end inside a token. */
function noteExit({ tokenizer, exits, outcomes }: Unfinished, node: number, outcome: number): void {
  if (outcome < 0 || tokenizer.trie.skip[node]! <= node + 1) return
  exits.push(node)
  outcomes.push(outcome)
}

function leaveOut(mask: Unfinished, { kept, keptBefore }: FreeText, from: number, to: number): void {
  for (let index = keptBefore[from]!; index < keptBefore[to]!; index++) forbid(mask, kept[index]!)
}

/** The free text that begins at a node, where the lexeme has come to a place in a string from which any may follow. */
function freeFrom(tokenizer: Tokenizer, lexeme: Lexeme, state: number, node: number): FreeText | undefined {
  const freedom = lexeme.freedom(state)
  if (freedom === undefined || freedom.limit !== Infinity) return undefined
  const text = freeText(tokenizer, freedom.anyEscape)
  return text.inText[node] === 1 ? text : undefined
}

/**
 * Takes what lies below a node as it is in free text: in names that are none of those known, in texts that begin as
 * they must.
 *
 * @returns whether it was so
 */
function takeFree(mask: Unfinished, state: number, node: number): boolean {
  const { tokenizer, lexeme, base } = mask
  const text = freeFrom(tokenizer, lexeme, state, node)
  if (text === undefined) return false
  const beyond = tokenizer.trie.skip[node]!
  if (text !== base) {
    const last = text.keptBefore[beyond]!
    for (let index = text.keptBefore[node + 1]!; index < last; index++) allow(mask, text.kept[index]!)
  }
  if (!takeClosing(mask, state, node))
    walkClosing(mask, state, { above: node, from: node + 1, to: beyond }, lexeme.freedom(state)!.anyEscape)
  return true
}

/**
 * Takes what closes the string below a node from a lexeme that behaves alike, for which it is known for the whole tree.
 *
 * @returns whether there is one
 */
function takeClosing(into: Unfinished, state: number, above: number): boolean {
  const { tokenizer, exits, outcomes, lexeme } = into
  if (lexeme.canonical(state) === undefined) return false
  const { mask, outcome } = lexemeMask(tokenizer, lexeme, state)
  const { token, skip } = tokenizer.trie
  const beyond = skip[above]!
  const { closers } = mask
  const { nodes } = mask.exits
  for (let index = firstBeyond(closers, above); index < closers.length && closers[index]! < beyond; index++)
    allow(into, token[closers[index]!]!)
  for (let index = firstBeyond(nodes, above); index < nodes.length && nodes[index]! < beyond; index++) {
    exits.push(nodes[index]!)
    outcomes.push(outcome?.(mask.exits.outcomes[index]!) ?? mask.exits.outcomes[index]!)
  }
  return true
}

/** Nodes of the token tree from one up to another, below one whose state is known. */
interface Stretch {
  readonly above: number
  readonly from: number
  readonly to: number
}

/** Inside free text only the tokens that close the string need a look: those of a stretch, with the state above it. */
function walkClosing(mask: Unfinished, state: number, { above, from, to }: Stretch, anyEscape: boolean): void {
  const { tokenizer, lexeme } = mask
  const { closing, closes } = freeText(tokenizer, anyEscape)
  const { byte, depth, skip } = tokenizer.trie
  const states = new Int32Array(MAX_DEPTH)
  states[depth[above]!] = state
  let dead = -1
  for (let index = firstBeyond(closing, from - 1); index < closing.length; index++) {
    const node = closing[index]!
    if (node >= to) return
    if (node < dead) continue
    const level = depth[node]!
    const next = lexeme.next(states[level - 1]!, byte[node]!)
    if (next === DEAD) {
      dead = skip[node]!
      continue
    }
    states[level] = next
    // A key is read with what comes after it, so the lexeme may go on beyond the quote.
    if (closes[index] !== 1) {
      if (skip[node]! - node > MANY_NODES && takeClosing(mask, next, node)) dead = skip[node]!
      continue
    }
    noteExit(mask, node, lexeme.outcome(next))
    dead = skip[node]!
    closeBelow(mask, states, node, dead)
  }
}

/** Tries a node at which the string is closed, whose state is known, and all below it. */
function closeBelow(mask: Unfinished, states: Int32Array, from: number, to: number): void {
  const { tokenizer, lexeme, closers } = mask
  const { byte, depth, skip, token } = tokenizer.trie
  for (let node = from; node < to;) {
    const level = depth[node]!
    if (node > from) {
      const next = lexeme.next(states[level - 1]!, byte[node]!)
      if (next === DEAD) {
        node = skip[node]!
        continue
      }
      states[level] = next
      noteExit(mask, node, lexeme.outcome(next))
    }
    if (token[node]! >= 0) {
      allow(mask, token[node]!)
      closers.push(node)
    }
    node++
  }
}

/** The index of the first number that is greater, of numbers in ascending order. */
function firstBeyond(ascending: ArrayLike<number>, number: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! > number) high = middle
    else low = middle + 1
  }
  return low
}
