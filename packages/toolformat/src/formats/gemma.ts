import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { gemmaText } from "../engine/codecs/gemma.ts"
import { resultText } from "./results.ts"

/** Gemma 4: bare keys, strings in `<|"|>`. Source: the official chat template. */
export const gemma4: Format = {
  id: "gemma4",
  aliases: ["gemma-4", "gemma4-no-thinking"],
  title: 'call:name{key:<|"|>text<|"|>}: Gemma 4',
  calls: [
    { codec: "gemma", open: "call:", quote: '<|"|>', wrapper: { open: ["<|tool_call>"], close: ["<tool_call|>"] } },
  ],
  reasoning: { open: ["<|channel>thought\n", "<|channel>thought", "<|channel>"], close: ["<channel|>"] },
  framing: ["<turn|>", "<eos>", "<|tool_response>"],
  ids: "call",
  stop: ["<turn|>", "<|tool_response>"],
  prompt: toolLinesPrompt,
  result: (call, result) =>
    `<|tool_response>response:${call.name}${gemmaText({ value: resultText(result) }, '<|"|>')}<tool_response|>`,
  templateMarkers: [["<|tool_call>"]],
}

/** FunctionGemma: the same with another delimiter. Source: the official chat template. */
export const functionGemma: Format = {
  id: "functiongemma",
  aliases: ["function-gemma"],
  title: "call:name{key:<escape>text<escape>}: FunctionGemma",
  calls: [
    {
      codec: "gemma",
      open: "call:",
      quote: "<escape>",
      wrapper: { open: ["<start_function_call>"], close: ["<end_function_call>"] },
    },
  ],
  framing: ["<end_of_turn>", "<start_function_response>"],
  ids: "call",
  stop: ["<end_of_turn>", "<start_function_response>"],
  prompt: toolLinesPrompt,
  result: (call, result) =>
    `<start_function_response>response:${call.name}` +
    `${gemmaText({ value: resultText(result) }, "<escape>")}<end_function_response>`,
  templateMarkers: [["<start_function_call>"]],
}
