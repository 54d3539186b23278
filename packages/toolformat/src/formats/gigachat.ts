import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { resultText } from "./results.ts"
import { markedTags } from "./deepseek.ts"
import { taggedJson } from "./syntaxes.ts"

/** GigaChat 3: a message in a role of its own. Source: the official chat template. */
export const gigachat3: Format = {
  id: "gigachat3",
  aliases: ["gigachat", "gigachat-v3"],
  title: "A message in the role 'function call': GigaChat 3",
  calls: [
    {
      ...taggedJson(["<|message_sep|>\n\nfunction call<|role_sep|>\n"], []),
      layout: {},
      separator: "",
      wrapper: {
        open: ["<|message_sep|>\n\nfunction call<|role_sep|>\n", "function call<|role_sep|>\n"],
        close: [],
        closeOptional: true,
      },
    },
    {
      ...taggedJson(["<|function_call|>"], []),
      wrapper: { open: ["<|function_call|>"], close: [], closeOptional: true },
    },
    // the marks around the role taken away by the server
    {
      ...taggedJson(["function call"], []),
      wrapper: { open: ["function call"], close: [], soft: true, closeOptional: true },
      recovery: true,
    },
  ],
  framing: ["<|message_sep|>", "</s>"],
  ids: "call",
  stop: ["<|message_sep|>"],
  prompt: toolLinesPrompt,
  result: (_call, result) => JSON.stringify({ result: resultText(result) }),
  templateMarkers: [["function call", "<|role_sep|>"]],
}

/** GigaChat 3.1: a mark before the object. */
export const gigachat31: Format = {
  ...gigachat3,
  id: "gigachat31",
  aliases: ["gigachat3.1"],
  title: "<|function_call|> and a JSON object: GigaChat 3.1",
  calls: [
    {
      ...taggedJson(["<|function_call|>"], []),
      layout: {},
      separator: "",
      wrapper: { open: ["<|function_call|>"], close: [], closeOptional: true },
    },
    ...gigachat3.calls.slice(0, 1),
  ],
  templateMarkers: [["<|function_call|>", "<|role_sep|>"]],
}

/** GigaChat 3.5: DeepSeek's tags under a name of its own. Source: the official chat template. */
export const gigachat35: Format = {
  ...gigachat3,
  id: "gigachat35",
  aliases: ["gigachat3.5"],
  title: "GCML tags in <｜GCML｜tool_calls>: GigaChat 3.5",
  calls: [markedTags("GCML", "tool_calls"), ...gigachat31.calls],
  templateMarkers: [["｜GCML｜"]],
}
