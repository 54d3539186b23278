import type { GemmaSyntax } from "../../engine/syntax.ts"
import { WORDS } from "../probes.ts"
import type { Samples } from "../samples.ts"
import { splitBlock, wrapped } from "./block.ts"
import type { Fitted } from "./fitted.ts"

/** `name{key:value}` with bare keys and texts between a delimiter. */
export function fitGemma({ one, pair }: Samples): Fitted | undefined {
  const quote = quoteOf(one)
  if (quote === undefined || quote === "") return undefined
  const first = coreOf(one, WORDS.first, WORDS.value, quote)
  if (first === undefined) return undefined
  const both =
    pair === undefined
      ? undefined
      : [coreOf(pair, WORDS.first, WORDS.value, quote), coreOf(pair, WORDS.second, WORDS.otherValue, quote)]
  // a word before the name is no mark of its own
  const before = one.slice(0, first.start)
  const open = /[^<>[\]\s]*$/.exec(before)?.[0] ?? ""
  const gap = both?.[0] === undefined || both[1] === undefined ? undefined : pair!.slice(both[0].end, both[1].start)
  const block = splitBlock({
    before: before.slice(0, before.length - open.length),
    after: one.slice(first.end),
    between: gap?.endsWith(open) === true ? gap.slice(0, gap.length - open.length) : gap,
  })
  const syntax: GemmaSyntax = { codec: "gemma", open, quote, ...wrapped(block) }
  return { syntax, turnEnd: block.turnEnd, notes: [] }
}

function quoteOf(text: string): string | undefined {
  const opening = `${WORDS.first}{${WORDS.key}:`
  const at = text.indexOf(opening)
  const value = text.indexOf(WORDS.value, at)
  return at < 0 || value < 0 ? undefined : text.slice(at + opening.length, value)
}

function coreOf(text: string, name: string, value: string, quote: string): { start: number; end: number } | undefined {
  const start = text.indexOf(`${name}{`)
  const close = `${quote}}`
  const end = text.indexOf(close, text.indexOf(value, start) + value.length)
  return start < 0 || end < 0 ? undefined : { start, end: end + close.length }
}
