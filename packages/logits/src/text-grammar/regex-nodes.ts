/** A regular expression as a node of a grammar. */
import { parseRegex, type RegexNode } from "../automaton/regex-syntax.ts"
import { normaliseRanges, type CodePointRange } from "../automaton/ranges.ts"
import type { GbnfNode } from "../gbnf/model.ts"
import { ClassRoom } from "./class-room.ts"

/**
 * All of a text under a regular expression, as Python and Rust have them.
 *
 * @param flags `i` takes letters of either case, `s` lets a dot be a line break
 * @param room what the classes of the whole grammar may still hold
 * @throws RegexProblem for what is no regular expression, and what no grammar can say
 */
export function regexNode(source: string, flags = "", room = new ClassRoom()): GbnfNode {
  const wrong = Array.from(flags).find((flag) => !"isu".includes(flag))
  if (wrong !== undefined) throw new Error(`the flag '${wrong}' is not supported`)
  room.beforeReading(source)
  const dot = flags.includes("s") ? "[\\s\\S]" : String.raw`[^\n]`
  const tree = parseRegex(withDots(source, dot))
  return nodeOf(withoutAnchors(tree), flags.includes("i") ? room : undefined)
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

/** @param room given where letters of either case are meant */
function nodeOf(node: RegexNode, room: ClassRoom | undefined): GbnfNode {
  switch (node.kind) {
    case "chars":
      return {
        kind: "class",
        negated: false,
        ranges: room === undefined ? node.ranges : inBothCases(node.ranges, room),
      }
    case "sequence":
      return { kind: "sequence", items: node.parts.map((part) => nodeOf(part, room)) }
    case "choice":
      return { kind: "choice", options: node.options.map((option) => nodeOf(option, room)) }
    case "repeat": {
      const item = nodeOf(node.of, room)
      return { kind: "repeat", item, min: node.min, ...(node.max === undefined ? {} : { max: node.max }) }
    }
    case "start":
    case "end":
      throw new Error("'^' and '$' are supported at the two ends alone")
    case "ahead":
      throw new Error("look-ahead is not supported")
  }
}

/**
 * Letters of either case, for those of which the other is one letter too. @throws ToolwrightError where they get too
 * many
 */
export function inBothCases(ranges: readonly CodePointRange[], room: ClassRoom): CodePointRange[] {
  const given = normaliseRanges(ranges)
  const others: CodePointRange[] = []
  for (const [first, last] of given) {
    for (let at = firstFrom(room.cases, first); (room.cases[at]?.[0] ?? Infinity) <= last; at++)
      others.push([room.cases[at]![1], room.cases[at]![1]])
  }
  room.take(others.length)
  return normaliseRanges([...given, ...others])
}

/** The first pair whose letter is not before a code. */
function firstFrom(cases: ClassRoom["cases"], code: number): number {
  let from = 0
  for (let to = cases.length; from < to;) {
    const middle = (from + to) >> 1
    if (cases[middle]![0] < code) from = middle + 1
    else to = middle
  }
  return from
}
