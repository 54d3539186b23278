/** What may be worked out for a schema, and for all schemas of one grammar. */
import type { Dfa } from "../automaton/dfa.ts"
import { type ObjectSet, SchemaProblem, type StringSet } from "./types.ts"

/**
 * Counts work as it is done. A short schema can ask for more than all others together, and its size does not tell: so
 * what is bounded is what is done, in units of some two microseconds.
 */
export interface Effort {
  /** @throws SchemaProblem once there is nothing left, and again each time */
  spend(units: number): void
  /** Whether nothing is left. */
  isSpent(): boolean
  /** From now on nothing is counted: what was worked out is used. */
  end(): void
}

/** For one schema. The dearest of 400 real ones takes four tenths of it. */
const MOST_FOR_ONE = 400_000
/** For the schemas of all tools that one grammar lets be called. */
const MOST_FOR_ALL = 1_000_000

/** @param within what schemas share that are worked out for one grammar */
export function effortForOne(within?: Effort): Effort {
  return counted(MOST_FOR_ONE, "the schema takes too much work", within)
}

/** What the schemas of several tools share. */
export function effortForAll(): Effort {
  return counted(MOST_FOR_ALL, "the schemas of all tools together take too much work")
}

function counted(most: number, problem: string, within?: Effort): Effort {
  let left = most
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new SchemaProblem(problem)
      within?.spend(units)
    },
    isSpent: () => left < 0,
    end() {
      left = Infinity
      within = undefined
    },
  }
}

/** Of bringing two kinds of objects together: their rules are compared with each other. */
export function unitsOfObjects(a: ObjectSet, b: ObjectSet): number {
  return 1 + ((a.rules.length + 1) * (b.rules.length + 1) + a.names.length + b.names.length) / 64
}

/** Of bringing two kinds of texts together, once their language is known. */
export function unitsOfStrings(a: StringSet, b: StringSet, both: Dfa | undefined): number {
  if (both === undefined || both === a.language || both === b.language) return 1
  return unitsOfLanguage(both) + (a.language.cuts.length + b.language.cuts.length) / 4
}

export function unitsOfLanguage({ size, classes, cuts }: Dfa): number {
  return 20 + (size * classes) / 4 + cuts.length / 4
}
