import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"
import { think } from "./syntaxes.ts"

/** Upstage Solar Open: id, name and arguments between marks. Source: the official chat template. */
export const solar: Format = {
  id: "solar-open",
  aliases: ["solar"],
  title: "<|tool_call:begin|>id<|tool_call:name|>name<|tool_call:args|>{…}: Solar Open",
  calls: [
    {
      codec: "named",
      wrapper: { open: ["<|tool_calls|>"], close: [], openOptional: true, closeOptional: true },
      together: true,
      open: ["<|tool_call:begin|>"],
      idBefore: "<|tool_call:name|>",
      middle: ["<|tool_call:args|>"],
      close: ["<|tool_call:end|>"],
    },
  ],
  reasoning: { open: ["<|think|>", ...think.open], close: ["<|end|>", ...think.close] },
  framing: ["<|begin|>assistant", "<|calls|>", "<|content|>"],
  ids: "call",
  stop: ["<|calls|>", "<|end|>"],
  prompt: toolLinesPrompt,
  result: (call, result) =>
    `<|tool_response:begin|>${call.id}<|tool_response:name|>${call.name}` +
    `<|tool_response:result|>${resultText(result)}<|tool_response:end|>`,
  templateMarkers: [["<|tool_call:begin|>"]],
}

/** Upstage Solar Open 2: keys and values between marks, the name on a line of its own. Source: a reference parser. */
export const solarOpen2: Format = {
  ...solar,
  id: "solar-open2",
  aliases: ["solar_open2", "solar-open-2"],
  title: "<|tool_arg:start|>key<|tool_arg:value|>value: Solar Open 2",
  calls: [
    {
      codec: "parameters",
      separator: "\n",
      call: { open: ["<|tool_call:start|>"], nameEnd: ["\n"], close: ["<|tool_call:end|>"] },
      parameter: { open: ["<|tool_arg:start|>"], keyEnd: ["<|tool_arg:value|>"], close: ["<|tool_arg:end|>"] },
      lines: { afterParameter: "\n" },
    },
  ],
  result: (_call, result) => resultText(result),
  templateMarkers: [["<|tool_arg:start|>"]],
}
