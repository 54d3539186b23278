import { ToolwrightError, type JsonSchema } from "@toolwright/toolbox"

/** Servers that take a constraint, each in its own words. */
export const CONSTRAINT_SERVERS = ["llama-server", "vllm", "vllm-before-0.12", "sglang", "ollama", "openai"] as const

export type ConstraintServer = (typeof CONSTRAINT_SERVERS)[number]

/**
 * A constraint on a whole reply: a grammar, a schema, or schemas between tags with free text around them. Exactly one.
 */
export type WireConstraint =
  | { readonly grammar: string }
  | { readonly schema: JsonSchema; readonly name?: string }
  | { readonly tags: readonly StructuralTag[]; readonly triggers: readonly string[] }

/** Text held to a schema between two markers. */
export interface StructuralTag {
  readonly begin: string
  readonly schema: JsonSchema
  readonly end: string
}

type Body = Record<string, unknown>

/**
 * The fields that put a constraint into a request body; merge them into it.
 *
 * Sources: llama.cpp `tools/server/README.md`; vLLM "Structured Outputs" (`structured_outputs` since 0.12, `guided_*`
 * before); SGLang "Structured Outputs" (its EBNF is GBNF); Ollama API `format`; OpenAI "Structured model outputs".
 *
 * @throws ToolwrightError `UNSUPPORTED_CONSTRAINT` when the server has nothing of the kind
 * @example
 * constraintBody("llama-server", { grammar: 'root ::= "yes" | "no"' }) // { grammar: 'root ::= "yes" | "no"' }
 */
export function constraintBody(server: ConstraintServer, constraint: WireConstraint): Body {
  if ("grammar" in constraint) return grammarBody(server, constraint.grammar)
  if ("tags" in constraint) return tagsBody(server, constraint)
  return schemaBody(server, constraint.schema, constraint.name ?? "reply")
}

function grammarBody(server: ConstraintServer, grammar: string): Body {
  switch (server) {
    case "llama-server":
      return { grammar }
    case "vllm":
      return { structured_outputs: { grammar } }
    case "vllm-before-0.12":
      return { guided_grammar: grammar }
    case "sglang":
      return { ebnf: grammar }
    default:
      throw unsupported(server, "grammars", "Pass a JSON Schema.")
  }
}

function schemaBody(server: ConstraintServer, schema: JsonSchema, name: string): Body {
  switch (server) {
    case "llama-server":
      return { json_schema: schema }
    case "vllm":
      return { structured_outputs: { json: schema } }
    case "vllm-before-0.12":
      return { guided_json: schema }
    case "ollama":
      return { format: schema }
    case "sglang":
      return { response_format: { type: "json_schema", json_schema: { name: safeName(name), schema } } }
    case "openai":
      // Only strict mode constrains decoding; the schema must then name every property and close every object.
      return { response_format: { type: "json_schema", json_schema: { name: safeName(name), strict: true, schema } } }
  }
}

function tagsBody(
  server: ConstraintServer,
  { tags, triggers }: { tags: readonly StructuralTag[]; triggers: readonly string[] },
): Body {
  const structural = {
    type: "structural_tag",
    structures: tags.map(({ begin, schema, end }) => ({ begin, schema, end })),
    triggers: [...triggers],
  }
  switch (server) {
    case "sglang":
    case "vllm-before-0.12":
      return { response_format: structural }
    case "vllm":
      return { structured_outputs: { structural_tag: JSON.stringify(structural) } }
    default:
      throw unsupported(server, "structural tags", "Pass a grammar or a JSON Schema.")
  }
}

/** OpenAI takes letters, digits, `_` and `-`, up to 64. */
function safeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "reply"
}

function unsupported(server: ConstraintServer, what: string, hint: string): ToolwrightError {
  return new ToolwrightError("UNSUPPORTED_CONSTRAINT", `${server} takes no ${what}.`, { hint })
}

/** Fields of the servers above that constrain a reply. */
const FIELDS = [
  "grammar",
  "json_schema",
  "structured_outputs",
  "guided_json",
  "guided_grammar",
  "guided_regex",
  "guided_choice",
  "ebnf",
  "regex",
  "format",
]

/**
 * The constraints that a request body holds, native tools among them; more than one makes servers fail, some of them by
 * crashing.
 */
export function constraintsIn(body: Readonly<Body>): string[] {
  const found = FIELDS.filter((field) => body[field] !== undefined && body[field] !== null && body[field] !== "")
  const format = body["response_format"]
  if (typeof format === "object" && format !== null && (format as Body)["type"] !== "text")
    found.push("response_format")
  if (Array.isArray(body["tools"]) && body["tools"].length > 0 && body["tool_choice"] !== "none") found.push("tools")
  return found
}
