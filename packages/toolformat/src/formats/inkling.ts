import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"

const END = ["<|end_message|>", "<|content_model_end_sampling|>"]

/** Inkling: every message says its kind; a call's is headed by the tool's name. Source: reference parsers. */
export const inkling: Format = {
  id: "inkling",
  aliases: ["inkling-1"],
  title: "A message of the kind <|content_invoke_tool_json|>: Inkling",
  calls: [
    {
      codec: "envelope",
      keys: { name: "name", arguments: "args" },
      header: { open: "<|message_model|>", end: "<|content_invoke_tool_json|>", close: END },
      atStart: true,
    },
  ],
  reasoning: { open: ["<|content_thinking|>"], close: END },
  framing: ["<|message_model|>", "<|content_text|>", "<|content_invoke_tool_text|>", "<|content_tool_error|>", ...END],
  ids: "call",
  stop: ["<|content_model_end_sampling|>"],
  prompt: toolLinesPrompt,
  result: (call, result) => `<|message_tool|>${call.name}<|content_text|>${resultText(result)}<|end_message|>`,
  templateMarkers: [["<|content_invoke_tool_json|>"]],
}
