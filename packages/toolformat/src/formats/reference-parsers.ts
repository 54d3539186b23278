import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { bareJson, fencedJson, jsonList, taggedJson, think } from "./syntaxes.ts"

/** What these families have in common: their calls are known from the parsers that engines ship for them. */
const base = {
  reasoning: think,
  framing: ["<|im_end|>"],
  ids: "call",
  stop: ["<|im_end|>"],
  prompt: toolLinesPrompt,
  result: between("<tool_response>\n", "\n</tool_response>"),
} satisfies Partial<Format>

const PLAMO = (name: string) => `<|plamo:${name}:plamo|>`

/** PLaMo 3: every part of a call between marks of its own. Source: a reference parser. */
export const plamo3: Format = {
  ...base,
  id: "plamo3",
  aliases: ["plamo", "plamo-3"],
  title: "Name and arguments between <|plamo:…:plamo|> marks: PLaMo 3",
  calls: [
    {
      codec: "named",
      wrapper: { open: [PLAMO("begin_tool_requests")], close: [PLAMO("end_tool_requests")] },
      together: true,
      open: [PLAMO("begin_tool_request") + PLAMO("begin_tool_name")],
      middle: [
        `${PLAMO("end_tool_name")}${PLAMO("begin_tool_arguments")}<|plamo:constrain|>json<|plamo:msg|>`,
        `${PLAMO("end_tool_name")}${PLAMO("begin_tool_arguments")}`,
      ],
      close: [PLAMO("end_tool_arguments") + PLAMO("end_tool_request"), PLAMO("end_tool_arguments")],
    },
  ],
  reasoning: { open: [PLAMO("begin_think")], close: [PLAMO("end_think")] },
  framing: ["<|plamo:tag|>"],
  stop: ["<|plamo:tag|>"],
  templateMarkers: [["<|plamo:begin_tool_request"]],
}

/** openPangu: a JSON list between marks, which the first tokenizers call unused. Source: a reference parser. */
export const pangu: Format = {
  ...base,
  id: "pangu",
  aliases: ["openpangu", "openpangu-v2"],
  title: "A JSON list between <|tool_call_start|> and <|tool_call_end|>: openPangu",
  calls: [jsonList(["<|tool_call_start|>", "[unused11]"], ["<|tool_call_end|>", "[unused12]"])],
  reasoning: { open: ["[unused16]", ...think.open], close: ["[unused17]", ...think.close] },
  framing: ["[unused10]", "<|im_end|>"],
  stop: ["[unused10]", "<|im_end|>"],
  templateMarkers: [["[unused11]"]],
}

/** RWKV: a headline and a JSON object in a code block. Source: a reference parser. */
export const rwkv: Format = {
  ...base,
  id: "rwkv",
  aliases: ["rwkv7", "rwkv-7"],
  title: "**Tool Call:** and a JSON object in a code block: RWKV",
  calls: [
    {
      ...taggedJson(["**Tool Call:**\n```json\n"], ["```"]),
      layout: { after: "\n" },
      separator: "\n\n",
    },
    taggedJson(["<tool_call>"], ["</tool_call>"]),
    { ...fencedJson, recovery: false },
  ],
  framing: [],
  stop: ["\n\nUser:"],
  templateMarkers: [["**Tool Call:**"]],
}

/** Step-Audio 2: the kind, the name and the arguments on lines of their own. Source: a reference parser. */
export const stepAudio2: Format = {
  ...base,
  id: "step-audio-2",
  aliases: ["step-audio", "step-audio2"],
  title: "Lines in <tool_call>: Step-Audio 2",
  calls: [
    {
      codec: "named",
      wrapper: { open: ["<tool_call>"], close: ["</tool_call>"] },
      open: ["function\n"],
      middle: ["\n"],
      close: [],
    },
  ],
  framing: ["<|EOT|>"],
  stop: ["<|EOT|>"],
  templateMarkers: [],
}

/** CWM: the name as the first word, then an object or a command's text. Source: a reference parser. */
export const cwm: Format = {
  ...base,
  id: "cwm",
  aliases: ["code-world-model"],
  title: "<tool: function> and the name, then an object or a command: CWM",
  calls: [
    {
      codec: "named",
      open: ["<tool: function>\n", "<tool:function>\n"],
      middle: [" ", "\n"],
      close: ["\n</tool>"],
      textArgument: "command",
      separator: "\n",
    },
  ],
  framing: ["<|eot_id|>"],
  stop: ["<|eot_id|>"],
  templateMarkers: [["<tool: "]],
}

/** HyperCLOVA X SEED Think 14B: a message of its own with a JSON list. Source: a reference parser. */
export const hyperclova14b: Format = {
  ...base,
  id: "hyperclovax-14b",
  aliases: ["hyperclovax-seed-think-14b", "hyperclova-14b"],
  title: "-> tool/function_call and a JSON list: HyperCLOVA X SEED Think 14B",
  calls: [
    { ...jsonList(["-> tool/function_call\n"]), separator: "" },
    { ...bareJson, recovery: false },
  ],
  reasoning: { open: ["<|im_start|>assistant/think"], close: ["<|im_end|>"] },
  framing: ["<|im_start|>assistant", "<|im_end|>", "<|stop|>", "<|endofturn|>"],
  stop: ["<|endofturn|>", "<|stop|>"],
  templateMarkers: [["tool/function_call"]],
}
