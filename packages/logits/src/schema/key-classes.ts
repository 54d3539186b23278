/**
 * Divides the keys of an object set into classes that share a type: each declared name, and the regions of the
 * patterns.
 */
import { memory } from "@toolwright/toolbox"
import { complementDfa, dfaOfTexts, intersectDfa, ANY_TEXT } from "../automaton/dfa-algebra.ts"
import { type Dfa, isEmptyDfa, matchesDfa } from "../automaton/dfa.ts"
import { type KeySet, type ObjectSet, SchemaProblem, type TypeAlgebra, type ValueType } from "./types.ts"

export interface KeyClasses {
  readonly named: readonly { readonly name: string; readonly type: ValueType }[]
  readonly others: readonly OtherKeys[]
}

/** Keys that are no declared names and match the same patterns. */
export interface OtherKeys {
  /** Declared names are taken out already, unless this is every text (then who reads keys looks for names first). */
  readonly language: Dfa
  readonly type: ValueType
  /** How many such keys there are, where they can be counted. */
  readonly finite: number | undefined
  /** Whether these keys are in a key set that occurs in the object set. */
  has(keys: KeySet): boolean
}

const MAX_PATTERNS = 12

/** @throws SchemaProblem where patterns overlap in too many ways */
export const classifyKeys = memory.derived(workOut)

function workOut(set: ObjectSet, algebra: TypeAlgebra): KeyClasses {
  const keySets = [...set.rules, ...set.some].map(({ keys }) => keys)
  const names = [
    ...new Set([
      ...set.names,
      ...set.required,
      ...keySets.flatMap(namesOf),
      ...set.implies.flatMap(([name, others]) => [name, ...others]),
    ]),
  ]
  const patterns = [...new Set(keySets.flatMap(patternsOf))]
  if (patterns.length > MAX_PATTERNS)
    throw new SchemaProblem(`more than ${MAX_PATTERNS} different patterns over one object's keys`)
  algebra.spend(1 + (names.length * (set.rules.length + patterns.length)) / 400)
  const typeWhere = (has: (keys: KeySet) => boolean): ValueType => {
    let type = algebra.any
    for (const rule of set.rules) if (has(rule.keys)) type = algebra.intersect(type, rule.type)
    return type
  }
  const named = names.map((name) => {
    const matching = new Set(patterns.filter((language) => matchesDfa(language, name)))
    return {
      name,
      type: typeWhere((keys) => (keys.kind === "name" ? keys.name === name : inRegion(keys, matching, name))),
    }
  })
  const others: OtherKeys[] = []
  for (const region of regions(patterns)) {
    const { matching } = region
    const inside = region.language === ANY_TEXT ? [] : names.filter((name) => matchesDfa(region.language, name))
    const language =
      inside.length === 0 ? region.language : intersectDfa(region.language, complementDfa(dfaOfTexts(inside)))
    if (isEmptyDfa(language)) continue
    const has = (keys: KeySet): boolean => keys.kind !== "name" && inRegion(keys, matching, undefined)
    others.push({ language, type: typeWhere(has), finite: countTexts(language), has })
  }
  return { named, others }
}

const namesOf = (keys: KeySet): readonly string[] =>
  keys.kind === "name" ? [keys.name] : keys.kind === "rest" ? keys.names : []
const patternsOf = (keys: KeySet): readonly Dfa[] =>
  keys.kind === "pattern" ? [keys.language] : keys.kind === "rest" ? keys.patterns : []

function inRegion(keys: KeySet, matching: ReadonlySet<Dfa>, name: string | undefined): boolean {
  if (keys.kind === "pattern") return matching.has(keys.language)
  if (keys.kind === "name") return false
  return !(name !== undefined && keys.names.includes(name)) && !keys.patterns.some((language) => matching.has(language))
}

/** The non-empty combinations of matching and not matching each pattern. */
function regions(patterns: readonly Dfa[]): { language: Dfa; matching: Set<Dfa> }[] {
  let result = [{ language: ANY_TEXT, matching: new Set<Dfa>() }]
  for (const pattern of patterns) {
    result = result.flatMap(({ language, matching }) =>
      [
        { language: intersectDfa(language, pattern), matching: new Set([...matching, pattern]) },
        { language: intersectDfa(language, complementDfa(pattern)), matching },
      ].filter((region) => !isEmptyDfa(region.language)),
    )
  }
  return result
}

/** The number of texts in a language, where it is at most a thousand; undefined beyond. */
function countTexts(language: Dfa): number | undefined {
  const counts = new Map<number, number>()
  const count = (state: number, depth: number): number => {
    if (depth > 200) return Infinity
    const known = counts.get(state)
    if (known !== undefined) return known
    counts.set(state, Infinity)
    let sum = language.accept[state] === 1 ? 1 : 0
    for (let index = 0; index < language.cuts.length && sum <= 1000; index++) {
      const target = language.table[state * language.classes + language.classOf[index]!]!
      if (target < 0) continue
      const width = (language.cuts[index + 1] ?? 0x110000) - language.cuts[index]!
      sum += width * count(target, depth + 1)
    }
    counts.set(state, sum)
    return sum
  }
  const total = language.start < 0 ? 0 : count(language.start, 0)
  return total <= 1000 ? total : undefined
}
