import {
  choice, grammarOf, grammarToGbnf, literal, modelJsonNotation, pythonNotation, schemaExpression, sequence,
  type Expression, type Grammar, type Notation,
} from "@toolwright/logits"
import type { ToolDefinition } from "@toolwright/toolbox"

/** A family's call syntax as a grammar: exactly one call of one of the tools. */
export interface FamilyGrammar {
  /** The format that reads it, as `formatterById` knows it. */
  readonly format: string
  grammar(tools: readonly ToolDefinition[]): Grammar
}

const noObjectMarks = { open: "", separator: "", close: "" }

/** Qwen3-Coder: each parameter in a tag; texts bare, everything else as JSON. */
const parameterValue: Notation = {
  ...modelJsonNotation,
  id: "parameter-value",
  // Readers forgive missing line breaks and closing tags, so no tag of the syntax may stand in a text.
  string: { kind: "bare", stop: ["\n</parameter>", "</parameter>", "</function>", "</tool_call>", "<parameter=", "<function="] },
  whitespace: "none",
  nested: modelJsonNotation,
}
const equalsTagNotation: Notation = {
  ...modelJsonNotation,
  id: "equals-tags",
  object: { ...noObjectMarks, beforeKey: "<parameter=", key: { kind: "bare", stop: [">"] }, afterKey: ">\n", afterValue: "\n</parameter>\n" },
  whitespace: "none",
  nested: parameterValue,
}

/** Keyword arguments of a Python call. */
const keywordNotation: Notation = {
  ...pythonNotation,
  id: "keywords",
  object: { ...noObjectMarks, beforeKey: "", key: { kind: "bare", stop: ["="] }, afterKey: "=", afterValue: "", separator: ", " },
  whitespace: "none",
  nested: pythonNotation,
}

function family(format: string, before: (name: string) => string, after: string, notation: Notation): FamilyGrammar {
  const call = (tool: ToolDefinition): Expression => sequence(literal(before(tool.name)), schemaExpression(tool.schema, { notation }), literal(after))
  return { format, grammar: (tools) => grammarOf(choice(...tools.map(call))) }
}

export const FAMILY_GRAMMARS: readonly FamilyGrammar[] = [
  family("hermes", (name) => `<tool_call>\n{"name": "${name}", "arguments": `, "}\n</tool_call>", modelJsonNotation),
  family("llama3", (name) => `{"name": "${name}", "parameters": `, "}", modelJsonNotation),
  family("mistral", (name) => `[TOOL_CALLS][{"name": "${name}", "arguments": `, "}]", modelJsonNotation),
  family("generic", (name) => `{"tool": "${name}", "args": `, "}", modelJsonNotation),
  family("qwen3-xml", (name) => `<tool_call>\n<function=${name}>\n`, "</function>\n</tool_call>", equalsTagNotation),
  family("pythonic", (name) => `[${name}(`, ")]", keywordNotation),
]

export const gbnfOf = (own: FamilyGrammar, tools: readonly ToolDefinition[]): string => grammarToGbnf(own.grammar(tools))
