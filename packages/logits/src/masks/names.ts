/** What tokens do to a lexeme that reads one of several names. */
import { DEAD, type Lexeme } from "../lexeme/lexeme.ts"
import { childOf, type Tokenizer } from "./tokenizer.ts"

/** What tokens do to the lexeme of all names, with the state to which each leads. */
export interface Names {
  /** Tokens, by the state that they lead to, with the names that may still come there. */
  readonly reached: Iterable<{ readonly ends: bigint; readonly tokens: readonly number[] }>
  readonly exits: readonly { readonly node: number; readonly outcome: number; readonly ends: bigint }[]
}

const NAMES = {}

export function namesFrom(tokenizer: Tokenizer, all: Lexeme, state: number): Names {
  let known = tokenizer.notes.get(NAMES) as WeakMap<Lexeme, (Names | undefined)[]> | undefined
  if (known === undefined) tokenizer.notes.set(NAMES, (known = new WeakMap()))
  let ofLexeme = known.get(all)
  if (ofLexeme === undefined) known.set(all, (ofLexeme = []))
  return (ofLexeme[state] ??= findNames(tokenizer, all, state))
}

function findNames({ trie }: Tokenizer, all: Lexeme, state: number): Names {
  const { token, skip } = trie
  const byState = new Map<number, { ends: bigint; tokens: number[] }>()
  const exits: { node: number; outcome: number; ends: bigint }[] = []
  const visit = (node: number, at: number): void => {
    if (token[node]! >= 0) {
      const reached = byState.get(at)
      if (reached === undefined) byState.set(at, { ends: all.ends(at)!, tokens: [token[node]!] })
      else reached.tokens.push(token[node]!)
    }
    if (skip[node] === node + 1) return
    const outcome = all.outcome(at)
    if (outcome >= 0) exits.push({ node, outcome, ends: all.ends(at)! })
    follow(node, at)
  }
  const follow = (above: number, at: number): void => {
    for (const byte of (all.bytes(at) ?? ALL_BYTES).toSorted((a, b) => a - b)) {
      const node = childOf(trie, above, byte)
      const next = node < 0 ? DEAD : all.next(at, byte)
      if (next !== DEAD) visit(node, next)
    }
  }
  follow(0, state)
  return { reached: [...byState.values()], exits }
}

const ALL_BYTES = Array.from({ length: 256 }, (_, byte) => byte)
