/** Objects of a set: keys in any order, each declared name once, what is required, how many, and what has to occur. */
import type { Dfa } from "../automaton/dfa.ts"
import { afterWhiteSpace, chainLexemes, type Lexeme } from "../automaton/lexeme.ts"
import { stringLexeme } from "../automaton/string-lexemes.ts"
import type { Notation } from "../grammar/notation.ts"
import { classifyKeys } from "../schema/key-classes.ts"
import { closeNames, keySetHas } from "../schema/objects.ts"
import type { KeyRule, ObjectSet, TypeAlgebra, ValueType } from "../schema/types.ts"
import type { Frame, Sink } from "./frames.ts"
import { type KeyLanguage, keyLanguage, type NameTree, nameTree } from "./key-language.ts"
import type { ValueWriter } from "./values.ts"

/** Which keys an object has so far. */
interface Progress {
  /** Bit i for name i. */
  readonly seen: bigint
  /** Keys that are no declared names. */
  readonly others: number
  /** Those keys themselves, where two of the same must not count as two. */
  readonly taken: readonly string[]
  /** Bit i where demand i (`set.some`) has been met. */
  readonly met: number
}

interface KeyClass {
  readonly type: ValueType
  readonly inhabited: boolean
  /** Bits of the demands that a key of this class can meet. */
  readonly meets: number
}

/** What of an object set does not depend on how far an object is. */
interface ObjectPlan {
  readonly set: ObjectSet
  readonly names: readonly string[]
  readonly classes: readonly KeyClass[]
  readonly otherLanguages: readonly Dfa[]
  readonly tree: NameTree
  readonly required: bigint
  /** Names whose type has values. */
  readonly possible: bigint
  /** Name i brings these bits with it. */
  readonly closure: readonly bigint[]
  /** Keys beyond the declared names have to be told apart. */
  readonly keepsKeys: boolean
  readonly demands: readonly KeyRule[]
  readonly demandTypes: (index: number, demands: number) => ValueType
  /** Key languages and lexemes by what is still allowed. */
  readonly languages: Map<string, KeyLanguage | undefined>
  readonly lexemes: Map<string, Lexeme>
}

const plans = new WeakMap<ObjectSet, ObjectPlan>()

interface Writing {
  readonly plan: ObjectPlan
  readonly notation: Notation
  readonly writer: ValueWriter
  readonly parent: Frame
  readonly id: string
}

export function enterObject(set: ObjectSet, algebra: TypeAlgebra, notation: Notation, lead: boolean, parent: Frame, sink: Sink, writer: ValueWriter): void {
  let plan = plans.get(set)
  if (plan === undefined) plans.set(set, (plan = planObject(set, algebra)))
  const id = `${writer.store.numberOf(set)},${writer.store.numberOf(notation)}`
  const writing: Writing = { plan, notation, writer, parent, id }
  const begin: Progress = { seen: 0n, others: 0, taken: [], met: 0 }
  const first = (sink: Sink): void => {
    addKey(writing, begin, sink)
    if (canClose(plan, begin)) addClose(writing, notation.object.close, sink)
  }
  if (notation.object.open === "") first(sink)
  else sink.add(writer.literals([notation.object.open], notation, lead), writer.store.frame(parent, `o${id}`, (_, sink) => first(sink)))
}

function planObject(set: ObjectSet, algebra: TypeAlgebra): ObjectPlan {
  const { named, others } = classifyKeys(set, algebra)
  const names = named.map(({ name }) => name)
  const bit = (name: string): bigint => 1n << BigInt(names.indexOf(name))
  const bits = (list: Iterable<string>): bigint => [...list].reduce((sum, name) => sum | bit(name), 0n)
  const demands = set.some
  const classes = [...named.map(({ name, type }) => ({ name, type, has: undefined })), ...others.map(({ type, has }) => ({ name: undefined, type, has }))].map(
    ({ name, type, has }): KeyClass => {
      let meets = 0
      demands.forEach((demand, index) => {
        const inside = name === undefined ? has!(demand.keys) : keySetHas(demand.keys, name)
        if (inside && algebra.inhabited(algebra.intersect(type, demand.type))) meets |= 1 << index
      })
      return { type, inhabited: algebra.inhabited(type), meets }
    },
  )
  return {
    set, names, classes, demands,
    otherLanguages: others.map(({ language }) => language),
    tree: nameTree(names),
    required: bits(closeNames(set.required, set.implies)),
    possible: names.reduce((sum, _, index) => (classes[index]!.inhabited ? sum | (1n << BigInt(index)) : sum), 0n),
    closure: names.map((name) => (set.implies.length === 0 ? bit(name) : bits(closeNames([name], set.implies)))),
    keepsKeys: others.length > 0 && set.min >= 2 && set.min > closeNames(set.required, set.implies).size,
    demandTypes: (index, chosen) => demands.reduce((type, demand, at) => ((chosen >> at) & 1 ? algebra.intersect(type, demand.type) : type), classes[index]!.type),
    languages: new Map(),
    lexemes: new Map(),
  }
}

