import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { ATTRIBUTE_END, attributeOpen, invokeTags, taggedJson, think } from "./syntaxes.ts"

const STOP = ["[e~["]

/** MiniMax M1: one JSON object to a line in one block. Source: the official chat template. */
export const minimaxM1: Format = {
  id: "minimax-m1",
  aliases: ["minimax"],
  title: "JSON lines in <tool_calls>: MiniMax M1",
  calls: [
    {
      ...taggedJson(["<tool_calls>"], ["</tool_calls>"]),
      layout: { before: "\n", between: "\n", after: "\n" },
      together: true,
    },
  ],
  reasoning: think,
  framing: ["<end_of_sentence>"],
  ids: "call",
  stop: ["<end_of_sentence>"],
  prompt: toolLinesPrompt,
  result: between("tool result: ", ""),
  templateMarkers: [["<tool_calls>", "<end_of_sentence>"]],
}

/** MiniMax M2: Anthropic's tags in a block of its own. Source: the official chat template. */
export const minimaxM2: Format = {
  ...minimaxM1,
  id: "minimax-m2",
  aliases: ["minimax-m2.1"],
  title: "<invoke name=…> in <minimax:tool_call>: MiniMax M2",
  calls: [invokeTags("minimax:tool_call")],
  framing: STOP,
  stop: STOP,
  result: between("<response>", "</response>"),
  templateMarkers: [["<minimax:tool_call>"], ["minimax:tool_call"]],
}

const PREFIX = "]<]minimax[>["

/** MiniMax M3: arguments as nested tags, each behind a prefix. Source: the official chat template. */
export const minimaxM3: Format = {
  ...minimaxM1,
  id: "minimax-m3",
  aliases: [],
  title: "Nested tags behind a prefix: MiniMax M3",
  calls: [
    {
      codec: "nested",
      prefix: PREFIX,
      wrapper: { open: [`${PREFIX}<tool_call>`], close: [`${PREFIX}</tool_call>`] },
      layout: { before: "\n", between: "\n", after: "\n" },
      together: true,
    },
    invokeTags("minimax:tool_call"),
    // the prefix taken away as a special token
    {
      codec: "parameters",
      wrapper: { open: ["<tool_call>"], close: ["</tool_call>"], soft: true },
      call: { open: attributeOpen("invoke"), nameEnd: ATTRIBUTE_END, close: ["</invoke>"] },
      parameter: { open: ["<"], keyEnd: [">"], close: ["</{key}>"] },
      recovery: true,
    },
  ],
  reasoning: { open: ["<mm:think>", "<think>"], close: ["</mm:think>", "</think>"] },
  framing: STOP,
  stop: STOP,
  result: between("<response>", "</response>"),
  templateMarkers: [["]<]minimax[>[", "<tool_call>", "invoke name="]],
}
