/** Objects as threads: keys in any order, each declared name once, and whatever else the set asks for. */
import { memory } from "@toolwright/toolbox"
import type { Dfa } from "../automaton/dfa.ts"
import { afterWhiteSpace, chainLexemes, type Lexeme, narrowLexeme } from "../lexeme/lexeme.ts"
import { stringLexeme } from "../lexeme/string-lexemes.ts"
import type { Notation } from "../grammar/notation.ts"
import type { ObjectSet, TypeAlgebra } from "../schema/types.ts"
import type { Frame, Sink } from "./frames.ts"
import { type KeyLanguage, keyLanguage } from "../plan/key-language.ts"
import type { Kinds } from "../plan/kinds.ts"
import {
  canClose,
  NO_KEYS,
  type ObjectPlan,
  openKeys,
  planOf,
  type Progress,
  waysToMeet,
  withKey,
} from "../plan/object-plan.ts"
import type { KeyReading, ValueWriter } from "./value-writer.ts"
import { openContainer, type Place, type Writing, writingOf } from "./container.ts"

export function enterObject(set: ObjectSet, algebra: TypeAlgebra, place: Place, sink: Sink): void {
  const writing: Writing<ObjectPlan> = writingOf(set, planOf(set, algebra), place)
  const { plan, notation } = writing
  openContainer(writing, { text: notation.object.open, kind: "o", lead: place.lead }, sink, (sink) => {
    addKey(writing, NO_KEYS, sink)
    if (canClose(plan, NO_KEYS)) addClose(writing, notation.object.close, sink)
  })
}

function addClose({ writer, notation, parent }: Writing<ObjectPlan>, text: string, sink: Sink): void {
  if (text === "") parent.after(0, sink)
  else sink.add(writer.literals([text], notation, true), parent)
}

const keyOf = ({ seen, others, taken, met }: Progress): string =>
  `${seen},${others},${met},${taken.length === 0 ? "" : JSON.stringify(taken)}`

function addKey(writing: Writing<ObjectPlan>, progress: Progress, sink: Sink): void {
  const { plan, notation, writer, parent, id } = writing
  const reading = keyReading(writing, progress)
  if (reading === undefined) return
  const texts = textsAfterKey(notation)
  const frame = writer.store.frame(parent, `k${id};${keyOf(progress)}`, (outcome, sink) => {
    const { class: index, text } = reading.language.textOf(Math.floor(outcome / texts.length))
    const kinds = texts.length === 1 ? "all" : outcome % 2 === 0 ? "strings" : "others"
    const kept = plan.keepsKeys && index >= plan.names.length ? text : undefined
    addValue(writing, progress, { index, text: kept, kinds }, sink)
  })
  sink.add(reading.lexeme, frame)
}

/** The names of a plan, as a key. */
const namesOf = memory.derived((plan: ObjectPlan) => JSON.stringify(plan.names))

/**
 * How the next key is read. Objects with the same names that allow the same next, as the branches of a choice often
 * are, read it with one lexeme, unless they have to remember their keys.
 *
 * @returns undefined where no key may follow
 */
function keyReading(writing: Writing<ObjectPlan>, progress: Progress): KeyReading | undefined {
  const { plan, notation, writer } = writing
  const open = openKeys(plan, progress)
  const languages = plan.otherLanguages.map((language, index) => (open.others[index] ? language : undefined))
  const key = [
    notation.id,
    open.names,
    languages.map((language) => (language === undefined ? "" : writer.store.numberOf(language))).join(),
    plan.keepsKeys ? `${writer.store.numberOf(plan)},${JSON.stringify(progress.taken)}` : namesOf(plan),
  ].join(";")
  if (!writer.keys.has(key)) writer.keys.set(key, readKeys(writing, open.names, languages, progress))
  return writer.keys.get(key)
}