const countBits = (bits: bigint): number => {
  let count = 0
  for (let rest = bits; rest !== 0n; rest &= rest - 1n) count++
  return count
}

function canClose({ set, required, demands }: ObjectPlan, { seen, others, taken, met }: Progress): boolean {
  if ((required & ~seen) !== 0n || met !== (1 << demands.length) - 1) return false
  const distinct = countBits(seen) + (taken.length > 0 ? taken.length : Math.min(others, 1))
  return distinct >= set.min
}

/** Whether everything that has to come still can. */
function feasible(plan: ObjectPlan, { seen, others, met }: Progress): boolean {
  const { set, names, classes, closure, required } = plan
  let due = required
  if (set.implies.length > 0) for (let index = 0; index < names.length; index++) if ((seen >> BigInt(index)) & 1n) due |= closure[index]!
  const missing = due & ~seen
  for (let index = 0; index < names.length; index++) if ((missing >> BigInt(index)) & 1n && !classes[index]!.inhabited) return false
  if (countBits(seen) + others + countBits(missing) > set.max) return false
  return plan.demands.every((_, index) => {
    if ((met >> index) & 1) return true
    return classes.some(({ meets }, at) => (meets >> index) & 1 && (at >= names.length || !((seen >> BigInt(at)) & 1n)))
  })
}

/** What is due because of names that are there. */
function isClosed(plan: ObjectPlan, seen: bigint): boolean {
  return plan.closure.every((bits, index) => !((seen >> BigInt(index)) & 1n) || (bits & ~seen) === 0n)
}

function addClose({ writer, notation, parent }: Writing, text: string, sink: Sink): void {
  if (text === "") parent.after(0, sink)
  else sink.add(writer.literals([text], notation, true), parent)
}

/** The names that may come next, and which of the other classes. */
function openKeys(plan: ObjectPlan, progress: Progress): { names: bigint; others: boolean[] } {
  if (plan.set.implies.length === 0 && plan.demands.length === 0) return openSimpleKeys(plan, progress)
  let names = 0n
  plan.names.forEach((_, index) => {
    const bit = 1n << BigInt(index)
    if (progress.seen & bit || !plan.classes[index]!.inhabited) return
    if (waysToMeet(plan, index, progress).length > 0) names |= bit
  })
  const others = plan.otherLanguages.map((_, index) => {
    const at = plan.names.length + index
    return plan.classes[at]!.inhabited && waysToMeet(plan, at, progress).length > 0
  })
  return { names, others }
}

/** Without dependencies and demands, all that counts is how many keys there may be. */
function openSimpleKeys({ set, possible, required, classes, names, otherLanguages }: ObjectPlan, { seen, others }: Progress): { names: bigint; others: boolean[] } {
  const missing = required & ~seen
  const room = set.max === Infinity || countBits(seen) + others + countBits(missing) < set.max
  return {
    names: (room ? possible : possible & missing) & ~seen,
    others: otherLanguages.map((_, index) => room && classes[names.length + index]!.inhabited),
  }
}

/** For a key of a class: the sets of demands that its value may meet, such that the object can still be brought to an end. */
function waysToMeet(plan: ObjectPlan, index: number, progress: Progress): number[] {
  const can = plan.classes[index]!.meets & ~progress.met
  const ways: number[] = []
  for (let chosen = can; ; chosen = (chosen - 1) & can) {
    const next = withKey(plan, index, progress, undefined, chosen)
    if (feasible(plan, next) && plan.demandTypes(index, chosen).algebra.inhabited(plan.demandTypes(index, chosen))) ways.push(chosen)
    if (chosen === 0) return ways
  }
}

