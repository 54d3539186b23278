/**
 * Grounded values in plain rules. Everything else of a grammar is lowered once, with a rule of its own in the place of
 * each grounded text; what these rules say is filled in for each conversation.
 */
import type { TextGraph } from "../lexeme/text-graph.ts"
import type { BoundGrounding } from "../grammar/bound-grounding.ts"
import type { GroundedHole } from "../schema/grounded-hole.ts"
import type { NumberSet, StringSet } from "../schema/types.ts"
import type { StringStyle } from "../grammar/notation.ts"
import { literal, type PlainExpression } from "../grammar/rules.ts"
import type { CharacterWriter } from "./languages.ts"
import type { RuleBook } from "./rule-book.ts"

/** A rule that is filled in later. */
export interface Hole {
  readonly rule: string
  /** What its rule reads until then, unlike anything else. */
  readonly stand: string
  /** How the characters of the texts are written. */
  readonly writer: CharacterWriter
  /** The texts: those of any of the graphs. */
  graphs(grounding: BoundGrounding): readonly TextGraph[]
}

/** Whether a grounded set is a hole, or written as if it were not grounded: where a conversation has nothing for it. */
export interface Decision {
  readonly hole: GroundedHole
  readonly open: boolean
  holds(grounding: BoundGrounding | undefined): boolean
}

export interface HoleMaker {
  readonly holes: Hole[]
  readonly decisions: Decision[]
  /** The rule for the texts of a grounded set; undefined where the set is to be written as it is. */
  text(set: StringSet, style: StringStyle, writer: CharacterWriter): PlainExpression | undefined
  number(set: NumberSet): PlainExpression | undefined
}

const DIGITS: CharacterWriter = { id: "number", text: (text) => text, chars: (ranges) => ({ kind: "chars", ranges }) }

export function createHoles(book: RuleBook, grounding: BoundGrounding | undefined): HoleMaker {
  const holes: Hole[] = []
  const decisions: Decision[] = []
  const make = (hole: GroundedHole, writer: CharacterWriter, graphs: Hole["graphs"]): PlainExpression | undefined => {
    const open = grounding !== undefined && graphs(grounding).length > 0
    decisions.push({ hole, open, holds: (other) => open === (other !== undefined && graphs(other).length > 0) })
    if (!open) return undefined
    const stand = `\u{f0000}${holes.length}\u{f0000}`
    const rule = book.define(`hole;${holes.length}`, `grounded-${holes.length + 1}`, () => literal(stand))
    if (rule.kind === "rule") holes.push({ rule: rule.name, stand, writer, graphs })
    return rule
  }
  return {
    holes,
    decisions,
    text: (set, style, writer) =>
      set.grounded === undefined ? undefined : make(set.grounded, writer, (bound) => bound.strings(set, style)),
    number: (set) =>
      set.grounded === undefined ? undefined : make(set.grounded, DIGITS, (bound) => bound.numbers(set)),
  }
}
