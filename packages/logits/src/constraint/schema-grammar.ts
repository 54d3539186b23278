/** From a schema to a grammar. */
import { bindGrammar } from "../grounding/bind.ts"
import type { Grounding } from "../grounding/model.ts"
import { groundSchema } from "../grounding/rules.ts"
import { grammarError } from "../grammar/grammar-error.ts"
import { compileType } from "../schema/compile.ts"
import type { Schema } from "../schema/json-schema.ts"
import type { NormaliseOptions, Reason } from "../schema/normalise.ts"
import { jsonNotation, modelJsonNotation, type Notation } from "../grammar/notation.ts"
import { type Expression, type Grammar, grammarOf, value } from "../grammar/rules.ts"

export interface SchemaGrammarOptions extends NormaliseOptions {
  /** How values are written; JSON where left out. */
  readonly notation?: Notation
  /**
   * What grounded values have to come from; the rules for every tool (`"*"`) count. An expression is grounded when the
   * grammar that it is put into is bound to the conversation, see `bindGrammar`; a grammar made here is bound already.
   */
  readonly grounding?: Grounding
}

/**
 * What a schema came to. `exact`: the grammar has the texts of all valid values and no others. `relaxed`: it may have
 * more; `reasons` says what is left to later validation. `refused`: there is no grammar, `reasons` says why.
 */
export type CompiledSchema =
  | { readonly status: "exact" | "relaxed"; readonly reasons: readonly Reason[]; readonly grammar: Grammar }
  | { readonly status: "refused"; readonly reasons: readonly Reason[]; readonly grammar?: undefined }

/** Every keyword is expressed, refused or, with `relaxed`, listed. Never throws for what a schema says. */
export function compileSchema(schema: Schema, options: SchemaGrammarOptions = {}): CompiledSchema {
  const { grounding } = options
  const compiled = compileType(grounding === undefined ? schema : groundSchema(schema, grounding), options)
  if (compiled.status === "refused") return compiled
  const free = grammarOf(value(compiled.type, options.notation ?? jsonNotation))
  const grammar = grounding === undefined ? free : bindGrammar(free, grounding)
  return { status: compiled.status, reasons: compiled.reasons, grammar }
}

/**
 * A value of a schema, as an expression to put into a call syntax. Unless the options say otherwise, it is narrower
 * than the schema where that does a model good: formats are checked whatever the dialect, whole numbers are written
 * plainly, and objects that declare properties take no others unless a schema says which.
 *
 * @throws ToolwrightError `SCHEMA_REFUSED` where the schema cannot be expressed
 */
export function schemaExpression(schema: Schema, options: SchemaGrammarOptions = {}): Expression {
  const { grounding } = options
  const compiled = compileType(grounding === undefined ? schema : groundSchema(schema, grounding), {
    formats: "assert",
    closed: true,
    anyDialect: true,
    uniqueItems: "finite",
    ...options,
  })
  if (compiled.status !== "refused") {
    if (compiled.type.algebra.inhabited(compiled.type))
      return value(compiled.type, options.notation ?? modelJsonNotation)
    throw grammarError("No value satisfies the schema, so there is nothing that a model could write.", {
      code: "SCHEMA_REFUSED",
    })
  }
  const [reason] = compiled.reasons
  throw grammarError(
    `The schema cannot be turned into an exact grammar: ${reason?.path} ${reason?.keyword}: ${reason?.reason}`,
    {
      code: "SCHEMA_REFUSED",
      hint: "Change the keyword, or set the option relaxed and validate the value afterwards.",
    },
  )
}

/**
 * The grammar that a model is held to so that it writes a value of the schema.
 *
 * @throws ToolwrightError `SCHEMA_REFUSED` where the schema cannot be expressed
 */
export function schemaToGrammar(schema: Schema, options: SchemaGrammarOptions = {}): Grammar {
  const grammar = grammarOf(schemaExpression(schema, options))
  return options.grounding === undefined ? grammar : bindGrammar(grammar, options.grounding)
}
