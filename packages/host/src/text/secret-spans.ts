import { memory } from "@toolwright/toolbox"
import type { SecretForm } from "./secret-forms.ts"

/** A part of a text, by its first character and the one after its last. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** No word that a form begins with is longer. */
const LONGEST_WORD = 32
/** What one secret takes of the next where their letters are of one kind, as far as its form goes. */
const LONGEST_TAKEN = 512
/** How often it is tried in a text whether a secret touches another. After that what could be one is taken out. */
const MOST_TRIED = 1000
const TOKEN = /[\w.~+/=:-]*/uy

/**
 * Where secrets stand in a text, in their order, each part once. All are looked for in the text as it is: where two
 * overlap or touch, whichever of them is found first leaves nothing of the other.
 *
 * @param values secrets that are known
 * @param forms those that may find something
 */
export function secretsIn(text: string, values: readonly string[], forms: readonly SecretForm[]): readonly Span[] {
  const found: Span[] = []
  for (const value of values) {
    for (let start = text.indexOf(value); start !== -1; start = text.indexOf(value, start + 1))
      found.push({ start, end: start + value.length })
  }
  for (const { pattern } of forms)
    for (const { index, 0: secret } of text.matchAll(pattern)) found.push({ start: index, end: index + secret.length })
  if (found.length === 0) return found
  const touching = { forms: forms.flatMap((form) => unboundedOf(form) ?? []), left: MOST_TRIED }
  const whole: Span[] = []
  for (const span of merged(found))
    if (span.end > (whole.at(-1)?.end ?? 0)) whole.push(withTouching(text, span, touching))
  return merged(whole)
}

/** Overlapping parts as one. */
function merged(spans: readonly Span[]): Span[] {
  const together: Span[] = []
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const last = together.at(-1)
    if (last === undefined || start >= last.end) together.push({ start, end })
    else if (end > last.end) together[together.length - 1] = { start: last.start, end }
  }
  return together
}

/**
 * With the secrets that begin within it or right behind it: there no other character stands before them, by which their
 * form is known.
 */
function withTouching(text: string, { start, end }: Span, touching: Touching): Span {
  let last = end
  for (let from = Math.max(start + 1, end - LONGEST_TAKEN), tried = -1; tried !== last;) {
    tried = last
    for (const { begin, whole } of touching.forms) {
      for (const { index } of text.slice(from, tried + LONGEST_WORD).matchAll(begin)) {
        const at = from + index
        if (at <= tried) last = Math.max(last, touching.left-- > 0 ? endAt(whole, text, at) : endAt(TOKEN, text, last))
      }
    }
    from = Math.max(tried, last - LONGEST_TAKEN)
  }
  return { start, end: last }
}

/** Where a match that begins in a certain place ends; 0 where there is none. */
function endAt(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at
  return sticky.test(text) ? sticky.lastIndex : 0
}

/** What may touch a secret, and how often that is tried yet. */
interface Touching {
  readonly forms: readonly Unbounded[]
  left: number
}

/** A form without what must not stand before it. */
interface Unbounded {
  /** The words that it begins with. */
  readonly begin: RegExp
  readonly whole: RegExp
}

/** What must not stand before one of them, by which a longer word is told from it; or that a word must begin. */
const BOUND = /^\(\?<!\[[^\]]*\]\)|^\(\?<=\\b([^()]*)\)/u

const unboundedOf = memory.derived(({ pattern, words }: SecretForm): Unbounded | undefined => {
  const whole = pattern.source.replace(BOUND, "$1")
  if (whole === pattern.source) return undefined
  const begin = words.map((word) => word.replaceAll(".", "[.]")).join("|")
  return { begin: new RegExp(begin, "gu"), whole: new RegExp(whole, "uy") }
})
