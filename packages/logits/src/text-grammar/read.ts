/** A grammar of texts, read once. */
import type { TextSyntax } from "@toolwright/toolbox"
import { grammarError } from "../grammar/grammar-error.ts"
import { checkGbnfGrammar, gbnfErrors } from "../gbnf/check.ts"
import type { GbnfGrammar } from "../gbnf/model.ts"
import { describeGbnfProblem, parseGbnf } from "../gbnf/parse.ts"
import { readLark } from "./read-lark.ts"
import { regexNode } from "./regex-nodes.ts"

/** A grammar as it was written. */
export interface ReadGrammar {
  readonly syntax: TextSyntax
  readonly definition: string
}

/** Characters of the longest grammar that is read. */
const LONGEST = 200_000

/** The rules of a grammar; `root` is all of a text. @throws ToolwrightError `INVALID_GRAMMAR` with the place */
export function rulesOf({ syntax, definition }: ReadGrammar): GbnfGrammar {
  if (definition.length > LONGEST) throw grammarError(`A grammar of a text has at most ${LONGEST} characters.`)
  switch (syntax) {
    case "text":
      return { rules: [{ name: "root", body: { kind: "repeat", item: { kind: "any" }, min: 0 } }] }
    case "regex":
      return { rules: [{ name: "root", body: regexBody(definition) }] }
    case "gbnf":
      return readAsGbnf(definition)
    case "lark":
      return checked(readLark(definition))
  }
}

function regexBody(definition: string) {
  try {
    return regexNode(definition)
  } catch (thrown) {
    throw grammarError(`The regular expression ${definition.slice(0, 100)}: ${(thrown as Error).message}.`)
  }
}

function readAsGbnf(definition: string): GbnfGrammar {
  const [error] = gbnfErrors(definition)
  if (error !== undefined) throw grammarError(`The GBNF grammar: ${describeGbnfProblem(error)}`)
  return parseGbnf(definition)
}

/** What Lark allows beyond GBNF is that a rule begins with itself, and that something empty is repeated. */
function checked(grammar: GbnfGrammar): GbnfGrammar {
  const error = checkGbnfGrammar(grammar).find(({ code, rule }) => code === "never-ends" && rule !== "root")
  if (error === undefined) return grammar
  throw grammarError(
    `The Lark grammar, line ${error.line}, column ${error.column}: no text can match '${larkName(error.rule ?? "")}'.`,
    { hint: "A rule that needs itself in every way never ends." },
  )
}

/** The name that a rule has in the grammar as it was written. */
export function larkName(rule: string): string {
  return rule.replace(/^lark-/, "").replaceAll("-", "_")
}
