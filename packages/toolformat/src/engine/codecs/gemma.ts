import { CallWriter } from "../call-writer.ts"
import { literal, textUntil } from "../scanning.ts"
import type { Session } from "../session.ts"
import { END, type Scan } from "../source.ts"
import type { GemmaSyntax } from "../syntax.ts"
import { scanValue } from "../value.ts"
import { settle, type Codec, type ReadContext } from "./codec.ts"

const BRACE = 123
const PARENTHESIS = 40
const SIMPLE_KEY = /^[^\s=:,{}()"'<][^=:,{}()]*$/

/** `call:name{key:value,…}`: keys bare, strings between a delimiter of their own, inside which nothing is escaped. */
export const gemma: Codec<GemmaSyntax> = {
  openings: () => [],
  marks: () => [],
  between: ",",
  read: readGemma,
  print: (call, { open, quote }) => `${open}${call.name}${gemmaText(call.arguments, quote)}`,
}

/** A value in Gemma's notation. */
export function gemmaText(value: unknown, quote: string): string {
  // text that contains the delimiter, or ends in a part of it, would end too early
  if (typeof value === "string")
    return `${value}${quote}`.indexOf(quote) === value.length ? `${quote}${value}${quote}` : JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => gemmaText(item ?? null, quote)).join(",")}]`
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([key, member]) => {
        const written = SIMPLE_KEY.test(key) && key.trim() === key ? key : JSON.stringify(key)
        return `${written}:${gemmaText(member ?? null, quote)}`
      })
      .join(",")}}`
  }
  return JSON.stringify(value) ?? "null"
}

function* readGemma(session: Session, syntax: GemmaSyntax, context: ReadContext): Scan<boolean> {
  const { source } = session
  const call = new CallWriter(session, context.start)
  if (!(yield* literal(source, syntax.open))) return false
  const name = yield* textUntil(source, ["{", "(", ...context.closers], 256, "<>\n")
  if (name === undefined) {
    if ((yield* source.wait()) !== END) return false
    context.commit()
    call.cutOff("the call")
    return true
  }
  if (name.trim() === "") return false
  call.name = name.trim()
  context.commit()
  const opening = yield* source.wait()
  if (opening !== BRACE && opening !== PARENTHESIS) {
    call.finish()
    return true
  }
  const notation = { bareKeys: true, rawQuote: syntax.quote, bareTexts: true }
  if (opening === PARENTHESIS) {
    source.at++
    call.repaired("( for {")
  }
  const outcome = yield* scanValue(source, notation, call, context.closers, opening === BRACE ? "value" : "call")
  yield* settle(source, call, outcome, context.closers, "The arguments cannot be read.")
  return true
}
