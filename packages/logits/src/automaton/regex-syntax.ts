/** Regular expressions of ECMA-262 (flag `u`), read into a tree. What no finite automaton can do is refused by name. */
import { classEscape, propertyRanges } from "./character-classes.ts"
import { type CodePointRange, ALL, invertRanges, normaliseRanges } from "./ranges.ts"

export type RegexNode =
  | { readonly kind: "chars"; readonly ranges: readonly CodePointRange[] }
  | { readonly kind: "sequence"; readonly parts: readonly RegexNode[] }
  | { readonly kind: "choice"; readonly options: readonly RegexNode[] }
  | { readonly kind: "repeat"; readonly of: RegexNode; readonly min: number; readonly max: number | undefined }
  | { readonly kind: "start" }
  | { readonly kind: "end" }
  /** A look-ahead. Only one that stands at the very beginning can be turned into an automaton. */
  | { readonly kind: "ahead"; readonly negated: boolean; readonly of: RegexNode }

/** Why a pattern cannot be compiled. Callers turn it into a refusal with the keyword's path. */
export class RegexProblem extends Error {}

const DOT = invertRanges([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
])
const MAX_NESTING = 250
/** Ranges of all properties of Unicode in one pattern: a letter is seven hundred of them in five signs. */
const MAX_RANGES = 100_000

/**
 * @throws RegexProblem where the pattern is malformed, or needs look-behind, back-references or word boundaries
 */
export function parseRegex(source: string): RegexNode {
  return new RegexReader(source).read()
}

/** Reads a pattern from its beginning to its end, once. */
class RegexReader {
  readonly #text: string[]
  #at = 0
  #nesting = 0
  #rangesLeft = MAX_RANGES

  constructor(source: string) {
    this.#text = Array.from(source)
  }

