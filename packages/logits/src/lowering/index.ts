/**
 * From a rich grammar to plain rules, for GBNF. The plain rules never have a text that the rich ones do not; they have
 * fewer: keys stand in the schema's order, white space between parts is at most a line break and some indentation, and
 * numbers have a bounded number of digits, as it does a model good.
 */
import { memory } from "@toolwright/toolbox"
import { grammarError } from "../grammar/grammar-error.ts"
import { limitOf } from "../schema/normalise.ts"
import {
  chars,
  choice,
  type Expression,
  type Grammar,
  literal,
  type PlainExpression,
  type PlainGrammar,
  repeat,
  rule,
  sequence,
} from "../grammar/rules.ts"
import { graphRules } from "./graphs.ts"
import { createHoles, type Decision, type Hole } from "./holes.ts"
import { textWithout } from "../automaton/text-without.ts"
import { languageExpression } from "./languages.ts"
import { createRuleBook } from "./rule-book.ts"
import { simplifyRules } from "./simplify.ts"
import { createValueLowering } from "./values.ts"

/** @throws ToolwrightError `GRAMMAR_REFUSED` where plain rules cannot say it within bounds */
export function lowerGrammar(grammar: Grammar): PlainGrammar {
  const { plain, holes } = lowerAround(grammar)
  if (holes.length === 0) return plain
  const rules = new Map(plain.rules)
  fillHoles(
    grammar,
    holes,
    freePrefix(rules.keys()),
    (name, body) => rules.set(name, body),
    (hole, name) => {
      rules.set(hole.rule, rule(name))
      if (isStand(rules.get(plain.start), hole)) rules.set(plain.start, rule(name))
    },
  )
  return { ...plain, rules }
}

/** The start rule says itself what it would only refer to. */
const isStand = (body: PlainExpression | undefined, { stand }: Hole): boolean =>
  body?.kind === "literal" && body.text === stand

/** A grammar in plain rules, but for the holes in it. */
export interface LoweredAround {
  readonly plain: PlainGrammar
  readonly holes: readonly Hole[]
  readonly decisions: readonly Decision[]
}

const knownFor = memory.derived((_rules: Grammar["rules"]): { all: readonly LoweredAround[] } => ({ all: [] }))
const MAX_KNOWN = 8

/**
 * What of a grammar does not depend on its conversation, made once as long as that has something for the same values.
 */
export function lowerAround(grammar: Grammar): LoweredAround {
  const known = knownFor(grammar.rules)
  const found = known.all.find(({ decisions }) => decisions.every((decision) => decision.holds(grammar.grounding)))
  if (found !== undefined) return found
  const made = lowerAnew(grammar)
  if (made.decisions.length > 0) known.all = [made, ...known.all].slice(0, MAX_KNOWN)
  return made
}

/** A beginning that no rule's name has. */
export function freePrefix(names: Iterable<string>): string {
  const all = [...names]
  let prefix = "said"
  while (all.some((name) => name.startsWith(prefix))) prefix += "-x"
  return prefix
}

/** Makes the rules of what is said, each once, and tells every hole the name of its own. */
export function fillHoles(
  grammar: Grammar,
  holes: readonly Hole[],
  prefix: string,
  add: (name: string, body: PlainExpression) => void,
  fill: (hole: Hole, name: string) => void,
): void {
  const names = new Map<string, string>()
  const numbers = new Map<object, number>()
  const define = (key: string, make: (name: string) => void): string => {
    let name = names.get(key)
    if (name === undefined) {
      names.set(key, (name = `${prefix}-${names.size}`))
      make(name)
    }
    return name
  }
  const numberOf = (object: object): number => {
    if (!numbers.has(object)) numbers.set(object, numbers.size)
    return numbers.get(object)!
  }
  for (const hole of holes) {
    const each = hole.graphs(grammar.grounding!).map((graph) =>
      define(`${numberOf(graph)};${hole.writer.id}`, (name) => {
        for (const [state, body] of graphRules(graph, hole.writer, name)) add(state, body)
      }),
    )
    fill(hole, each.length === 1 ? each[0]! : define(each.join(), (name) => add(name, choice(...each.map(rule)))))
  }
}

function lowerAnew(grammar: Grammar): LoweredAround {
  const book = createRuleBook(grammar.rules.keys())
  const holes = createHoles(book, grammar.grounding)
  const values = createValueLowering(book, "ws", holes)
  const lowered = new Map<string, PlainExpression>()
  let space = false

  function lower(expression: Expression): PlainExpression {
    switch (expression.kind) {
      case "sequence":
        return sequence(...expression.parts.map(lower))
      case "choice":
        return choice(...expression.options.map(lower))
      case "repeat":
        return repeat(lower(expression.of), expression.min, expression.max)
      case "until": {
        const key = `until;${JSON.stringify(expression.markers)}`
        return languageExpression(
          textWithout(expression.markers),
          { id: "raw", text: (text) => text, chars: (ranges) => chars(...ranges) },
          book,
          key,
          "text",
        )
      }
      case "value":
        space ||= usesSpace(expression.notation)
        return values.value(expression.type, expression.notation)
      default:
        return expression
    }
  }

  try {
    for (const [name, body] of grammar.rules) lowered.set(name, lower(body))
  } catch (problem) {
    const why = limitOf(problem)
    if (why === undefined) throw problem
    throw grammarError(`Plain rules cannot say this grammar: ${book.explain(problem, why)}.`, {
      code: "GRAMMAR_REFUSED",
      hint: "Use the masks of the matcher instead, or change the schema.",
    })
  }
  const rules = new Map([...lowered, ...book.rules])
  if (space) rules.set("ws", whiteSpace())
  const plain = {
    start: grammar.start,
    rules: simplifyRules(grammar.start, rules),
    ...(grammar.triggers === undefined ? {} : { triggers: grammar.triggers }),
  }
  return { plain, holes: holes.holes, decisions: holes.decisions }
}

function usesSpace(notation: { whitespace: "json" | "none"; nested?: Parameters<typeof usesSpace>[0] }): boolean {
  return notation.whitespace === "json" || (notation.nested !== undefined && usesSpace(notation.nested))
}

/** Nothing, a space, or a line break with indentation. */
function whiteSpace(): PlainExpression {
  return choice(literal(""), literal(" "), sequence(literal("\n"), repeat(chars([0x09, 0x09], [0x20, 0x20]), 0, 20)))
}
