import { ToolwrightError } from "@toolwright/toolbox"
import { isNullable, nullableRules } from "./check.ts"
import type { CodePointRange } from "../grammar/rules.ts"
import type { GbnfGrammar, GbnfNode, GbnfRule } from "./model.ts"

/**
 * One step of the matcher's program. `next` is where matching goes on; `-1` stands for the end of the rule.
 *
 * A repetition whose item may be empty has a minimum of 0, since empty rounds could fill it up.
 */
export type Step =
  | { readonly op: "characters"; readonly ranges: readonly CodePointRange[]; readonly next: number }
  | { readonly op: "token"; readonly id: number; readonly negated: boolean; readonly next: number }
  | { readonly op: "call"; readonly rule: number; readonly next: number }
  | { readonly op: "split"; readonly next: readonly number[] }
  | { readonly op: "repeat"; readonly body: number; readonly min: number; readonly max: number; readonly next: number }

export interface Program {
  readonly steps: readonly Step[]
  /** Where each rule begins. */
  readonly entries: readonly number[]
  readonly root: number
  readonly hasTokens: boolean
  /** How many positions and frames were made for it: each has a number of its own. */
  readonly counts: { positions: number; frames: number; steps: number }
}

/** The end of a rule or of a repetition's body. */
export const RETURN = -1
const HIGHEST = 0x10ffff

/** How a grammar's `<text>` tokens get their numbers, and which rule it begins with. */
export interface GbnfMatcherOptions {
  readonly root?: string
  /** The number of the one token with this text, brackets included. */
  readonly tokenId?: (text: string) => number | undefined
}

/**
 * Translates a grammar for the matcher.
 *
 * @throws ToolwrightError `GBNF_INVALID` for an undefined rule, a missing root, or a token that the vocabulary does not
 *   have
 */
export function compileGbnf(grammar: GbnfGrammar, options: GbnfMatcherOptions = {}): Program {
  const rules = new Map<string, GbnfRule>(grammar.rules.map((rule) => [rule.name, rule]))
  const names = [...rules.keys()]
  const index = new Map(names.map((name, at) => [name, at]))
  const nullable = nullableRules(rules)
  const steps: Step[] = []
  let hasTokens = false
  const add = (step: Step): number => steps.push(step) - 1

  const ruleIndex = (name: string): number => {
    const at = index.get(name)
    if (at === undefined) throw new ToolwrightError("GBNF_INVALID", `The grammar has no rule '${name}'.`)
    return at
  }

  const emit = (node: GbnfNode, next: number): number => {
    switch (node.kind) {
      case "literal":
        return node.text.reduceRight(
          (after, code) => add({ op: "characters", ranges: [[code, code]], next: after }),
          next,
        )
      case "class":
        if (node.ranges.length === 0) return next
        return add({
          op: "characters",
          ranges: withoutSurrogates(node.negated ? complement(node.ranges) : merge(node.ranges)),
          next,
        })
      case "any":
        return add({ op: "characters", ranges: withoutSurrogates([[0, HIGHEST]]), next })
      case "token": {
        hasTokens = true
        const id = node.id ?? options.tokenId?.(node.text ?? "")
        if (id === undefined) {
          throw new ToolwrightError(
            "GBNF_INVALID",
            `The grammar names the token ${node.text}, which is no single token of this vocabulary.`,
            {
              hint: "Pass `tokenId`, or write the token by its number: <[1000]>.",
            },
          )
        }
        return add({ op: "token", id, negated: node.negated, next })
      }
      case "rule":
        return add({ op: "call", rule: ruleIndex(node.name), next })
      case "sequence":
        return node.items.reduceRight((after, item) => emit(item, after), next)
      case "choice":
        return add({ op: "split", next: node.options.map((option) => emit(option, next)) })
      case "repeat": {
        if (node.max === 0) return next
        const min = isNullable(node.item, nullable) ? 0 : node.min
        return add({
          op: "repeat",
          body: emit(node.item, RETURN),
          min,
          max: node.max ?? Number.POSITIVE_INFINITY,
          next,
        })
      }
    }
  }
  const entries = names.map((name) => emit(rules.get(name)!.body, RETURN))
  return {
    steps,
    entries,
    root: ruleIndex(options.root ?? "root"),
    hasTokens,
    counts: { positions: 0, frames: 0, steps: 0 },
  }
}

/** No text in UTF-8 holds a surrogate. */
function withoutSurrogates(ranges: readonly CodePointRange[]): CodePointRange[] {
  return ranges.flatMap(([first, last]): CodePointRange[] =>
    last < 0xd800 || first > 0xdfff
      ? [[first, last]]
      : (
          [
            [first, 0xd7ff],
            [0xe000, last],
          ] as CodePointRange[]
        ).filter(([from, to]) => from <= to),
  )
}

/** Sorted, disjoint ranges of the same characters. */
export function merge(ranges: readonly CodePointRange[]): CodePointRange[] {
  const merged: [number, number][] = []
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const previous = merged.at(-1)
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last)
    else merged.push([first, last])
  }
  return merged
}

/** The ranges of every other character. */
export function complement(ranges: readonly CodePointRange[]): CodePointRange[] {
  const rest: CodePointRange[] = []
  let from = 0
  for (const [first, last] of merge(ranges)) {
    if (first > from) rest.push([from, first - 1])
    from = last + 1
  }
  if (from <= HIGHEST) rest.push([from, HIGHEST])
  return rest
}
