import type { PythonSyntax } from "../../engine/syntax.ts"
import { WORDS } from "../probes.ts"
import type { Samples } from "../samples.ts"
import { splitBlock, wrapped } from "./block.ts"
import type { Fitted } from "./fitted.ts"

/** `name(key=value)`. */
export function fitPython({ one, pair }: Samples): Fitted | undefined {
  const first = coreOf(one, WORDS.first, WORDS.value)
  if (first === undefined || !one.slice(first.start).startsWith(`${WORDS.first}(${WORDS.key}=`)) return undefined
  const both =
    pair === undefined
      ? undefined
      : [coreOf(pair, WORDS.first, WORDS.value), coreOf(pair, WORDS.second, WORDS.otherValue)]
  const block = splitBlock({
    before: one.slice(0, first.start),
    after: one.slice(first.end),
    between: both?.[0] === undefined || both[1] === undefined ? undefined : pair!.slice(both[0].end, both[1].start),
  })
  const syntax: PythonSyntax = { codec: "python", ...wrapped(block) }
  return { syntax, turnEnd: block.turnEnd, notes: [] }
}

function coreOf(text: string, name: string, value: string): { start: number; end: number } | undefined {
  const last = text.indexOf(value)
  const start = text.lastIndexOf(`${name}(`, last)
  const end = text.indexOf(")", last)
  return last < 0 || start < 0 || end < 0 ? undefined : { start, end: end + 1 }
}
