import type { EnvelopeSyntax, Format, NamedSyntax } from "../engine/syntax.ts"
import { toolLineArrayPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"
import { jsonList, think } from "./syntaxes.ts"

const list: EnvelopeSyntax = {
  ...jsonList(["[TOOL_CALLS]"], ["[/TOOL_CALLS]"]),
  wrapper: { open: ["[TOOL_CALLS]"], close: ["[/TOOL_CALLS]"], closeOptional: "never printed" },
  keys: { name: "name", arguments: "arguments", id: "id" },
  layout: { before: "[", between: ", ", after: "]" },
}

/** Names and arguments behind marks; a tokenizer that drops special tokens leaves `[ARGS]` out. */
const marked: NamedSyntax = {
  codec: "named",
  open: ["[TOOL_CALLS]"],
  middle: ["[ARGS]"],
  idMark: "[CALL_ID]",
  close: [],
}

/**
 * Mistral 7B v0.3, Nemo, Mixtral: one array of calls. Ids are nine letters and digits. Source: the official chat
 * templates.
 */
export const mistral: Format = {
  id: "mistral",
  aliases: ["mistral-v3", "mixtral", "mistral-nemo", "ollama-tmpl-mistral"],
  title: "[TOOL_CALLS] and a JSON array: Mistral 7B v0.3, Nemo, Mixtral",
  calls: [list, marked],
  reasoning: { open: ["[THINK]", ...think.open], close: ["[/THINK]", ...think.close] },
  framing: ["</s>"],
  ids: "nine",
  stop: ["</s>", "[TOOL_RESULTS]"],
  prompt: toolLineArrayPrompt,
  result: (call, result) =>
    `[TOOL_RESULTS]${JSON.stringify({ content: resultText(result), call_id: call.id })}[/TOOL_RESULTS]`,
  templateMarkers: [["[TOOL_CALLS]", "[AVAILABLE_TOOLS]"], ["[TOOL_CALLS]"]],
}

/** Mistral Small 3.2: the call's id stands in the text. */
export const mistralWithIds: Format = {
  ...mistral,
  id: "mistral-small-3.2",
  aliases: ["mistral-small", "mistral-v7"],
  title: "[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}: Mistral Small 3.2",
  calls: [marked, list],
  result: (call, result) => `[TOOL_RESULTS]${call.id}[TOOL_CONTENT]${resultText(result)}[/TOOL_RESULTS]`,
  templateMarkers: [["[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", "[AVAILABLE_TOOLS]"]],
}

/** Devstral, Magistral, Ministral 3, Mistral Large 3: name, `[ARGS]`, arguments. */
export const mistralTekken: Format = {
  ...mistral,
  id: "mistral-v11",
  aliases: ["mistral-v13", "mistral-v15", "devstral", "magistral", "ministral", "ministral-3", "mistral-large-3"],
  title: "[TOOL_CALLS]name[ARGS]{…}: Devstral, Magistral, Ministral 3",
  calls: [{ codec: "named", open: ["[TOOL_CALLS]"], middle: ["[ARGS]"], close: [] }, marked, list],
  result: (_call, result) => `[TOOL_RESULTS]${resultText(result)}[/TOOL_RESULTS]`,
  templateMarkers: [["[TOOL_CALLS]", "[ARGS]", "[AVAILABLE_TOOLS]"]],
}
