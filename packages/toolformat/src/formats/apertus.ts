import type { Format } from "../engine/syntax.ts"
import { typescriptPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { bareJson, jsonList } from "./syntaxes.ts"

/** Apertus: the tool's name is the key, its arguments the value. Source: the official chat template. */
export const apertus: Format = {
  id: "apertus",
  aliases: ["apertus2509"],
  title: "A JSON list with names as keys between <|tools_prefix|> and <|tools_suffix|>: Apertus",
  models: /apertus/,
  calls: [
    { ...jsonList(["<|tools_prefix|>"], ["<|tools_suffix|>"]), nameAsKey: true },
    { ...bareJson, nameAsKey: true },
  ],
  reasoning: { open: ["<|inner_prefix|>"], close: ["<|inner_suffix|>"] },
  framing: ["<|assistant_end|>"],
  ids: "call",
  stop: ["<|assistant_end|>"],
  prompt: typescriptPrompt,
  result: between("[", "]"),
  templateMarkers: [["<|tools_prefix|>"]],
}
