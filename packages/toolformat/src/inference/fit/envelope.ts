import type { EnvelopeSyntax } from "../../engine/syntax.ts"
import { WORDS } from "../probes.ts"
import type { Samples } from "../samples.ts"
import { splitBlock, wrapped } from "./block.ts"
import type { Fitted } from "./fitted.ts"
import { objectWith } from "./json.ts"

const ID = /^(?:qzcall\d+|functions\..*:\d+|[A-Za-z0-9]{9})$/

/** Name and arguments as members of one JSON object. */
export function fitEnvelope({ one, pair }: Samples): Fitted | undefined {
  const found = objectWith(one, [WORDS.first, WORDS.key])
  if (found === undefined) return undefined
  const members = membersOf(found.value)
  if (members === undefined) return undefined
  const block = splitBlock({
    before: one.slice(0, found.start),
    after: one.slice(found.end),
    between: pair === undefined ? undefined : between(pair),
  })
  const syntax: EnvelopeSyntax = { codec: "envelope", ...members.syntax, ...wrapped(block) }
  return {
    syntax,
    turnEnd: block.turnEnd,
    ...(members.ordinal ? { ids: "ordinal" as const } : {}),
    notes: members.notes,
  }
}

function between(pair: string): string | undefined {
  const first = objectWith(pair, [WORDS.first, WORDS.key])
  const second = objectWith(pair, [WORDS.second, WORDS.otherKey])
  return first === undefined || second === undefined ? undefined : pair.slice(first.end, second.start)
}

/** Which members hold what. */
function membersOf(
  value: Record<string, unknown>,
): { syntax: Pick<EnvelopeSyntax, "keys" | "nameAsKey" | "idFirst">; ordinal: boolean; notes: string[] } | undefined {
  const entries = Object.entries(value)
  if (typeof value[WORDS.first] === "object")
    return { syntax: { keys: { name: "name", arguments: "arguments" }, nameAsKey: true }, ordinal: false, notes: [] }
  const name = entries.findIndex(([, member]) => member === WORDS.first)
  const args = entries.findIndex(([, member]) => JSON.stringify(member).includes(WORDS.key))
  if (name < 0 || args < 0) return undefined
  const id = entries.findIndex(
    ([key, member], index) =>
      index !== name &&
      index !== args &&
      (ID.test(String(member)) || (/id/i.test(key) && /^\d+$/.test(String(member)))),
  )
  const notes: string[] = []
  if (typeof entries[args]![1] === "string") notes.push("The arguments are JSON within a string; we print the object.")
  if (args < name) notes.push("The arguments come before the name; we print the name first.")
  const others = entries.filter((_, index) => index !== name && index !== args && index !== id).map(([key]) => key)
  if (others.length > 0) notes.push(`Further members are not printed: ${others.join(", ")}.`)
  return {
    syntax: {
      keys: { name: entries[name]![0], arguments: entries[args]![0], ...(id < 0 ? {} : { id: entries[id]![0] }) },
      ...(id >= 0 && id < name ? { idFirst: true } : {}),
    },
    ordinal: id >= 0 && /^\d+$/.test(String(entries[id]![1])),
    notes,
  }
}
