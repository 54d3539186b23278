import type { Format } from "../engine/syntax.ts"
import { hermes } from "./hermes.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between, resultText } from "./results.ts"
import { jsonList, taggedJson, think } from "./syntaxes.ts"

const STOP = ["<|end_of_text|>"]

/** Granite 4: the syntax of Hermes. Source: the official chat templates. */
export const granite4: Format = {
  ...hermes,
  id: "granite4",
  aliases: ["granite-4.0", "granite-4.1"],
  title: "JSON in <tool_call> tags: Granite 4",
  framing: STOP,
  stop: STOP,
  templateMarkers: [["<|start_of_role|>", "<tool_call>"]],
}

/** Granite 3: a list of calls behind a mark that changed its spelling. */
export const granite3: Format = {
  id: "granite3",
  aliases: ["granite", "granite-3.0", "granite-3.3"],
  title: "<|tool_call|> and a JSON list: Granite 3",
  calls: [
    jsonList(["<|tool_call|>"]),
    {
      ...jsonList(["<tool_call>"], ["</tool_call>"]),
      wrapper: { open: ["<tool_call>"], close: ["</tool_call>"], closeOptional: true },
    },
  ],
  reasoning: think,
  framing: ["<response>", "</response>", ...STOP],
  ids: "call",
  stop: STOP,
  prompt: toolLinesPrompt,
  result: (_call, result) => resultText(result),
  templateMarkers: [["<|tool_call|>", "<|start_of_role|>"]],
}

/** Granite 20B function calling: a mark before each object. */
export const granite20b: Format = {
  ...granite3,
  id: "granite-20b-fc",
  aliases: ["granite-20b-functioncalling"],
  title: "<function_call> before each JSON object: Granite 20B FC",
  calls: [
    {
      ...taggedJson(["<function_call>"], []),
      wrapper: { open: ["<function_call>"], close: [], closeOptional: true },
      layout: { before: " " },
    },
  ],
  result: between("", ""),
  templateMarkers: [["<function_call>", "<|function_call_library|>"], ["<function_call>"]],
}
