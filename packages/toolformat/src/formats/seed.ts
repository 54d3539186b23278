import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { equalsTags } from "./syntaxes.ts"

/** ByteDance Seed-OSS: Qwen3-Coder's tags without framing line breaks. Source: the official chat template. */
export const seed: Format = {
  id: "seed-oss",
  aliases: ["seed", "seed_oss"],
  title: "Parameters in <parameter=…> tags inside <seed:tool_call>: Seed-OSS",
  calls: [equalsTags("<seed:tool_call>", "</seed:tool_call>")],
  reasoning: { open: ["<seed:think>"], close: ["</seed:think>"] },
  framing: ["<seed:eos>"],
  ids: "call",
  stop: ["<seed:eos>"],
  prompt: toolLinesPrompt,
  result: between("", ""),
  templateMarkers: [["<seed:tool_call>"], ["seed:tool_call"]],
}
