/** A regular expression as a node of a grammar. */
import { parseRegex, type RegexNode } from "../automaton/regex-syntax.ts"
import { normaliseRanges, type CodePointRange } from "../automaton/ranges.ts"
import type { GbnfNode } from "../gbnf/model.ts"

/**
 * All of a text under a regular expression, as Python and Rust have them.
 *
 * @param flags `i` takes letters of either case, `s` lets a dot be a line break
 * @throws RegexProblem for what is no regular expression, and what no grammar can say
 */
export function regexNode(source: string, flags = ""): GbnfNode {
  const wrong = Array.from(flags).find((flag) => !"isu".includes(flag))
  if (wrong !== undefined) throw new Error(`the flag '${wrong}' is not supported`)
  const dot = flags.includes("s") ? "[\\s\\S]" : String.raw`[^\n]`
  const tree = parseRegex(withDots(source, dot))
  return nodeOf(withoutAnchors(tree), flags.includes("i"))
}

/** Dots, the spelling `(?s:.)`, and `\x{…}`, none of which JavaScript has as Python and Rust do. */
function withDots(source: string, dot: string): string {
  let inClass = false
  return source.replaceAll(
    /\(\?s:\.\)|\\x\{([0-9a-fA-F]+)\}|\\[AzZ]|\\[\s\S]|[[\].]/g,
    (found, code: string | undefined) => {
      if (found === "(?s:.)") return "[\\s\\S]"
      if (code !== undefined) return `\\u{${code}}`
      if (found === "[") inClass = true
      else if (found === "]") inClass = false
      else if (found === "." && !inClass) return dot
      else if (found === "\\A") return "^"
      else if (found === "\\z" || found === "\\Z") return "$"
      return found
    },
  )
}

/** The whole text is meant in any case. */
function withoutAnchors(tree: RegexNode): RegexNode {
  const parts = tree.kind === "sequence" ? tree.parts : [tree]
  const from = parts[0]?.kind === "start" ? 1 : 0
  const to = parts.at(-1)?.kind === "end" && parts.length > from ? -1 : undefined
  return { kind: "sequence", parts: parts.slice(from, to) }
}

function nodeOf(node: RegexNode, ignoreCase: boolean): GbnfNode {
  switch (node.kind) {
    case "chars":
      return { kind: "class", negated: false, ranges: ignoreCase ? inBothCases(node.ranges) : node.ranges }
    case "sequence":
      return { kind: "sequence", items: node.parts.map((part) => nodeOf(part, ignoreCase)) }
    case "choice":
      return { kind: "choice", options: node.options.map((option) => nodeOf(option, ignoreCase)) }
    case "repeat": {
      const item = nodeOf(node.of, ignoreCase)
      return { kind: "repeat", item, min: node.min, ...(node.max === undefined ? {} : { max: node.max }) }
    }
    case "start":
    case "end":
      throw new Error("'^' and '$' are supported at the two ends alone")
    case "ahead":
      throw new Error("look-ahead is not supported")
  }
}

/** Letters up to which cases are looked up one by one; all of Latin, Greek and Cyrillic are below. */
const CASED = 0x24ff

/** Letters of either case, for those of which the other is one letter too. */
export function inBothCases(ranges: readonly CodePointRange[]): CodePointRange[] {
  const others: CodePointRange[] = []
  for (const [first, last] of ranges) {
    for (let code = first; code <= Math.min(last, CASED); code++) {
      const letter = String.fromCodePoint(code)
      for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
        const otherCode = other.codePointAt(0)!
        if (otherCode !== code && other.length === 1) others.push([otherCode, otherCode])
      }
    }
  }
  return normaliseRanges([...ranges, ...others])
}
