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
  const text = Array.from(source)
  let at = 0
  let nesting = 0
  let rangesLeft = MAX_RANGES

  const fail = (why: string): never => {
    throw new RegexProblem(`${why} (at ${at} in the pattern)`)
  }
  const take = (character: string): boolean => {
    if (text[at] !== character) return false
    at++
    return true
  }

  function parseChoice(): RegexNode {
    if (++nesting > MAX_NESTING) fail(`groups are nested more than ${MAX_NESTING} deep`)
    const options = [parseSequence()]
    while (take("|")) options.push(parseSequence())
    nesting--
    return options.length === 1 ? options[0]! : { kind: "choice", options }
  }

  function parseSequence(): RegexNode {
    const parts: RegexNode[] = []
    while (at < text.length && text[at] !== "|" && text[at] !== ")") parts.push(parseQuantified())
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts }
  }

  function parseQuantified(): RegexNode {
    const atom = parseAtom()
    const bounds = parseQuantifier()
    if (bounds === undefined) return atom
    if (atom.kind === "start" || atom.kind === "end" || atom.kind === "ahead") fail("an assertion cannot be repeated")
    if (bounds.max !== undefined && bounds.max < bounds.min) fail("numbers out of order in the quantifier")
    take("?")
    return { kind: "repeat", of: atom, ...bounds }
  }

  function parseQuantifier(): { min: number; max: number | undefined } | undefined {
    if (take("*")) return { min: 0, max: undefined }
    if (take("+")) return { min: 1, max: undefined }
    if (take("?")) return { min: 0, max: 1 }
    if (text[at] !== "{") return undefined
    const match = /^\{(\d+)(,(\d*))?\}/.exec(text.slice(at, at + 40).join(""))
    if (match === null) return undefined
    at += match[0].length
    const min = Number(match[1])
    if (match[2] === undefined) return { min, max: min }
    return { min, max: match[3] === "" ? undefined : Number(match[3]) }
  }

  function parseAtom(): RegexNode {
    const character = text[at++]!
    switch (character) {
      case "^":
        return { kind: "start" }
      case "$":
        return { kind: "end" }
      case ".":
        return { kind: "chars", ranges: DOT }
      case "(":
        return parseGroup()
      case "[":
        return { kind: "chars", ranges: parseClass() }
      case "\\":
        return parseEscape()
      case "*":
      case "+":
      case "?":
        return fail("nothing to repeat")
      default:
        return one(character.codePointAt(0)!)
    }
  }

  function parseGroup(): RegexNode {
    if (take("?")) {
      if (take("=")) return closeGroup({ kind: "ahead", negated: false, of: parseChoice() })
      if (take("!")) return closeGroup({ kind: "ahead", negated: true, of: parseChoice() })
      if (take("<")) {
        if (text[at] === "=" || text[at] === "!") fail("look-behind is not supported")
        while (at < text.length && text[at] !== ">") at++
        at++
      } else if (!take(":")) fail("unknown kind of group")
    }
    return closeGroup(parseChoice())
  }

  function closeGroup(node: RegexNode): RegexNode {
    if (!take(")")) fail("a group is not closed")
    return node
  }

  function parseEscape(): RegexNode {
    const character = text[at]
    if (character === undefined) return fail("a backslash at the end")
    if (character === "b" || character === "B") fail("word boundaries are not supported")
    if (/[1-9]/.test(character) || character === "k") fail("back-references are not supported")
    return { kind: "chars", ranges: parseEscaped() }
  }

  /** What follows a backslash, in a class or outside of one. */
  function parseEscaped(): CodePointRange[] {
    const character = text[at++]
    if (character === undefined) return fail("a backslash at the end")
    const ranges = classEscape(character)
    if (ranges !== undefined) return ranges
    switch (character) {
      case "p":
      case "P":
        return parseProperty(character === "P")
      case "x":
        return single(parseHex(2))
      case "u":
        return single(parseUnicode())
      case "c": {
        const letter = text[at++] ?? ""
        if (!/[A-Za-z]/.test(letter)) fail("a control escape needs a letter")
        return single(letter.charCodeAt(0) % 32)
      }
      default:
        if (/[A-Za-z0-9]/.test(character)) fail(`unknown escape \\${character}`)
        return single(character.codePointAt(0)!)
    }
  }

  function parseProperty(negated: boolean): CodePointRange[] {
    const end = text.indexOf("}", at)
    if (text[at] !== "{" || end < 0) fail("a property escape needs braces")
    const name = text.slice(at + 1, end).join("")
    at = end + 1
    const ranges = propertyRanges(name) ?? fail(`unknown Unicode property ${name}`)
    rangesLeft -= ranges.length
    if (rangesLeft < 0) fail(`its properties of Unicode hold more than ${MAX_RANGES} ranges of characters`)
    return negated ? invertRanges(ranges) : [...ranges]
  }

  function parseHex(digits: number): number {
    const hex = text.slice(at, at + digits).join("")
    if (hex.length !== digits || !/^[0-9a-fA-F]+$/.test(hex)) fail("malformed hexadecimal escape")
    at += digits
    return Number.parseInt(hex, 16)
  }

  function parseUnicode(): number {
    if (take("{")) {
      const end = text.indexOf("}", at)
      const code = end < 0 ? Number.NaN : Number.parseInt(text.slice(at, end).join(""), 16)
      if (!(code <= 0x10ffff)) fail("malformed Unicode escape")
      at = end + 1
      return code
    }
    const high = parseHex(4)
    if (high < 0xd800 || high > 0xdbff || text[at] !== "\\" || text[at + 1] !== "u") return high
    const start = at
    at += 2
    const low = parseHex(4)
    if (low >= 0xdc00 && low <= 0xdfff) return (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000
    at = start
    return high
  }

  function parseClass(): CodePointRange[] {
    const negated = take("^")
    const ranges: CodePointRange[] = []
    while (text[at] !== "]") {
      if (at >= text.length) fail("a character class is not closed")
      const low = parseClassMember()
      if (text[at] !== "-" || text[at + 1] === "]" || text[at + 1] === undefined) {
        ranges.push(...low)
        continue
      }
      at++
      const high = parseClassMember()
      const isRange = low.length === 1 && high.length === 1 && low[0]![0] === low[0]![1] && high[0]![0] === high[0]![1]
      if (!isRange) ranges.push(...low, [0x2d, 0x2d], ...high)
      else if (low[0]![0] > high[0]![0]) fail("range out of order in a character class")
      else ranges.push([low[0]![0], high[0]![0]])
    }
    at++
    return negated ? invertRanges(ranges) : normaliseRanges(ranges)
  }

  function parseClassMember(): CodePointRange[] {
    const character = text[at++]!
    if (character !== "\\") return single(character.codePointAt(0)!)
    if (text[at] === "b") {
      at++
      return single(8)
    }
    if (text[at] === "-") {
      at++
      return single(0x2d)
    }
    return parseEscaped()
  }

  const tree = parseChoice()
  if (at < text.length) fail("an unmatched closing parenthesis")
  return tree
}

const single = (code: number): CodePointRange[] => [[code, code]]
const one = (code: number): RegexNode => ({ kind: "chars", ranges: single(code) })

/** Any character at all, line breaks included. */
export const anyCharacter: RegexNode = { kind: "chars", ranges: ALL }