function withKey(plan: ObjectPlan, index: number, progress: Progress, text: string | undefined, chosen: number): Progress {
  const met = progress.met | chosen
  if (index < plan.names.length) return { ...progress, seen: progress.seen | (1n << BigInt(index)), met }
  const taken = text === undefined ? progress.taken : [...progress.taken, text].toSorted()
  const bounded = plan.set.max < Infinity || plan.keepsKeys
  return { ...progress, others: bounded ? progress.others + 1 : 1, taken, met }
}

const keyOf = ({ seen, others, taken, met }: Progress): string => `${seen},${others},${met},${JSON.stringify(taken)}`

function addKey(writing: Writing, progress: Progress, sink: Sink): void {
  const { plan, notation, writer, parent, id } = writing
  const open = openKeys(plan, progress)
  const key = `${open.names},${open.others.join()},${plan.keepsKeys ? JSON.stringify(progress.taken) : ""}`
  let language = plan.languages.get(key)
  if (!plan.languages.has(key)) {
    const languages = plan.otherLanguages.map((language, index) => (open.others[index] ? language : undefined))
    language = keyLanguage(plan.tree, plan.names.length, open.names, languages, plan.keepsKeys ? new Set(progress.taken) : undefined)
    plan.languages.set(key, language)
  }
  if (language === undefined) return
  const { afterKey } = notation.object
  const texts = typeof afterKey === "string" ? [afterKey] : [afterKey.string, afterKey.other]
  const lexemeKey = `${key};${notation.id}`
  let lexeme = plan.lexemes.get(lexemeKey)
  if (lexeme === undefined) plan.lexemes.set(lexemeKey, (lexeme = keyLexeme(writing, language, texts)))
  const frame = writer.store.frame(parent, `k${id};${keyOf(progress)}`, (outcome, sink) => {
    const { class: index, text } = language.textOf(Math.floor(outcome / texts.length))
    const kinds = texts.length === 1 ? "all" : outcome % 2 === 0 ? "strings" : "others"
    addValue(writing, progress, index, plan.keepsKeys && index >= plan.names.length ? text : undefined, kinds, sink)
  })
  sink.add(lexeme, frame)
}

/** The text before the key, the key, the text after it. The outcome is the key's, times the number of texts, plus the text's. */
function keyLexeme({ notation, writer }: Writing, language: KeyLanguage, texts: readonly string[]): Lexeme {
  const { beforeKey, key } = notation.object
  let lexeme = stringLexeme(key, language)
  if (beforeKey !== "") lexeme = chainLexemes(writer.literals([beforeKey], notation, false), lexeme, (_, outcome) => outcome)
  if (notation.whitespace === "json") lexeme = afterWhiteSpace(lexeme)
  if (texts.length === 1 && texts[0] === "") return lexeme
  return chainLexemes(lexeme, writer.literals(texts, notation, true), (outcome, text) => outcome * texts.length + text)
}

function addValue(writing: Writing, progress: Progress, index: number, text: string | undefined, kinds: "all" | "strings" | "others", sink: Sink): void {
  const { plan, notation, writer, parent, id } = writing
  for (const chosen of waysToMeet(plan, index, progress)) {
    const next = withKey(plan, index, progress, text, chosen)
    const frame = writer.store.frame(parent, `v${id};${keyOf(next)}`, (_, sink, self) => afterValue(writing, next, self, sink))
    writer.value(plan.demandTypes(index, chosen), notation.nested ?? notation, true, frame, sink, kinds)
  }
}

function afterValue(writing: Writing, progress: Progress, self: Frame, sink: Sink): void {
  const { plan, notation, writer, parent } = writing
  const { afterValue, separator, close } = notation.object
  const open = openKeys(plan, progress)
  const more = open.names !== 0n || open.others.includes(true)
  const end = canClose(plan, progress) && isClosed(plan, progress.seen)
  const [again, last] = [afterValue + separator, afterValue + close]
  const going = writer.store.frame(self, "n", (outcome, sink) => {
    if (outcome === 0) addKey(writing, progress, sink)
    else parent.after(0, sink)
  })
  if (more && end && again !== "" && last !== "" && again !== last) {
    sink.add(writer.literals([again, last], notation, true), going)
    return
  }
  if (more) {
    if (again === "") addKey(writing, progress, sink)
    else sink.add(writer.literals([again], notation, true), writer.store.frame(self, "s", (_, sink) => addKey(writing, progress, sink)))
  }
  if (end) addClose(writing, last, sink)
}
