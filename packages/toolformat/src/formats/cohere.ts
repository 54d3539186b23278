import type { EnvelopeSyntax, Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"
import { fencedJson, jsonList } from "./syntaxes.ts"

const FRAMING = [
  "<|START_RESPONSE|>",
  "<|END_RESPONSE|>",
  "<|START_TEXT|>",
  "<|END_TEXT|>",
  "<|CHATBOT_TOKEN|>",
  "<|END_OF_TURN_TOKEN|>",
]
const KEYS = { name: "tool_name", arguments: "parameters" }

const action: EnvelopeSyntax = {
  ...jsonList(["<|START_ACTION|>"], ["<|END_ACTION|>"]),
  keys: { ...KEYS, id: "tool_call_id" },
  idFirst: true,
  layout: { before: "[\n    ", between: ",\n    ", after: "\n]" },
}

const actionBlock: EnvelopeSyntax = {
  ...jsonList(["Action: ```json\n", "Action:\n```json\n"], ["```"]),
  wrapper: { open: ["Action: ```json\n", "Action:\n```json\n"], close: ["```"], soft: true },
  keys: KEYS,
  layout: { before: "[\n    ", between: ",\n    ", after: "\n]\n" },
}

/**
 * Command R7B, Command A: a list of actions; ids are places in the conversation. Source: the official chat templates.
 */
export const cohere: Format = {
  id: "command-r7b",
  aliases: ["cohere", "cohere-command3", "cohere-command4", "cohere2", "cohere2moe", "command-a", "north"],
  title: "A JSON list between <|START_ACTION|> and <|END_ACTION|>: Command R7B, Command A",
  calls: [action, actionBlock],
  reasoning: { open: ["<|START_THINKING|>"], close: ["<|END_THINKING|>"] },
  framing: FRAMING,
  ids: "ordinal",
  stop: ["<|END_OF_TURN_TOKEN|>"],
  prompt: toolLinesPrompt,
  result: (call, result) =>
    wrapped({ tool_call_id: call.id, results: { "0": resultText(result) }, is_error: result.success ? null : true }),
  templateMarkers: [["<|START_ACTION|>", "<|END_ACTION|>"]],
}

/** Command R and R+ of 2024: a list of actions in a code block. */
export const commandR: Format = {
  ...cohere,
  id: "command-r",
  aliases: ["command-r-plus", "ollama-tmpl-command-r"],
  title: "Action: and a JSON list in a code block: Command R, Command R+",
  calls: [actionBlock, action, fencedJson],
  result: (_call, result) => `<results>\n${resultText(result)}\n</results>`,
  templateMarkers: [
    ["Action:", "directly-answer"],
    ["Action:", "json-formatted list of actions"],
  ],
}

const wrapped = (result: object): string =>
  `<|START_TOOL_RESULT|>[\n    ${JSON.stringify(result)}\n]<|END_TOOL_RESULT|>`
