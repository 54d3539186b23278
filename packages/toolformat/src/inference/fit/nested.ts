import type { NestedSyntax } from "../../engine/syntax.ts"
import { WORDS } from "../probes.ts"
import type { Samples } from "../samples.ts"
import { splitBlock, wrapped } from "./block.ts"
import type { Fitted } from "./fitted.ts"

/** `<invoke name="…">` with a tag for each key, every tag behind a prefix. */
export function fitNested({ one, pair }: Samples): Fitted | undefined {
  const closing = one.slice(one.indexOf(WORDS.value) + WORDS.value.length)
  const prefix = /^([^\s<>/]*[^/\s]*?)<\//.exec(closing)?.[1]
  if (prefix === undefined || prefix === "" || !closing.startsWith(`${prefix}</${WORDS.key}>`)) return undefined
  const open = `${prefix}<invoke name="`
  const close = `${prefix}</invoke>`
  const start = one.indexOf(open)
  const end = one.indexOf(close)
  if (start < 0 || end < 0) return undefined
  const block = splitBlock({
    before: one.slice(0, start),
    after: one.slice(end + close.length),
    between: pair === undefined ? undefined : pair.slice(pair.indexOf(close) + close.length, pair.lastIndexOf(open)),
  })
  const syntax: NestedSyntax = { codec: "nested", prefix, ...wrapped(block) }
  return { syntax, turnEnd: block.turnEnd, notes: [] }
}
