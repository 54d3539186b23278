import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { jsonList, think } from "./syntaxes.ts"

/** Liquid LFM2 and LFM2.5: a Python list of calls between marks. Source: the official chat templates. */
export const lfm2: Format = {
  id: "lfm2",
  aliases: ["lfm2.5", "lfm2-thinking", "lfm", "lfm2-with-json-tools"],
  title: "A Python list of calls between <|tool_call_start|> and <|tool_call_end|>: LFM2",
  calls: [
    {
      codec: "python",
      wrapper: { open: ["<|tool_call_start|>"], close: ["<|tool_call_end|>"] },
      layout: { before: "[", between: ", ", after: "]" },
      together: true,
    },
    jsonList(["<|tool_call_start|>"], ["<|tool_call_end|>"]),
    // LFM2.5 may leave the marks out
    { codec: "python", bare: "anywhere", recovery: true },
  ],
  reasoning: think,
  framing: ["<|im_end|>"],
  ids: "call",
  stop: ["<|im_end|>", "<|tool_response_start|>"],
  prompt: toolLinesPrompt,
  result: between("<|tool_response_start|>", "<|tool_response_end|>"),
  templateMarkers: [
    ["<|tool_call_start|>"],
    ["<|tool_list_start|>"],
    ["<|tool_response_start|>"],
    ["List of tools: ["],
  ],
}

/** OLMo 3: one Python call to a line. Source: a reference parser. */
export const olmo3: Format = {
  ...lfm2,
  id: "olmo3",
  aliases: ["olmo3-think", "olmo-3"],
  title: "Python calls by lines in <function_calls>: OLMo 3",
  calls: [
    {
      codec: "python",
      wrapper: { open: ["<function_calls>"], close: ["</function_calls>"] },
      layout: { between: "\n" },
      together: true,
    },
  ],
  stop: ["<|im_end|>"],
  result: between("", ""),
  templateMarkers: [["<function_calls>", "<functions>"]],
}
