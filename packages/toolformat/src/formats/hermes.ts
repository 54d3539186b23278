import type { CallSyntax, Format } from "../engine/syntax.ts"
import { qwenPrompt, toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { keyValueTags, taggedJson, think } from "./syntaxes.ts"

const toolCall = taggedJson(["<tool_call>"], ["</tool_call>"])

/** Nous Hermes 2 and 3, and the many that took over its syntax. Source: the official chat templates. */
export const hermes: Format = {
  id: "hermes",
  aliases: [
    "nous",
    "bielik",
    "mimo",
    "smollm3",
    "qwq",
    "reka",
    "reka-edge",
    "mirothinker",
    "exaone",
    "exaone4",
    "hermes-2-pro",
    "hermes-3",
    "tng",
    "xiaomi-mimo",
    "exaone-moe",
  ],
  title: "JSON in <tool_call> tags: Hermes, QwQ, MiMo, SmolLM3, Bielik, Reka",
  calls: [toolCall],
  reasoning: think,
  framing: ["<|im_end|>"],
  ids: "call",
  stop: ["<|im_end|>", "<tool_response>"],
  prompt: toolLinesPrompt,
  result: between("<tool_response>\n", "\n</tool_response>"),
  templateMarkers: [["<tool_call>", "arguments"], ["<tool_call>"]],
}

/** Qwen 2.5 and Qwen 3 other than the coder models: the syntax of Hermes, with parameters listed inline. */
export const qwen: Format = {
  ...hermes,
  id: "qwen2.5",
  aliases: [
    "qwen",
    "qwen2",
    "qwen2.5-coder",
    "qwen3",
    "qwen3-vl",
    "qwen3-vl-instruct",
    "qwen3-vl-thinking",
    "qwen3-thinking",
    "ollama-tmpl-qwen",
  ],
  title: "JSON in <tool_call> tags: Qwen 2.5, Qwen 3",
  prompt: qwenPrompt,
  templateMarkers: [["<tool_call>", "Qwen", "arguments"]],
}

/** Trinity: the same; calls inside the reasoning count. */
export const trinity: Format = {
  ...hermes,
  id: "trinity",
  aliases: ["trinity-large", "trinity-mini"],
  title: "JSON in <tool_call> tags, also while thinking: Trinity",
  callsInReasoning: "accept",
  templateMarkers: [],
}

const longcatJson = taggedJson(["<longcat_tool_call>"], ["</longcat_tool_call>"])
const longcatTags: CallSyntax = { ...keyValueTags("", "\n", "longcat_"), untyped: "json" }

/** LongCat: the same in a tag of its own. */
export const longcat: Format = {
  ...hermes,
  id: "longcat",
  aliases: ["longcat-flash"],
  title: "JSON in <longcat_tool_call> tags: LongCat",
  calls: [longcatJson, longcatTags, toolCall],
  namespaces: true,
  reasoning: { open: ["<longcat_think>", "<think>"], close: ["</longcat_think>", "</think>"] },
  templateMarkers: [["<longcat_tool_call>"]],
}

/** LongCat 2 and Flash Lite: keys and values in tags. Source: the vendor's own parser. */
export const longcat2: Format = {
  ...longcat,
  id: "longcat2",
  aliases: ["longcat-2.0", "longcat-flash-lite", "longcat-flash-thinking-2601"],
  title: "<longcat_arg_key> and <longcat_arg_value> by lines: LongCat 2, Flash Lite",
  calls: [longcatTags, longcatJson, toolCall],
  templateMarkers: [["<longcat_arg_key>"]],
}

/** ERNIE 4.5: the syntax of Hermes, the answer between marks. */
export const ernie: Format = {
  ...hermes,
  id: "ernie45",
  aliases: ["ernie", "ernie-4.5"],
  title: "JSON in <tool_call> tags, answers in <response>: ERNIE 4.5",
  framing: ["<response>", "</response>", "<|im_end|>"],
  templateMarkers: [["<tool_call>", "<response>"]],
}