  read(): RegexNode {
    const tree = this.#parseChoice()
    if (this.#at < this.#text.length) this.#fail("an unmatched closing parenthesis")
    return tree
  }

  #fail(why: string): never {
    throw new RegexProblem(`${why} (at ${this.#at} in the pattern)`)
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #parseChoice(): RegexNode {
    if (++this.#nesting > MAX_NESTING) this.#fail(`groups are nested more than ${MAX_NESTING} deep`)
    const options = [this.#parseSequence()]
    while (this.#take("|")) options.push(this.#parseSequence())
    this.#nesting--
    return options.length === 1 ? options[0]! : { kind: "choice", options }
  }

  #parseSequence(): RegexNode {
    const parts: RegexNode[] = []
    while (this.#at < this.#text.length && this.#text[this.#at] !== "|" && this.#text[this.#at] !== ")")
      parts.push(this.#parseQuantified())
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts }
  }

  #parseQuantified(): RegexNode {
    const atom = this.#parseAtom()
    const bounds = this.#parseQuantifier()
    if (bounds === undefined) return atom
    if (atom.kind === "start" || atom.kind === "end" || atom.kind === "ahead")
      this.#fail("an assertion cannot be repeated")
    if (bounds.max !== undefined && bounds.max < bounds.min) this.#fail("numbers out of order in the quantifier")
    this.#take("?")
    return { kind: "repeat", of: atom, ...bounds }
  }

  #parseQuantifier(): { min: number; max: number | undefined } | undefined {
    if (this.#take("*")) return { min: 0, max: undefined }
    if (this.#take("+")) return { min: 1, max: undefined }
    if (this.#take("?")) return { min: 0, max: 1 }
    if (this.#text[this.#at] !== "{") return undefined
    const match = /^\{(\d+)(,(\d*))?\}/.exec(this.#text.slice(this.#at, this.#at + 40).join(""))
    if (match === null) return undefined
    this.#at += match[0].length
    const min = Number(match[1])
    if (match[2] === undefined) return { min, max: min }
    return { min, max: match[3] === "" ? undefined : Number(match[3]) }
  }

  #parseAtom(): RegexNode {
    const character = this.#text[this.#at++]!
    switch (character) {
      case "^":
        return { kind: "start" }
      case "$":
        return { kind: "end" }
      case ".":
        return { kind: "chars", ranges: DOT }
      case "(":
        return this.#parseGroup()
      case "[":
        return { kind: "chars", ranges: this.#parseClass() }
      case "\\":
        return this.#parseEscape()
      case "*":
      case "+":
      case "?":
        return this.#fail("nothing to repeat")
      default:
        return one(character.codePointAt(0)!)
    }
  }

  #parseGroup(): RegexNode {
    if (this.#take("?")) {
      if (this.#take("=")) return this.#closeGroup({ kind: "ahead", negated: false, of: this.#parseChoice() })
      if (this.#take("!")) return this.#closeGroup({ kind: "ahead", negated: true, of: this.#parseChoice() })
      if (this.#take("<")) {
        if (this.#text[this.#at] === "=" || this.#text[this.#at] === "!") this.#fail("look-behind is not supported")
        while (this.#at < this.#text.length && this.#text[this.#at] !== ">") this.#at++
        this.#at++
      } else if (!this.#take(":")) this.#fail("unknown kind of group")
    }
    return this.#closeGroup(this.#parseChoice())
  }

  #closeGroup(node: RegexNode): RegexNode {
    if (!this.#take(")")) this.#fail("a group is not closed")
    return node
  }

  #parseEscape(): RegexNode {
    const character = this.#text[this.#at]
    if (character === undefined) return this.#fail("a backslash at the end")
    if (character === "b" || character === "B") this.#fail("word boundaries are not supported")
    if (/[1-9]/.test(character) || character === "k") this.#fail("back-references are not supported")
    return { kind: "chars", ranges: this.#parseEscaped() }
  }

  /** What follows a backslash, in a class or outside of one. */
  #parseEscaped(): CodePointRange[] {
    const character = this.#text[this.#at++]
    if (character === undefined) return this.#fail("a backslash at the end")
    const ranges = classEscape(character)
    if (ranges !== undefined) return ranges
    switch (character) {
      case "p":
      case "P":
        return this.#parseProperty(character === "P")
      case "x":
        return single(this.#parseHex(2))
      case "u":
        return single(this.#parseUnicode())
      case "c": {
        const letter = this.#text[this.#at++] ?? ""
        if (!/[A-Za-z]/.test(letter)) this.#fail("a control escape needs a letter")
        return single(letter.charCodeAt(0) % 32)
      }
      default:
        if (/[A-Za-z0-9]/.test(character)) this.#fail(`unknown escape \\${character}`)
        return single(character.codePointAt(0)!)
    }
  }

  #parseProperty(negated: boolean): CodePointRange[] {
    const end = this.#text.indexOf("}", this.#at)
    if (this.#text[this.#at] !== "{" || end < 0) this.#fail("a property escape needs braces")
    const name = this.#text.slice(this.#at + 1, end).join("")
    this.#at = end + 1
    const ranges = propertyRanges(name) ?? this.#fail(`unknown Unicode property ${name}`)
    this.#rangesLeft -= ranges.length
    if (this.#rangesLeft < 0) this.#fail(`its properties of Unicode hold more than ${MAX_RANGES} ranges of characters`)
    return negated ? invertRanges(ranges) : [...ranges]
  }

  #parseHex(digits: number): number {
    const hex = this.#text.slice(this.#at, this.#at + digits).join("")
    if (hex.length !== digits || !/^[0-9a-fA-F]+$/.test(hex)) this.#fail("malformed hexadecimal escape")
    this.#at += digits
    return Number.parseInt(hex, 16)
  }

  #parseUnicode(): number {
    if (this.#take("{")) {
      const end = this.#text.indexOf("}", this.#at)
      const code = end < 0 ? Number.NaN : Number.parseInt(this.#text.slice(this.#at, end).join(""), 16)
      if (!(code <= 0x10ffff)) this.#fail("malformed Unicode escape")
      this.#at = end + 1
      return code
    }
    const high = this.#parseHex(4)
    if (high < 0xd800 || high > 0xdbff || this.#text[this.#at] !== "\\" || this.#text[this.#at + 1] !== "u") return high
    const start = this.#at
    this.#at += 2
    const low = this.#parseHex(4)
    if (low >= 0xdc00 && low <= 0xdfff) return (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000
    this.#at = start
    return high
  }

  #parseClass(): CodePointRange[] {
    const negated = this.#take("^")
    const ranges: CodePointRange[] = []
    while (this.#text[this.#at] !== "]") {
      if (this.#at >= this.#text.length) this.#fail("a character class is not closed")
      const low = this.#parseClassMember()
      if (this.#text[this.#at] !== "-" || this.#text[this.#at + 1] === "]" || this.#text[this.#at + 1] === undefined) {
        ranges.push(...low)
        continue
      }
      this.#at++
      const high = this.#parseClassMember()
      const isRange = low.length === 1 && high.length === 1 && low[0]![0] === low[0]![1] && high[0]![0] === high[0]![1]
      if (!isRange) ranges.push(...low, [0x2d, 0x2d], ...high)
      else if (low[0]![0] > high[0]![0]) this.#fail("range out of order in a character class")
      else ranges.push([low[0]![0], high[0]![0]])
    }
    this.#at++
    return negated ? invertRanges(ranges) : normaliseRanges(ranges)
  }

  #parseClassMember(): CodePointRange[] {
    const character = this.#text[this.#at++]!
    if (character !== "\\") return single(character.codePointAt(0)!)
    if (this.#text[this.#at] === "b") {
      this.#at++
      return single(8)
    }
    if (this.#text[this.#at] === "-") {
      this.#at++
      return single(0x2d)
    }
    return this.#parseEscaped()
  }
}

const single = (code: number): CodePointRange[] => [[code, code]]
const one = (code: number): RegexNode => ({ kind: "chars", ranges: single(code) })

/** Any character at all, line breaks included. */
export const anyCharacter: RegexNode = { kind: "chars", ranges: ALL }
