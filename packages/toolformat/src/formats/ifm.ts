import type { Format, ParametersSyntax } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { taggedJson } from "./syntaxes.ts"

const wrapper = {
  open: ["<ifm|tool_calls>"],
  close: ["</ifm|tool_calls>"],
  openOptional: true,
  closeOptional: true,
} as const

/** Name, keys and values in tags, the values' types between them where the prompt asked for it. */
const tags: ParametersSyntax = {
  codec: "parameters",
  wrapper,
  layout: { before: "\n", between: "\n", after: "\n" },
  together: true,
  call: { open: ["<ifm|tool_call>"], nameEnd: ["\n"], close: ["</ifm|tool_call>"] },
  parameter: {
    open: ["<ifm|arg_key>"],
    keyEnd: ["</ifm|arg_key>\n<ifm|arg_value>", "</ifm|arg_key>\n<ifm|arg_type>"],
    close: ["</ifm|arg_value>"],
  },
  typeTag: { open: "</ifm|arg_key>\n<ifm|arg_type>", close: "</ifm|arg_type>\n<ifm|arg_value>" },
  lines: { afterParameter: "\n" },
}

/** K2 Horizon: GLM's tags with a prefix, or JSON in the outermost of them. Source: a reference parser. */
export const k2Horizon: Format = {
  id: "k2-horizon",
  aliases: ["k2_horizon", "k2-v3"],
  title: "<ifm|arg_key> and <ifm|arg_value>: K2 Horizon",
  calls: [tags, { ...taggedJson(["<ifm|tool_call>"], ["</ifm|tool_call>"]) }],
  reasoning: {
    open: ["<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>"],
    close: ["</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"],
  },
  framing: ["<ifm|tool_calls>", "</ifm|tool_calls>"],
  ids: "call",
  stop: ["<ifm|tool_response>"],
  prompt: toolLinesPrompt,
  result: between("<ifm|tool_response>\n", "\n</ifm|tool_response>"),
  templateMarkers: [["<ifm|tool_call>"]],
}
