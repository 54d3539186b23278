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
  const tree = parse(pattern, wrong)
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

function parse(pattern: string, wrong: (message: string) => ToolwrightError): Tree {
  let at = 0
  let depth = 0

  const choice = (): Tree => {
    if (++depth > 100) throw wrong("nests more than 100 groups")
    const parts = [sequence()]
    while (pattern[at] === "|") {
      at++
      parts.push(sequence())
    }
    depth--
    return parts.length === 1 ? parts[0]! : { kind: "choice", parts }
  }

  const sequence = (): Tree => {
    const parts: Tree[] = []
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") {
      let item = atom()
      for (let bounds = repetition(); bounds !== undefined; bounds = repetition())
        item = { kind: "repeat", item, ...bounds }
      parts.push(item)
    }
    return { kind: "sequence", parts }
  }

  const repetition = (): { min: number; max: number } | undefined => {
    const simple = { "?": [0, 1], "*": [0, Infinity], "+": [1, Infinity] }[pattern[at] ?? ""]
    if (simple !== undefined) {
      at++
      return { min: simple[0]!, max: simple[1]! }
    }
    const bounds = /^\{(\d+)(,(\d*))?\}/.exec(pattern.slice(at, at + 20))
    if (bounds === null) return undefined
    at += bounds[0].length
    const min = Number(bounds[1])
    const max = bounds[2] === undefined ? min : bounds[3] === "" ? Infinity : Number(bounds[3])
    if (max < min || min > MAX_BOUND || (max > MAX_BOUND && max !== Infinity))
      throw wrong(`has bounds that are reversed or above ${MAX_BOUND}`)
    return { min, max }
  }

  const atom = (): Tree => {
    const character = pattern[at++]!
    if (character === "(") {
      if (pattern[at] === "?") {
        if (pattern[at + 1] !== ":") throw wrong("uses a look-around or a flag, which linear matching does not know")
        at += 2
      }
      const inner = choice()
      if (pattern[at++] !== ")") throw wrong("has a '(' without ')'")
      return inner
    }
    if (character === "[") return { kind: "character", matches: characterClass() }
    if (character === ".") return { kind: "character", matches: (code) => code !== 10 }
    if (character === "$") return { kind: "end" }
    if (character === "*" || character === "+" || character === "?")
      throw wrong(`has a '${character}' that repeats nothing`)
    if (character !== "\\")
      return { kind: "character", matches: eitherCase(character.charCodeAt(0), character.charCodeAt(0)) }
    if (pattern[at] === "b") {
      at++
      return { kind: "boundary" }
    }
    return { kind: "character", matches: escaped().matches }
  }

  const escaped = (): { matches: Test; code?: number } => {
    const character = pattern[at++]
    if (character === undefined) throw wrong("ends with a '\\'")
    const shorthand = SHORTHANDS[character]
    if (shorthand !== undefined) return { matches: shorthand }
    const control = CONTROLS[character]
    if (control === undefined && /[A-Za-z0-9]/.test(character))
      throw wrong(`uses '\\${character}', which linear matching does not know`)
    const code = control ?? character.charCodeAt(0)
    return { matches: eitherCase(code, code), code }
  }

  const characterClass = (): Test => {
    const negated = pattern[at] === "^"
    if (negated) at++
    const tests: Test[] = []
    for (let first = true; first || pattern[at] !== "]"; first = false) {
      if (at >= pattern.length) throw wrong("has a '[' without ']'")
      const from = classMember()
      if (pattern[at] === "-" && pattern[at + 1] !== "]" && from.code !== undefined) {
        at++
        const to = classMember()
        if (to.code === undefined || to.code < from.code) throw wrong("has a range that is reversed")
        tests.push(eitherCase(from.code, to.code))
      } else tests.push(from.matches)
    }
    at++
    return (code) => tests.some((test) => test(code)) !== negated
  }

  const classMember = (): { matches: Test; code?: number } => {
    const character = pattern[at++]
    if (character === undefined) throw wrong("has a '[' without ']'")
    if (character === "\\") return escaped()
    const code = character.charCodeAt(0)
    return { matches: eitherCase(code, code), code }
  }

  const tree = choice()
  if (at < pattern.length) throw wrong("has a ')' without '('")
  return tree
}
