import { ToolwrightError } from "@toolwright/toolbox"

/**
 * Patterns in the manner of regular expressions, compiled to a state machine that never looks back: time is linear in
 * the text whatever the pattern. Known are `.`, classes, `\d \w \s \b` and escapes, groups, `|`, `? * + {m} {m,}
 * {m,n}`, and `$` (end of the text or line). Letters match in either case. There are no captures, back-references or
 * look-arounds.
 */
export type Node =
  | { readonly op: "character"; readonly matches: (code: number) => boolean; next: number }
  | { readonly op: "split"; next: readonly number[] }
  | { readonly op: "boundary" | "end"; next: number }
  | { readonly op: "found"; readonly rule: number }

/** The most states that one pattern may take. */
const MAX_NODES = 5000
/** The most repetitions that one bound may ask for. */
const MAX_BOUND = 1000

type Test = (code: number) => boolean
type Tree =
  | { kind: "character"; matches: Test }
  | { kind: "boundary" | "end" }
  | { kind: "sequence" | "choice"; parts: Tree[] }
  | { kind: "repeat"; item: Tree; min: number; max: number }

/**
 * Adds a pattern to a machine.
 *
 * @returns the number of the state where it begins
 * @throws ToolwrightError `INVALID_PATTERN` for wrong syntax, a pattern that matches the empty text, or one that is too
 *   large
 */
export function compilePattern(pattern: string, rule: number, nodes: Node[]): number {
  const wrong = (message: string) =>
    new ToolwrightError("INVALID_PATTERN", `The banned pattern '${pattern.slice(0, 80)}' ${message}.`)
  const tree = new PatternReader(pattern, wrong).read()
  if (nullable(tree)) throw wrong("matches the empty text, so it would ban everything")
  const before = nodes.length
  const add = (node: Node): number => {
    if (nodes.length - before > MAX_NODES) throw wrong(`needs more than ${MAX_NODES} states; use smaller bounds`)
    return nodes.push(node) - 1
  }
  const emit = (part: Tree, next: number): number => {
    switch (part.kind) {
      case "character":
        return add({ op: "character", matches: part.matches, next })
      case "boundary":
      case "end":
        return add({ op: part.kind, next })
      case "sequence":
        return part.parts.reduceRight((after, item) => emit(item, after), next)
      case "choice":
        return add({ op: "split", next: part.parts.map((item) => emit(item, next)) })
      case "repeat": {
        let after = next
        if (part.max === Number.POSITIVE_INFINITY) {
          const loop: Node = { op: "split", next: [] }
          after = add(loop)
          loop.next = [emit(part.item, after), next]
        } else {
          for (let count = part.min; count < part.max; count++)
            after = add({ op: "split", next: [emit(part.item, after), next] })
        }
        for (let count = 0; count < part.min; count++) after = emit(part.item, after)
        return after
      }
    }
  }
  return emit(tree, add({ op: "found", rule }))
}

/** Whether a code unit is a letter, digit or underscore; letters of every script count. */
export function isWord(code: number): boolean {
  return code >= 128
    ? /^[\p{L}\p{N}]$/u.test(String.fromCharCode(code))
    : (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)
}

const isDigit: Test = (code) => code >= 48 && code <= 57
const isSpace: Test = (code) =>
  code === 32 || (code >= 9 && code <= 13) || code === 0xa0 || code === 0x2028 || code === 0x2029
const SHORTHANDS: Record<string, Test> = {
  d: isDigit,
  w: isWord,
  s: isSpace,
  D: (code) => !isDigit(code),
  W: (code) => !isWord(code),
  S: (code) => !isSpace(code),
}
const CONTROLS: Record<string, number> = { n: 10, r: 13, t: 9 }

function nullable(tree: Tree): boolean {
  if (tree.kind === "character") return false
  if (tree.kind === "repeat") return tree.min === 0 || nullable(tree.item)
  if (tree.kind === "sequence") return tree.parts.every(nullable)
  return tree.kind !== "choice" || tree.parts.some(nullable)
}

function eitherCase(first: number, last: number): Test {
  return (code) => {
    if (code >= first && code <= last) return true
    const character = String.fromCharCode(code)
    const lower = character.toLowerCase().charCodeAt(0)
    const upper = character.toUpperCase().charCodeAt(0)
    return (lower >= first && lower <= last) || (upper >= first && upper <= last)
  }
}

/** Reads a pattern from its beginning to its end, once. */
class PatternReader {
  readonly #pattern: string
  readonly #wrong: (message: string) => ToolwrightError
  #at = 0
  #depth = 0

