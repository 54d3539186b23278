import { ToolwrightError } from "@toolwright/toolbox"
import { followBytes, followToken, startPosition, type Position } from "./follow.ts"
import type { GbnfGrammar } from "./model.ts"
import { parseGbnf } from "./parse.ts"
import { compileGbnf, type GbnfMatcherOptions, type Program } from "./program.ts"

/**
 * Follows a user-written grammar through text, for every context-free grammar that GBNF can write, left-recursive and
 * ambiguous ones included. Stacks are shared, so ambiguity costs polynomial time at most; repetitions are counted, not
 * unrolled; a rule that is called last leaves no stack behind. Text is UTF-8: bytes that are not are refused at the
 * first wrong one.
 *
 * The `accept…` methods change nothing when they answer false.
 */
export interface GbnfMatcher {
  /** Whether the text so far is a whole match. */
  readonly complete: boolean
  /** Whether anything may still follow. */
  readonly open: boolean
  acceptText(text: string): boolean
  acceptBytes(bytes: Uint8Array): boolean
  /** Takes a token of the vocabulary: as a whole where the grammar names tokens, as its bytes elsewhere. */
  acceptToken(id: number, bytes?: Uint8Array): boolean
  allowsBytes(bytes: Uint8Array): boolean
  allowsToken(id: number, bytes?: Uint8Array): boolean
  /**
   * Takes back the last accepted pieces.
   * @throws ToolwrightError `INVALID_ROLLBACK` when there are not that many
   */
  rollback(pieces?: number): void
  /** A matcher at the same place, independent from here on. */
  clone(): GbnfMatcher
}

/**
 * A matcher at the beginning of a grammar.
 *
 * @throws ToolwrightError `GBNF_SYNTAX`, `GBNF_INVALID`; while matching `GRAMMAR_TOO_AMBIGUOUS` beyond 50,000 steps at
 *   one character
 * @example
 * const matcher = createGbnfMatcher('root ::= "[" ([0-9]+ ","?)* "]"')
 * matcher.acceptText("[1,2") // true, and matcher.complete is false
 */
export function createGbnfMatcher(grammar: string | GbnfGrammar, options: GbnfMatcherOptions = {}): GbnfMatcher {
  const program = compileGbnf(typeof grammar === "string" ? parseGbnf(grammar) : grammar, options)
  return matcherFrom(program, [startPosition(program)])
}

/** Whether a grammar matches a whole text. */
export function matchesGbnf(grammar: string | GbnfGrammar, text: string, options: GbnfMatcherOptions = {}): boolean {
  const matcher = createGbnfMatcher(grammar, options)
  return matcher.acceptText(text) && matcher.complete
}

function matcherFrom(program: Program, history: Position[]): GbnfMatcher {
  const encoder = new TextEncoder()
  const now = () => history.at(-1)!
  const keep = (position: Position | undefined): boolean => {
    if (position !== undefined) history.push(position)
    return position !== undefined
  }
  return {
    get complete() {
      return now().done
    },
    get open() {
      return now().states.length > 0
    },
    acceptText: (text) => keep(followBytes(program, now(), encoder.encode(text))),
    acceptBytes: (bytes) => keep(followBytes(program, now(), bytes)),
    acceptToken: (id, bytes) => keep(followToken(program, now(), id, bytes)),
    allowsBytes: (bytes) => followBytes(program, now(), bytes) !== undefined,
    allowsToken: (id, bytes) => followToken(program, now(), id, bytes) !== undefined,
    rollback(pieces = 1) {
      if (pieces < 0 || pieces >= history.length) {
        throw new ToolwrightError("INVALID_ROLLBACK", `Cannot take back ${pieces} pieces of ${history.length - 1}.`)
      }
      history.length -= pieces
    },
    clone: () => matcherFrom(program, [...history]),
  }
}
