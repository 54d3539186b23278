import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { equalsTags, invokeTags, taggedJson, think } from "./syntaxes.ts"

/**
 * Qwen3-Coder, Qwen 3.5 and later, Nemotron 3, Step 3.5: parameters in tags, values as they are. Exactly one line break
 * on each side of a value is framing. Source: the official chat templates.
 */
export const qwen3Xml: Format = {
  id: "qwen3-xml",
  aliases: [
    "qwen3-coder",
    "qwen3coder",
    "qwen3.5",
    "qwen3.6",
    "qwen3.8",
    "nemotron-3",
    "nemotron3",
    "nemotron-3-nano",
    "nemotron-3.5-nano",
    "nemotron-v3",
    "step3.5",
    "step-3.5",
    "step3p5",
    "stepfun-3.5",
    "step-3.5-flash",
    "ornith",
    "iquest-coder",
    "berrylm",
    "kolibri",
    "kolibri1",
    "mimo-v2",
    "mimov2-flash",
  ],
  title: "Parameters in <parameter=…> tags: Qwen3-Coder, Qwen 3.5+, Nemotron 3, Step 3.5",
  calls: [
    { ...equalsTags("<tool_call>", "</tool_call>"), framed: true },
    taggedJson(["<tool_call>"], ["</tool_call>"]),
    { ...invokeTags("tool_call", "", { invoke: "function" }), framed: true },
  ],
  reasoning: think,
  framing: ["<|im_end|>"],
  ids: "call",
  stop: ["<|im_end|>", "<tool_response>"],
  prompt: toolLinesPrompt,
  result: between("<tool_response>\n", "\n</tool_response>"),
  templateMarkers: [["<function=", "<parameter=", "<tool_call>"]],
}
