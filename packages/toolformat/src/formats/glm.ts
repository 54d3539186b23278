import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { keyValueTags, separatedKeyValueTags, think } from "./syntaxes.ts"

const STOP = ["<|user|>", "<|observation|>", "<|endoftext|>"]

/** GLM 4.5 and 4.6: keys and values in tags, one to a line. Source: the official chat templates. */
export const glm45: Format = {
  id: "glm45",
  aliases: ["glm", "glm-4.5", "glm46", "glm-4.6", "laguna-xs", "ling3", "ling-3", "spark2.5", "spark25"],
  title: "<arg_key> and <arg_value> by lines: GLM 4.5, 4.6, Ling 3, Spark 2.5",
  calls: [keyValueTags("", "\n")],
  reasoning: think,
  framing: STOP,
  ids: "call",
  stop: STOP,
  prompt: toolLinesPrompt,
  result: between("<|observation|>\n<tool_response>\n", "\n</tool_response>"),
  templateMarkers: [["<tool_call>", "<arg_key>", "<arg_value>"]],
}

/** GLM 4.7 and 5, Laguna: the same without line breaks. */
export const glm47: Format = {
  ...glm45,
  id: "glm47",
  aliases: ["glm-4.7", "glm5", "glm-5", "laguna", "poolside-v1"],
  title: "<arg_key> and <arg_value> without line breaks: GLM 4.7, GLM 5, Laguna",
  calls: [keyValueTags()],
  result: between("<|observation|><tool_response>", "</tool_response>"),
  templateMarkers: [["<tool_call>", "<arg_key>", "<arg_value>", "</arg_key><arg_value>"]],
}

/**
 * Hunyuan 3: the same tags with a suffix, all calls in one block; the preview model and some servers write them without
 * the suffix. Source: the official chat template.
 */
export const hunyuan3: Format = {
  ...glm45,
  id: "hunyuan3",
  aliases: ["hy3", "hy-v3", "hy_v3", "hunyuan-v3", "hunyuan-3"],
  title: "<arg_key:opensource> tags: Hunyuan 3",
  calls: [separatedKeyValueTags(":opensource"), separatedKeyValueTags()],
  reasoning: {
    open: ["<think:opensource>", ...think.open],
    close: ["</think:opensource>", ...think.close],
  },
  framing: ["<｜hy_eos:opensource｜>"],
  stop: ["<｜hy_eos:opensource｜>"],
  result: between(
    "<tool_responses:opensource>\n<tool_response:opensource>\n",
    "\n</tool_response:opensource>\n</tool_responses:opensource>",
  ),
  templateMarkers: [["hy_Assistant", "tool_sep"], ["<tool_call:opensource>"]],
}
