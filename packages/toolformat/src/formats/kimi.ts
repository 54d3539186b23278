import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between, resultText } from "./results.ts"
import { think } from "./syntaxes.ts"

/**
 * Kimi K2: name and index share one id, and an id of another form misleads the model. Source: the official chat
 * templates.
 */
export const kimiK2: Format = {
  id: "kimi-k2",
  namespaces: true,
  aliases: ["kimi", "kimi-k2-thinking", "kimi-linear", "moonshot"],
  title: "functions.name:index between marks: Kimi K2",
  calls: [
    {
      codec: "named",
      wrapper: {
        open: ["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"],
        close: ["<|tool_calls_section_end|>", "<|tool_call_section_end|>"],
        openOptional: true,
        closeOptional: true,
      },
      together: true,
      open: ["<|tool_call_begin|>"],
      middle: ["<|tool_call_argument_begin|>"],
      close: ["<|tool_call_end|>"],
      nameForm: "kimi",
    },
  ],
  reasoning: think,
  framing: ["<|im_end|>"],
  ids: "kimi",
  stop: ["<|im_end|>"],
  prompt: toolLinesPrompt,
  result: (call, result) => `## Return of ${call.id}\n${resultText(result)}`,
  templateMarkers: [["<|tool_calls_section_begin|>"]],
}

/** Kimi K3: tags in special tokens, each argument with its type. Source: a reference parser. */
export const kimiK3: Format = {
  ...kimiK2,
  id: "kimi-k3",
  aliases: [],
  title: "Typed arguments between <|open|> and <|close|>: Kimi K3",
  calls: [
    {
      codec: "parameters",
      wrapper: { open: ["<|open|>tools<|sep|>"], close: ["<|close|>tools<|sep|>"] },
      together: true,
      call: {
        open: ['<|open|>call tool="'],
        nameEnd: ['" index="{index}"<|sep|>', '"'],
        close: ["<|close|>call<|sep|>"],
        attributesEnd: "<|sep|>",
      },
      parameter: { open: ['<|open|>argument key="'], keyEnd: ['"'], close: ["<|close|>argument<|sep|>"] },
      typed: { attribute: "type", end: "<|sep|>" },
    },
  ],
  reasoning: { open: ["<|open|>think<|sep|>", ...think.open], close: ["<|close|>think<|sep|>", ...think.close] },
  framing: ["<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|im_end|>"],
  ids: "call",
  result: between("", ""),
  templateMarkers: [["<|open|>tools<|sep|>"], ["<|open|>", "<|sep|>", "argument key"]],
}
