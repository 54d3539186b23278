import type { Format, ParametersSyntax } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { keyValueTags, separatedKeyValueTags, think } from "./syntaxes.ts"

const STOP = ["<|user|>", "<|observation|>", "<|endoftext|>"]

/** GLM 4.5 and 4.6: keys and values in tags, one to a line. Source: the official chat templates. */
export const glm45: Format = {
  id: "glm45",
  aliases: ["glm", "glm-4.5", "glm46", "glm-4.6", "laguna-xs", "ling3", "ling-3", "spark2.5", "spark25", "spark3"],
  title: "<arg_key> and <arg_value> by lines: GLM 4.5, 4.6, Ling 3, Spark 2.5",
  calls: [{ ...keyValueTags("", "\n"), untyped: "json" }],
  reasoning: think,
  framing: [...STOP, "</assistant>"],
  ids: "call",
  stop: STOP,
  prompt: toolLinesPrompt,
  result: between("<|observation|>\n<tool_response>\n", "\n</tool_response>"),
  templateMarkers: [["<tool_call>", "<arg_key>", "<arg_value>"]],
}

/** HyperCLOVA X SEED Think: the same in ChatML. Source: a reference parser. */
export const hyperclova: Format = {
  ...glm45,
  id: "hyperclovax",
  aliases: ["hyperclovax-seed-think", "hyperclova"],
  title: "<arg_key> and <arg_value> by lines in ChatML: HyperCLOVA X SEED Think",
  framing: ["<|im_end|>"],
  stop: ["<|im_end|>"],
  result: between("<tool_response>\n", "\n</tool_response>"),
  templateMarkers: [["<tool_call>", "<arg_key>", "<arg_value>", "<|im_end|>"]],
}

/** GLM 4.7 and 5, Laguna: the same without line breaks. */
export const glm47: Format = {
  ...glm45,
  id: "glm47",
  aliases: ["glm-4.7", "glm5", "glm-5", "laguna", "poolside-v1", "glm5.3-flash", "glm53"],
  title: "<arg_key> and <arg_value> without line breaks: GLM 4.7, GLM 5, Laguna",
  calls: [{ ...keyValueTags(), untyped: "json" }],
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

/** All calls in one block, each name directly before its keys; every tag's name with the checkpoint's suffix. */
function suffixedTags(suffix: string): ParametersSyntax {
  return {
    ...separatedKeyValueTags(suffix),
    call: { open: [`<tool_call${suffix}>`], nameEnd: [], close: [`</tool_call${suffix}>`] },
    lines: {},
  }
}

/** Hunyuan 4: the tags of Hunyuan 3 without a mark behind the name. Source: a reference parser. */
export const hunyuan4: Format = {
  ...hunyuan3,
  id: "hunyuan4",
  aliases: ["hy4", "hy-v4", "hunyuan-v4", "hunyuan-4"],
  title: "<arg_key> tags in <tool_calls>: Hunyuan 4",
  calls: ["", ":6124c78e", ":opensource"].map(suffixedTags),
  reasoning: {
    open: ["<think>", "<think:6124c78e>", "<think:opensource>"],
    close: ["</think>", "</think:6124c78e>", "</think:opensource>"],
  },
  templateMarkers: [["<tool_calls>", "<arg_key>", "hy_"]],
}

/** IQuest Coder 2: GLM's tags in one of its own. Source: a reference parser. */
export const iquestCoder2: Format = {
  ...glm45,
  id: "iquest-coder-v2",
  aliases: ["iquest-coder2", "iquestcoder-v2", "iquest-q1"],
  title: "<arg_key> and <arg_value> in <iquestcoder_tool_call>: IQuest Coder 2",
  calls: [
    {
      ...keyValueTags("", "\n"),
      wrapper: {
        open: ["<iquestcoder_tool_call>", "<iquest_tool_call>"],
        close: ["</iquestcoder_tool_call>", "</iquest_tool_call>"],
      },
      untyped: "json",
    },
  ],
  framing: ["<|im_end|>"],
  stop: ["<|im_end|>"],
  result: between("<tool_response>\n", "\n</tool_response>"),
  templateMarkers: [["<iquestcoder_tool_call>"], ["<iquest_tool_call>"]],
}
