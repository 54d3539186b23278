import type { PocketCall } from "./call.ts"
import { partsOf, type Choice } from "./reading.ts"
import { opinionOf, valuesIn, type OpinionData } from "./second-opinion.ts"

/** What speaks for and against a call, in the order of {@link EVIDENCE}: logarithms of chances, then counts. */
export type Evidence = readonly number[]

/** The names of what is measured of a call. */
export const EVIDENCE = [
  "call rather than words",
  "tool",
  "least sure argument",
  "which arguments",
  "left to the grammar",
  "second opinion: this tool",
  "second opinion: a tool at all",
  "second opinion: no other tool",
  "words that stand in no phrase",
  "values that it leaves out",
] as const

/** No chance counts for less than this. */
const LEAST = 1e-6

/** A call as it was decoded. */
export interface Decoded {
  readonly request: string
  readonly call: PocketCall
  /** The calls that were made for the same request already. */
  readonly before: readonly PocketCall[]
  readonly reply: string
  readonly choices: readonly Choice[]
}

/**
 * Measures a call: the model's own probabilities, a second opinion on the request's words, and what of the request is
 * in no call.
 */
export function evidenceOf({ request, call, before, reply, choices }: Decoded, data: OpinionData): Evidence {
  const { call: kind, tool, argument, shape, room } = partsOf(reply, choices)
  const { chances, unknown } = opinionOf(request, data)
  const made = [...before, call]
  const names = new Set(made.map(({ name }) => name))
  const others = Math.max(0, ...[...chances].map(([name, chance]) => (names.has(name) || name === "none" ? 0 : chance)))
  const given = made.flatMap(({ arguments: args }) => Object.values(args).map(String)).join("\0")
  const left = valuesIn(request).filter((value) => !given.includes(value.replace(/\/$/, "")))
  return [
    ...[kind, tool, argument, shape, room, chances.get(call.name) ?? 0, 1 - chances.get("none")!, 1 - others].map(
      (chance) => Math.log(Math.max(chance, LEAST)),
    ),
    unknown,
    // Where another tool is asked for too, what is left is for that one.
    others > 0.5 ? 0 : left.length,
  ]
}