function readKeys(
  writing: Writing<ObjectPlan>,
  names: bigint,
  languages: readonly (Dfa | undefined)[],
  { taken }: Progress,
): KeyReading | undefined {
  const { plan, notation, writer } = writing
  const reading = (open: bigint): KeyReading | undefined => {
    const texts = plan.keepsKeys ? new Set(taken) : undefined
    const language = keyLanguage(plan.tree, plan.names.length, open, languages, texts)
    return language === undefined ? undefined : { language, lexeme: keyLexeme(notation, writer, language) }
  }
  const closed = names !== 0n && languages.every((language) => language === undefined) && isWrittenPlain(plan)
  if (!closed) return reading(names)
  // All names are read by one lexeme; which of them are left makes no new one.
  const key = `${notation.id};all;${namesOf(plan)}`
  if (!writer.keys.has(key)) writer.keys.set(key, reading((1n << BigInt(plan.names.length)) - 1n))
  const all = writer.keys.get(key)!
  const knowsNames = (all.lexeme.ends(all.lexeme.start) ?? 0n) !== 0n
  return knowsNames ? { language: all.language, lexeme: narrowLexeme(all.lexeme, names) } : reading(names)
}

/** Whether a name is written as it is, in quotes of any kind. */
const isPlain = (name: string): boolean => /^[\x20-\x21\x23-\x26\x28-\x5b\x5d-\x7e]*$/.test(name)

const isWrittenPlain = memory.derived((plan: ObjectPlan) => plan.names.every(isPlain))

function textsAfterKey({ object: { afterKey } }: Notation): readonly string[] {
  return typeof afterKey === "string" ? [afterKey] : [afterKey.string, afterKey.other]
}

/**
 * The text before the key, the key, the text after it. The outcome is the key's, times the number of texts, plus the
 * text's.
 */
function keyLexeme(notation: Notation, writer: ValueWriter, language: KeyLanguage): Lexeme {
  const { beforeKey, key } = notation.object
  const texts = textsAfterKey(notation)
  let lexeme = stringLexeme(key, language)
  if (beforeKey !== "")
    lexeme = chainLexemes(writer.literals([beforeKey], notation, false), lexeme, (_, outcome) => outcome)
  if (notation.whitespace === "json") lexeme = afterWhiteSpace(lexeme)
  if (texts.length === 1 && texts[0] === "") return lexeme
  return chainLexemes(lexeme, writer.literals(texts, notation, true), (outcome, text) => outcome * texts.length + text)
}

/** A key that was read. */
interface Read {
  /** Its number: that of a declared name, or behind those the class that it is of. */
  readonly index: number
  /** Its text, where that is kept. */
  readonly text: string | undefined
  /** What the text behind it lets its value be. */
  readonly kinds: Kinds
}

function addValue(writing: Writing<ObjectPlan>, progress: Progress, { index, text, kinds }: Read, sink: Sink): void {
  const { plan, notation, writer, parent, id } = writing
  for (const chosen of waysToMeet(plan, index, progress)) {
    const next = withKey(plan, index, progress, text, chosen)
    const frame = writer.store.frame(parent, `v${id};${keyOf(next)}`, (_, sink, self) =>
      afterValue(writing, next, self, sink),
    )
    // White space before a value is the object's affair, whatever the value's own notation has inside.
    const where = { notation: notation.nested ?? notation, lead: notation.whitespace === "json", frame }
    writer.value(plan.demandTypes(index, chosen), where, sink, kinds)
  }
}

function afterValue(writing: Writing<ObjectPlan>, progress: Progress, self: Frame, sink: Sink): void {
  const { plan, notation, writer, parent } = writing
  const { afterValue, separator, close } = notation.object
  const open = openKeys(plan, progress)
  const more = open.names !== 0n || open.others.includes(true)
  const end = canClose(plan, progress)
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
    else
      sink.add(
        writer.literals([again], notation, true),
        writer.store.frame(self, "s", (_, sink) => addKey(writing, progress, sink)),
      )
  }
  if (end) addClose(writing, last, sink)
}
