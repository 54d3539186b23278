/**
 * What plain rules cost, and which part of the schema brings it about. Steps are counted, not time: the same schema is
 * refused on every machine or on none, and after a second or two of work rather than when the rules are many.
 */
import { SchemaProblem } from "../schema/types.ts"

const MAX_RULES = 6_000
const MAX_STEPS = 4_000_000

export type Kind = "array" | "object" | "number" | "string"

/** What makes the rules of a kind many, and what to do about it. */
const CURES: Readonly<Record<Kind, string>> = {
  array: "take uniqueItems or contains away there, or let fewer values be items",
  object:
    "say less there about which properties go together (minProperties, maxProperties, dependencies, required in anyOf)",
  number: "choose bounds with fewer digits there, or a smaller multipleOf",
  string: "choose a shorter pattern there, or a smaller maxLength and minLength",
}

export interface Ledger {
  within<Result>(segment: string, run: () => Result): Result
  as<Result>(kind: Kind, run: () => Result): Result
  addRule(): void
  spend(steps: number): void
  explain(problem: unknown, why: string): string
}

interface Account {
  readonly path: string
  readonly kind: Kind
  rules: number
  steps: number
}

export function createLedger(): Ledger {
  const accounts = new Map<string, Account>()
  let path = "#"
  let account: Account | undefined
  let rules = 0
  let steps = 0

  function open(kind: Kind): Account {
    const key = `${kind} ${path}`
    let found = accounts.get(key)
    if (found === undefined) accounts.set(key, (found = { path, kind, rules: 0, steps: 0 }))
    return found
  }
  const heaviestBy = (unit: "rules" | "steps"): Account | undefined => {
    let most: Account | undefined
    for (const one of accounts.values()) if (one[unit] > (most?.[unit] ?? 0)) most = one
    return most
  }
  const exhausted = (count: number, unit: "rules" | "steps"): SchemaProblem => {
    const most = heaviestBy(unit)
    const where = most === undefined ? "" : `, most of them for ${placeOf(most)}`
    spent = new SchemaProblem(`it would take more than ${count} ${unit}${where}`)
    return spent
  }
  let spent: SchemaProblem | undefined

  return {
    // A problem leaves the place as it is, so that it can be told.
    within(segment, run) {
      const [outerPath, outerAccount] = [path, account]
      path += segment
      account = undefined
      const result = run()
      path = outerPath
      account = outerAccount
      return result
    },
    as(kind, run) {
      const outer = account
      account = open(kind)
      const result = run()
      account = outer
      return result
    },
    addRule() {
      if (account !== undefined) account.rules++
      if (++rules > MAX_RULES) throw exhausted(MAX_RULES, "rules")
    },
    spend(more) {
      if (account !== undefined) account.steps += more
      steps += more
      if (steps > MAX_STEPS) throw exhausted(MAX_STEPS, "steps")
    },
    explain(problem, why) {
      if (problem === spent) return why
      // Where rules refer to each other too deep, those that are many are the reason, not the last.
      const place = problem instanceof RangeError ? heaviestBy("rules") : account
      return place === undefined ? why : `${why}, for ${placeOf(place)}`
    },
  }
}

const placeOf = ({ kind, path }: Account): string => `the ${kind} at ${path} (${CURES[kind]})`
