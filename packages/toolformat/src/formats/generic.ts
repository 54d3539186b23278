import type { Format } from "../engine/syntax.ts"
import { genericPrompt } from "./prompts.ts"
import { plainResult } from "./results.ts"
import { bareJson, fencedJson, fencedPython, heldJson, think } from "./syntaxes.ts"

/**
 * For models that know no syntax: a JSON object `{"tool", "args"}`, alone, in an array, in a code block, or on a line
 * of its own.
 */
export const generic: Format = {
  id: "generic",
  aliases: ["json", "text", "ollama-tmpl-json", "ollama-tmpl-list", "google-gemma-2-2b-it", "gemma2"],
  title: "A JSON object with tool and args, alone, fenced, or on a line",
  calls: [
    { ...bareJson, keys: { name: "tool", arguments: "args" }, separator: "\n", recovery: false },
    { ...fencedJson, keys: { name: "tool", arguments: "args" }, recovery: false },
    heldJson,
    fencedPython,
  ],
  reasoning: think,
  ids: "call",
  stop: [],
  prompt: genericPrompt,
  result: plainResult,
  templateMarkers: [],
  generic: true,
}
