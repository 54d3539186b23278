import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt, typescriptPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"

/** Functionary v3.1: the name in the tag, the arguments as JSON. Source: the official chat template. */
export const functionaryV31: Format = {
  id: "functionary-v3.1",
  aliases: ["functionary", "functionary-v3-llama-3.1", "functionary-v3.1-llama-3.1"],
  title: "<function=name>{…}</function>: Functionary v3.1",
  calls: [{ codec: "named", open: ["<function="], middle: [">"], close: ["</function>"] }],
  framing: ["<|eot_id|>", "<|eom_id|>"],
  ids: "call",
  stop: ["<|eot_id|>", "<|eom_id|>"],
  prompt: toolLinesPrompt,
  result: (_call, result) => resultText(result),
  templateMarkers: [["<function=", "</function>", "ipython", "<|start_header_id|>"]],
}

/**
 * Functionary v3.2: recipients behind `>>>`, the first of which is in the prompt. Source: the official chat template.
 */
export const functionaryV32: Format = {
  ...functionaryV31,
  id: "functionary-v3.2",
  aliases: [],
  title: ">>>name and the arguments on the next line: Functionary v3.2",
  calls: [{ codec: "named", open: [">>>"], middle: ["\n"], close: [], atStart: true, separator: "\n" }],
  startFraming: ["all\n"],
  framing: [">>>all\n", "<|eot_id|>"],
  prompt: typescriptPrompt,
  templateMarkers: [[">>>"]],
}
