import { ToolwrightError } from "@toolwright/toolbox"
import { compilePattern, type Node } from "./pattern.ts"
import {
  SAFETY_CATEGORIES,
  SAFETY_LEVELS,
  SAFETY_RULES,
  type SafetyCategory,
  type SafetyLevel,
  type SafetyRule,
} from "./rules.ts"
import { scan, scanEnd, SCAN_START, type Machine, type Match, type ScanState } from "./scanner.ts"

export interface SafetyOptions {
  /** How much is filtered; `standard` unless given. */
  readonly level?: SafetyLevel
  /** Only these categories, at that level. */
  readonly categories?: readonly SafetyCategory[]
  /** Further patterns that text must not match; see the page on sampling for what they may hold. */
  readonly banned?: readonly string[]
}

/** Unwanted text: what it is, and where it stands, in UTF-16 code units. */
export interface SafetyFinding {
  readonly category: SafetyCategory | "custom"
  readonly rule: string
  readonly start: number
  readonly end: number
}

/** Follows text as it is generated. */
export interface SafetyScanner {
  /** Takes more text and reports what it completes. The same text gives the same findings however it is cut. */
  push(text: string): SafetyFinding[]
  /** Whether this text would complete something unwanted, if it came next. */
  wouldFind(text: string): boolean
  /** Reports what is complete if nothing more comes. */
  end(): SafetyFinding[]
  /** A scanner at the same place, independent from here on. Costs next to nothing. */
  clone(): SafetyScanner
}

/** Finds unwanted text in time linear in its length. */
export interface SafetyFilter {
  readonly categories: readonly SafetyCategory[]
  check(text: string): SafetyFinding[]
  /** The text with every finding replaced. */
  redact(text: string, replacement?: string): string
  scanner(): SafetyScanner
}

/**
 * A filter of a level.
 *
 * @throws ToolwrightError `INVALID_SAFETY` for an unknown level or category or what is no list, `INVALID_PATTERN` for a
 *   banned pattern that cannot be matched in linear time or is malformed
 * @example
 * createSafetyFilter({ level: "standard", banned: ["project (alpha|beta)"] }).check("about Project Beta")
 */
export function createSafetyFilter(options: SafetyOptions = {}): SafetyFilter {
  const rules = rulesFor(options)
  const nodes: Node[] = []
  const starts = rules.map((rule, index) => compilePattern(rule.pattern, index, nodes))
  const machine: Machine = { nodes, starts, starters: new Map(), settled: new Map() }
  const filter: SafetyFilter = {
    categories: SAFETY_CATEGORIES.filter((category) => rules.some((rule) => rule.category === category)),
    check(text) {
      const matches: Match[] = []
      scanEnd(
        machine,
        scan(machine, SCAN_START, text, (match) => matches.push(match)),
        (match) => matches.push(match),
      )
      return toFindings(rules, matches, (start, end) => text.slice(start, end))
    },
    redact(text, replacement = "[removed]") {
      let result = ""
      let from = 0
      for (const { start, end } of filter.check(text)) {
        if (end <= from) continue
        if (start >= from) result += text.slice(from, start) + replacement
        from = end
      }
      return result + text.slice(from)
    },
    scanner: () => createScanner(machine, rules),
  }
  return filter
}

function rulesFor({ level = "standard", categories, banned = [] }: SafetyOptions): SafetyRule[] {
  const reached = SAFETY_LEVELS.indexOf(level)
  if (reached < 0)
    throw new ToolwrightError("INVALID_SAFETY", `There is no safety level '${level}'.`, {
      hint: `The levels are: ${SAFETY_LEVELS.join(", ")}.`,
    })
  for (const [name, list] of Object.entries({ categories, banned })) {
    if (list !== undefined && !(Array.isArray(list) && list.every((one) => typeof one === "string")))
      throw new ToolwrightError("INVALID_SAFETY", `'${name}' must be a list of texts.`)
  }
  for (const category of categories ?? []) {
    if (!SAFETY_CATEGORIES.includes(category)) {
      throw new ToolwrightError("INVALID_SAFETY", `There is no safety category '${category}'.`, {
        hint: `The categories are: ${SAFETY_CATEGORIES.join(", ")}.`,
      })
    }
  }
  const chosen = SAFETY_RULES.filter(
    ({ category, from = "minimal" }) =>
      SAFETY_LEVELS.indexOf(from) <= reached &&
      (category === "custom" || categories === undefined || categories.includes(category)),
  )
  return [...chosen, ...banned.map((pattern): SafetyRule => ({ name: pattern, category: "custom", pattern }))]
}

/** The longest match of each beginning, checked more closely where the rule asks for it, in the order of the text. */
function toFindings(
  rules: readonly SafetyRule[],
  matches: readonly Match[],
  textOf: (start: number, end: number) => string,
): SafetyFinding[] {
  const longest = new Map<string, Match>()
  for (const match of matches) {
    const { check } = rules[match.rule]!
    if (check !== undefined && !check(textOf(match.start, match.end))) continue
    const key = `${match.rule}:${match.start}`
    const known = longest.get(key)
    if (known === undefined || known.end < match.end) longest.set(key, match)
  }
  return [...longest.values()]
    .sort((a, b) => a.start - b.start || b.end - a.end || a.rule - b.rule)
    .map(({ rule, start, end }) => ({ category: rules[rule]!.category, rule: rules[rule]!.name, start, end }))
}

interface ScannerPlace {
  readonly state: ScanState
  /** Text from `tailFrom` on: as far back as a match under way reaches. */
  readonly tail: string
  readonly tailFrom: number
  readonly reported: ReadonlySet<string>
}

const BEGINNING: ScannerPlace = { state: SCAN_START, tail: "", tailFrom: 0, reported: new Set() }

function createScanner(machine: Machine, rules: readonly SafetyRule[], from: ScannerPlace = BEGINNING): SafetyScanner {
  let place = from
  const keyOf = ({ rule, start }: SafetyFinding) => `${rule}:${start}`
  /** A longer match of the same beginning is the same finding. */
  const isNew = (finding: SafetyFinding) => !place.reported.has(keyOf(finding))

  const run = (text: string): { findings: SafetyFinding[]; after: ScannerPlace } => {
    const matches: Match[] = []
    const state = scan(machine, place.state, text, (match) => matches.push(match))
    const all = place.tail + text
    const findings = toFindings(rules, matches, (start, end) =>
      all.slice(start - place.tailFrom, end - place.tailFrom),
    ).filter(isNew)
    let tailFrom = state.at
    for (const start of state.alive.values()) tailFrom = Math.min(tailFrom, start)
    const reported = findings.length === 0 ? place.reported : new Set([...place.reported, ...findings.map(keyOf)])
    return { findings, after: { state, tail: all.slice(tailFrom - place.tailFrom), tailFrom, reported } }
  }

  return {
    push(text) {
      const { findings, after } = run(text)
      place = after
      return findings
    },
    wouldFind: (text) => run(text).findings.length > 0,
    end() {
      const matches: Match[] = []
      scanEnd(machine, place.state, (match) => matches.push(match))
      const { tail, tailFrom } = place
      return toFindings(rules, matches, (start, end) => tail.slice(start - tailFrom, end - tailFrom)).filter(isNew)
    },
    clone: () => createScanner(machine, rules, place),
  }
}
