import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between, resultText } from "./results.ts"
import { ATTRIBUTE_END, attributeOpen, invokeTags, taggedJson, think } from "./syntaxes.ts"

/** Anthropic's tags as text, which many models fall into. Source: published prompts. */
export const anthropicXml: Format = {
  id: "anthropic-xml",
  aliases: ["invoke-xml", "claude-xml"],
  title: "<invoke name=…> in <function_calls>: Anthropic-style text",
  calls: [invokeTags("function_calls")],
  reasoning: { open: ["<thinking>", "<think>"], close: ["</thinking>", "</think>"] },
  ids: "call",
  stop: ["<function_results>"],
  prompt: toolLinesPrompt,
  result: between("<function_results>\n<result>\n", "\n</result>\n</function_results>"),
  templateMarkers: [["<function_calls>", "<invoke name="]],
}

/** MiniCPM 5: functions and params by name, values with tags in them in CDATA. Source: the official chat template. */
export const minicpm5: Format = {
  id: "minicpm5",
  aliases: ["minicpm", "minicpm4-xml"],
  title: '<function name="…"><param name="…">: MiniCPM 5',
  calls: [
    {
      codec: "parameters",
      call: { open: attributeOpen("function"), nameEnd: ATTRIBUTE_END, close: ["</function>"] },
      parameter: { open: attributeOpen("param"), keyEnd: ATTRIBUTE_END, close: ["</param>"] },
      cdata: true,
      untyped: "json",
      fillers: ["<arguments>", "</arguments>"],
      separator: "\n",
    },
    // MiniCPM 3 and 4
    {
      codec: "python",
      wrapper: { open: ["<|tool_call_start|>\n```python\n"], close: ["```\n<|tool_call_end|>"] },
      layout: { between: "\n" },
      code: true,
    },
  ],
  reasoning: { open: [...think.open, "<|thought_start|>"], close: [...think.close, "<|thought_end|>"] },
  framing: ["<|im_end|>"],
  ids: "call",
  stop: ["<|im_end|>"],
  prompt: toolLinesPrompt,
  result: between("<tool_response>\n", "\n</tool_response>"),
  templateMarkers: [['<function name="', "<param name="], ["<param name="]],
}

/** Step 3: DeepSeek's marks around tags of its own. Source: a reference parser. */
export const step3: Format = {
  id: "step3",
  aliases: ["step-3"],
  title: "<steptml:invoke> between full-width marks: Step 3",
  calls: [
    {
      codec: "parameters",
      wrapper: { open: ["<｜tool_calls_begin｜>"], close: ["<｜tool_calls_end｜>"], openOptional: true },
      together: true,
      call: {
        open: [
          '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="',
          '<｜tool_call_begin｜>function<｜tool_sep｜>\n<steptml:invoke name="',
          '<｜tool_call_begin｜>\nfunction<｜tool_sep｜><steptml:invoke name="',
          '<｜tool_call_begin｜>\nfunction<｜tool_sep｜>\n<steptml:invoke name="',
          '<steptml:invoke name="',
        ],
        nameEnd: ['">'],
        close: [
          "</steptml:invoke><｜tool_call_end｜>",
          "</steptml:invoke>\n<｜tool_call_end｜>",
          "</steptml:invoke>",
          "<｜tool_call_end｜>",
        ],
      },
      parameter: { open: ['<steptml:parameter name="'], keyEnd: ['">'], close: ["</steptml:parameter>"] },
    },
  ],
  reasoning: think,
  ids: "call",
  stop: ["<|EOT|>"],
  prompt: toolLinesPrompt,
  result: (_call, result) => resultText(result),
  templateMarkers: [["steptml:invoke"]],
}

/** Muse Glimmer: Anthropic's tags with a prefix, in messages with recipients. Source: the official chat template. */
export const glimmer: Format = {
  id: "glimmer",
  aliases: ["muse-glimmer", "muse", "atem"],
  title: "<atem:invoke name=…> in <atem:function_calls>: Muse Glimmer",
  calls: [{ ...invokeTags("atem:function_calls", "atem:"), untyped: "json" }],
  headers: {
    open: ["<|start|>", "to="],
    end: "<|message|>",
    reasoning: ["self"],
    form: /^\s*(?:<\|start\|>\s*\w*)?\s*(?:to=(\S+))?\s*$/,
  },
  framing: ["<|eot|>", "<|eom|>", "<|message|>"],
  namespaces: true,
  ids: "call",
  stop: ["<|eot|>", "<|eom|>"],
  prompt: toolLinesPrompt,
  result: (_call, result) => resultText(result),
  templateMarkers: [["<atem:invoke"]],
}

/**
 * Dots: Anthropic's tags in a block of its own, a JSON object in it as the models also write it. Source: a reference
 * parser.
 */
export const dots: Format = {
  id: "dots",
  aliases: ["dots1", "dots.llm"],
  title: "<invoke name=…> in <dots_function_call>: Dots",
  calls: [
    { ...invokeTags("dots_function_call"), framed: true },
    taggedJson(["<dots_function_call>"], ["</dots_function_call>"]),
  ],
  reasoning: think,
  framing: ["<|im_end|>", "<|endofassistant|>"],
  ids: "call",
  stop: ["<|endofassistant|>"],
  prompt: toolLinesPrompt,
  result: (_call, result) => resultText(result),
  templateMarkers: [["<dots_function_call>"]],
}
