import { grammarToGbnf } from "./from-grammar.ts"
import type { Schema } from "../schema/json-schema.ts"
import { lowerGrammar } from "../lowering/index.ts"
import { schemaToGrammar, type SchemaGrammarOptions } from "../constraint/schema-grammar.ts"

/**
 * A schema as GBNF text for llama.cpp: the same bytes for the same schema, keys in its own order.
 *
 * @throws ToolwrightError `SCHEMA_REFUSED` where the schema cannot be expressed, `GRAMMAR_REFUSED` where GBNF cannot
 *   say it
 * @example
 * schemaToGBNF({ type: "object", properties: { city: { type: "string" } }, required: ["city"] })
 */
export function schemaToGBNF(schema: Schema, options: SchemaGrammarOptions = {}): string {
  return grammarToGbnf(lowerGrammar(schemaToGrammar(schema, options)))
}
