import type { Format } from "../engine/syntax.ts"
import { typescriptPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"

/**
 * gpt-oss: every message has a channel, and a call is a message to a tool. Source: the Harmony format's documentation.
 */
export const harmony: Format = {
  id: "harmony",
  aliases: ["gpt-oss"],
  title: "Messages to functions.name on channels: gpt-oss (Harmony)",
  calls: [
    {
      codec: "channel",
      open: ["<|channel|>", "<|start|>", "to=functions."],
      headerEnd: "<|message|>",
      namespace: "functions.",
      close: ["<|call|>", "<|end|>", "<|return|>", "<|start|>"],
      separator: "<|start|>assistant",
    },
  ],
  headers: { open: ["<|channel|>", "<|start|>"], end: "<|message|>", reasoning: ["analysis"] },
  framing: ["<|end|>", "<|return|>", "<|call|>"],
  callsInReasoning: "accept",
  ids: "call",
  stop: ["<|call|>", "<|return|>"],
  prompt: typescriptPrompt,
  result: (call, result) =>
    `<|start|>functions.${call.name} ` +
    `to=assistant<|channel|>commentary<|message|>${JSON.stringify(resultText(result))}<|end|>`,
  templateMarkers: [
    ["<|channel|>", "<|constrain|>"],
    ["<|channel|>", "<|message|>"],
  ],
}
