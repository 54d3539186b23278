import type { NamedSyntax } from "../../engine/syntax.ts"
import { WORDS } from "../probes.ts"
import type { Samples } from "../samples.ts"
import { sharedEnd } from "../text.ts"
import { splitBlock, wrapped, type Block } from "./block.ts"
import type { Fitted } from "./fitted.ts"
import { objectWith } from "./json.ts"

const ID = /qzcall\d+|call\d{5}/

/** Where the parts of one call stand. */
interface Parts {
  /** Before the name, or before the id where that comes first. */
  before: string
  idBefore?: string
  idMark?: string
  /** Between the name (or the id after it) and the arguments. */
  middle: string
  kimi: boolean
  start: number
  end: number
}

/** The name between marks, the arguments as a JSON object after it. */
export function fitNamed({ one, other, pair }: Samples): Fitted | undefined {
  const parts = partsOf(one, WORDS.first, WORDS.key)
  const second = partsOf(other, WORDS.second, WORDS.otherKey)
  if (parts === undefined || second === undefined) return undefined
  // what stands before the name may itself have the name in it
  const before = parts.before === second.before ? parts.before : sharedEnd(parts.before, second.before)
  const block = splitBlock({
    before,
    after: one.slice(parts.end),
    between: pair === undefined ? undefined : between(pair),
  })
  const atStart = before.trim() === "" && block.between.trim() !== ""
  const open = atStart ? block.between.trim() : block.callOpen
  if (open.trim() === "") return undefined
  const { middle, idMark, idBefore, kimi } = parts
  const syntax: NamedSyntax = {
    codec: "named",
    open: [open],
    middle: [middle],
    close: block.callClose === "" ? [] : [block.callClose],
    ...(idMark === undefined ? {} : { idMark }),
    ...(idBefore === undefined ? {} : { idBefore }),
    ...(kimi ? { nameForm: "kimi" as const } : {}),
    ...(atStart ? { atStart, separator: "" } : around(block)),
  }
  return { syntax, turnEnd: block.turnEnd, ...(kimi ? { ids: "kimi" as const } : {}), notes: [] }
}

/** The marks around all calls; those around each are the codec's own. */
function around(block: Block) {
  if (!block.together) return block.between === "" ? {} : { separator: block.between }
  const { bare: _, ...rest } = wrapped({ ...block, callOpen: "", callClose: "" }) as ReturnType<typeof wrapped> & {
    bare?: unknown
  }
  return rest
}

function between(pair: string): string | undefined {
  const first = partsOf(pair, WORDS.first, WORDS.key)
  const second = first === undefined ? undefined : partsOf(pair.slice(first.end), WORDS.second, WORDS.otherKey)
  return second?.before
}

function partsOf(text: string, name: string, key: string): Parts | undefined {
  const found = objectWith(text, [key])
  if (found === undefined) return undefined
  const at = text.lastIndexOf(name, found.start)
  if (at < 0 || at + name.length > found.start) return undefined
  let before = text.slice(0, at)
  let middle = text.slice(at + name.length, found.start)
  const place = { start: found.start, end: found.end }
  const index = /^:\d+/.exec(middle)?.[0]
  if (index !== undefined && before.endsWith("functions."))
    return { ...place, before: before.slice(0, -"functions.".length), middle: middle.slice(index.length), kimi: true }
  const id = ID.exec(middle)
  const idMark = id === null ? undefined : middle.slice(0, id.index)
  if (id !== null) middle = middle.slice(id.index + id[0].length)
  const early = [...before.matchAll(new RegExp(ID, "g"))].at(-1)
  const idBefore = early === undefined || idMark !== undefined ? undefined : before.slice(early.index + early[0].length)
  if (idBefore !== undefined && early !== undefined) before = before.slice(0, early.index)
  return {
    ...place,
    before,
    middle,
    kimi: false,
    ...(idMark === undefined ? {} : { idMark }),
    ...(idBefore === undefined ? {} : { idBefore }),
  }
}
