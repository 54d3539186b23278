import { wildcard, type JsonSchema } from "@toolwright/toolbox"
import { closed, text } from "../schema-parts.ts"
import { excerpt, failed, passed, type GraderKind, type TrialCall } from "./kind.ts"
import { patternFault, patternIn } from "./pattern.ts"

/** Calls of a tool that are meant. */
export interface CallPattern {
  /** Its name; `*` and `?` stand for characters. */
  tool: string
  /**
   * Arguments that are among those of the call. Where one is a text, `{ matches: … }` and `{ contains: … }` stand for
   * texts of that form.
   */
  with?: Record<string, unknown>
  /** Whether they have succeeded; either unless given. */
  succeeded?: boolean
  /** How many there have to be; at least one unless given. */
  times?: number | { atLeast?: number; atMost?: number }
}

const COUNT: JsonSchema = { type: "integer", minimum: 0, maximum: 100_000 }
const PATTERN: Record<string, JsonSchema> = {
  tool: text(200),
  with: { type: "object" },
  succeeded: { type: "boolean" },
}
const EITHER: JsonSchema = { anyOf: [text(200), closed(PATTERN, ["tool"])] }

export const calledKind: GraderKind<string | CallPattern> = {
  schema: {
    anyOf: [
      text(200),
      closed({ ...PATTERN, times: { anyOf: [COUNT, closed({ atLeast: COUNT, atMost: COUNT })] } }, ["tool"]),
    ],
  },
  title: (said) => `called ${shown(patternOf(said))}`,
  mistakes: (said) => patternMistakes(patternOf(said)),
  async grade(said, { calls }) {
    const pattern = patternOf(said)
    const there = calls.filter((call) => isMeant(call, pattern)).length
    const { times = { atLeast: 1 } } = pattern
    const { atLeast = 0, atMost = Infinity } = typeof times === "number" ? { atLeast: times, atMost: times } : times
    const counted = `${shown(pattern)} was called ${there === 1 ? "once" : `${there} times`}`
    return there >= atLeast && there <= atMost ? passed(counted) : failed(`${counted}; ${made(calls)}`)
  },
}

/** One that was refused or denied was called all the same. */
export const notCalledKind: GraderKind<string | CallPattern> = {
  schema: EITHER,
  title: (said) => `not called ${shown(patternOf(said))}`,
  mistakes: (said) => patternMistakes(patternOf(said)),
  async grade(said, { attempted }) {
    const pattern = patternOf(said)
    const call = attempted.find((each) => isMeant(each, pattern))
    if (call === undefined) return passed(`${shown(pattern)} was not called`)
    return failed(`${call.name} was called with ${excerpt(JSON.stringify(call.arguments))}`)
  },
}

export const inOrderKind: GraderKind<(string | CallPattern)[]> = {
  schema: { type: "array", items: EITHER, minItems: 2, maxItems: 100 },
  title: (said) => `in order ${said.map((each) => patternOf(each).tool).join(", ")}`,
  mistakes: (said) => said.flatMap((each) => patternMistakes(patternOf(each))),
  async grade(said, { calls }) {
    let at = 0
    for (const each of said) {
      const pattern = patternOf(each)
      while (at < calls.length && !isMeant(calls[at]!, pattern)) at++
      if (at === calls.length) return failed(`${shown(pattern)} was not called in its turn; ${made(calls)}`)
      at++
    }
    return passed("they were called in that order")
  },
}

const patternOf = (said: string | CallPattern): CallPattern => (typeof said === "string" ? { tool: said } : said)

function isMeant({ name, arguments: args, succeeded }: TrialCall, pattern: CallPattern): boolean {
  if (!wildcard(pattern.tool, name)) return false
  if (pattern.succeeded !== undefined && pattern.succeeded !== succeeded) return false
  return pattern.with === undefined || isWithin(pattern.with, args)
}

/** Whether all that is wanted is there: of objects their keys, of all else the same. */
function isWithin(wanted: unknown, there: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(there) && wanted.length === there.length && wanted.every((each, at) => isWithin(each, there[at]))
    )
  if (typeof wanted !== "object" || wanted === null) return Object.is(wanted, there)
  const { matches, contains } = wanted as { matches?: unknown; contains?: unknown }
  if (typeof there === "string") {
    const some = matches !== undefined || contains !== undefined
    return (
      some &&
      (matches === undefined || patternIn(String(matches), there)) &&
      (contains === undefined || there.includes(String(contains)))
    )
  }
  if (typeof there !== "object" || there === null || Array.isArray(there)) return false
  return Object.entries(wanted).every(
    ([key, value]) => Object.hasOwn(there, key) && isWithin(value, (there as Record<string, unknown>)[key]),
  )
}

function patternMistakes({ with: wanted }: CallPattern): string[] {
  return patternsIn(wanted).flatMap((pattern) => {
    const fault = patternFault(pattern)
    return fault === undefined ? [] : [`with: ${fault}`]
  })
}

function patternsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return []
  const { matches } = value as { matches?: unknown }
  return [...(typeof matches === "string" ? [matches] : []), ...Object.values(value).flatMap(patternsIn)]
}

function shown({ tool, with: wanted }: CallPattern): string {
  return wanted === undefined ? tool : `${tool} ${excerpt(JSON.stringify(wanted), 80)}`
}

/** The calls that there were, so that one sees what was called in its place. */
function made(calls: readonly TrialCall[]): string {
  if (calls.length === 0) return "nothing was called"
  const names = calls.map(({ name, arguments: args }) => `${name} ${excerpt(JSON.stringify(args), 60)}`)
  return `there were: ${names.slice(0, 8).join("; ")}${names.length > 8 ? `; and ${names.length - 8} more` : ""}`
}