  constructor(pattern: string, wrong: (message: string) => ToolwrightError) {
    this.#pattern = pattern
    this.#wrong = wrong
  }

  read(): Tree {
    const tree = this.#choice()
    if (this.#at < this.#pattern.length) throw this.#wrong("has a ')' without '('")
    return tree
  }

  #choice(): Tree {
    if (++this.#depth > 100) throw this.#wrong("nests more than 100 groups")
    const parts = [this.#sequence()]
    while (this.#pattern[this.#at] === "|") {
      this.#at++
      parts.push(this.#sequence())
    }
    this.#depth--
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts }
  }

  #sequence(): Tree {
    const parts: Tree[] = []
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== "|" && this.#pattern[this.#at] !== ")") {
      let item = this.#atom()
      for (let bounds = this.#repetition(); bounds !== undefined; bounds = this.#repetition())
        item = { kind: "repeat", item, ...bounds }
      parts.push(item)
    }
    return { kind: "sequence", parts }
  }

  #repetition(): { min: number; max: number } | undefined {
    const simple = { "?": [0, 1], "*": [0, Infinity], "+": [1, Infinity] }[this.#pattern[this.#at] ?? ""]
    if (simple !== undefined) {
      this.#at++
      return { min: simple[0]!, max: simple[1]! }
    }
    const bounds = /^\{(\d+)(,(\d*))?\}/.exec(this.#pattern.slice(this.#at, this.#at + 20))
    if (bounds === null) return undefined
    this.#at += bounds[0].length
    const min = Number(bounds[1])
    const max = bounds[2] === undefined ? min : bounds[3] === "" ? Infinity : Number(bounds[3])
    if (max < min || min > MAX_BOUND || (max > MAX_BOUND && max !== Infinity))
      throw this.#wrong(`has bounds that are reversed or above ${MAX_BOUND}`)
    return { min, max }
  }

  #atom(): Tree {
    const character = this.#pattern[this.#at++]!
    if (character === "(") {
      if (this.#pattern[this.#at] === "?") {
        if (this.#pattern[this.#at + 1] !== ":")
          throw this.#wrong("uses a look-around or a flag, which linear matching does not know")
        this.#at += 2
      }
      const inner = this.#choice()
      if (this.#pattern[this.#at++] !== ")") throw this.#wrong("has a '(' without ')'")
      return inner
    }
    if (character === "[") return { kind: "character", matches: this.#characterClass() }
    if (character === ".") return { kind: "character", matches: (code) => code !== 10 }
    if (character === "$") return { kind: "end" }
    if (character === "*" || character === "+" || character === "?")
      throw this.#wrong(`has a '${character}' that repeats nothing`)
    if (character !== "\\")
      return { kind: "character", matches: eitherCase(character.charCodeAt(0), character.charCodeAt(0)) }
    if (this.#pattern[this.#at] === "b") {
      this.#at++
      return { kind: "boundary" }
    }
    return { kind: "character", matches: this.#escaped().matches }
  }

  #escaped(): { matches: Test; code?: number } {
    const character = this.#pattern[this.#at++]
    if (character === undefined) throw this.#wrong("ends with a '\\'")
    const shorthand = SHORTHANDS[character]
    if (shorthand !== undefined) return { matches: shorthand }
    const control = CONTROLS[character]
    if (control === undefined && /[A-Za-z0-9]/.test(character))
      throw this.#wrong(`uses '\\${character}', which linear matching does not know`)
    const code = control ?? character.charCodeAt(0)
    return { matches: eitherCase(code, code), code }
  }

  #characterClass(): Test {
    const negated = this.#pattern[this.#at] === "^"
    if (negated) this.#at++
    const tests: Test[] = []
    for (let first = true; first || this.#pattern[this.#at] !== "]"; first = false) {
      if (this.#at >= this.#pattern.length) throw this.#wrong("has a '[' without ']'")
      const from = this.#classMember()
      if (this.#pattern[this.#at] === "-" && this.#pattern[this.#at + 1] !== "]" && from.code !== undefined) {
        this.#at++
        const to = this.#classMember()
        if (to.code === undefined || to.code < from.code) throw this.#wrong("has a range that is reversed")
        tests.push(eitherCase(from.code, to.code))
      } else tests.push(from.matches)
    }
    this.#at++
    return (code) => tests.some((test) => test(code)) !== negated
  }

  #classMember(): { matches: Test; code?: number } {
    const character = this.#pattern[this.#at++]
    if (character === undefined) throw this.#wrong("has a '[' without ']'")
    if (character === "\\") return this.#escaped()
    const code = character.charCodeAt(0)
    return { matches: eitherCase(code, code), code }
  }
}
