import type { Backend, InferRequest } from "@toolwright/backends"
import { grammarToGbnf, schemaToGrammar } from "@toolwright/logits"
import type { JsonObject } from "@toolwright/toolbox"

/**
 * The part of a request that holds a reply to a JSON Schema: by the schema where the server takes one, by a grammar
 * made of it where it takes those. Nothing where it takes neither; the model is told in words in any case.
 */
export function holdTo(schema: JsonObject, { abilities }: Backend): Partial<InferRequest> {
  if (abilities.jsonSchema) return { jsonSchema: schema }
  if (!abilities.grammar) return {}
  try {
    return { grammar: grammarToGbnf(schemaToGrammar(schema)) }
  } catch {
    // What no grammar can say is still compared with the answer.
    return {}
  }
}
