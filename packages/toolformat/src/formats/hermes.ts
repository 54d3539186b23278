import type { Format } from "../engine/syntax.ts"
import { hermesPrompt, qwenPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { bareJson, fencedJson, taggedJson, think } from "./syntaxes.ts"

/** Nous Hermes 2 and 3, and the many that took over its syntax. Source: the official chat templates. */
export const hermes: Format = {
  id: "hermes",
  aliases: ["nous", "hermes2", "hermes3", "bielik", "mimo", "smollm3", "qwq", "reka"],
  title: "JSON in <tool_call> tags (Hermes, Bielik, MiMo, SmolLM3, QwQ)",
  calls: [taggedJson(["<tool_call>"], ["</tool_call>"]), bareJson, fencedJson],
  reasoning: think,
  framing: ["<|im_end|>"],
  ids: "call",
  stop: ["<|im_end|>", "<tool_response>"],
  prompt: hermesPrompt,
  result: between("<tool_response>\n", "\n</tool_response>"),
  templateMarkers: [["<tool_call>", "<tools>"]],
}

/** Qwen 2.5 and Qwen 3 other than the coder models: the syntax of Hermes, with parameters listed inline. */
export const qwen: Format = {
  ...hermes,
  id: "qwen2.5",
  aliases: ["qwen", "qwen2.5-coder", "qwen3", "ollama-tmpl-qwen"],
  title: "JSON in <tool_call> tags (Qwen 2.5, Qwen 3)",
  prompt: qwenPrompt,
}
