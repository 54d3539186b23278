/**
 * From a rich grammar to plain rules, for GBNF. The plain rules never have a text that the rich ones do not; they have fewer:
 * keys stand in the schema's order, white space between parts is at most a line break and some indentation, and numbers have a
 * bounded number of digits, as it does a model good.
 */
import { grammarError } from "../../matcher/grammar-error.ts"
import { SchemaProblem } from "../../schema/types.ts"
import { chars, choice, type Expression, type Grammar, literal, type PlainExpression, type PlainGrammar, repeat, sequence } from "../rules.ts"
import { languageExpression, textWithout } from "./languages.ts"
import { createRuleBook } from "./rule-book.ts"
import { simplifyRules } from "./simplify.ts"
import { createValueLowering } from "./values.ts"

/** @throws ToolwrightError `GRAMMAR_REFUSED` where plain rules cannot say it within bounds */
export function lowerGrammar(grammar: Grammar): PlainGrammar {
  const book = createRuleBook(grammar.rules.keys())
  const values = createValueLowering(book, "ws")
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
        return languageExpression(textWithout(expression.markers), { id: "raw", text: (text) => text, chars: (ranges) => chars(...ranges) }, book, key, "text")
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
    const why = problem instanceof RangeError ? "it is nested too deep" : problem instanceof SchemaProblem ? problem.message : undefined
    if (why === undefined) throw problem
    throw grammarError(`Plain rules cannot say this grammar: ${why}.`, { code: "GRAMMAR_REFUSED", hint: "Use the masks of the matcher instead, or change the schema." })
  }
  const rules = new Map([...lowered, ...book.rules])
  if (space) rules.set("ws", whiteSpace())
  return { start: grammar.start, rules: simplifyRules(grammar.start, rules), ...(grammar.triggers === undefined ? {} : { triggers: grammar.triggers }) }
}

function usesSpace(notation: { whitespace: "json" | "none"; nested?: Parameters<typeof usesSpace>[0] }): boolean {
  return notation.whitespace === "json" || (notation.nested !== undefined && usesSpace(notation.nested))
}

/** Nothing, a space, or a line break with indentation. */
function whiteSpace(): PlainExpression {
  return choice(literal(""), literal(" "), sequence(literal("\n"), repeat(chars([0x09, 0x09], [0x20, 0x20]), 0, 20)))
}
