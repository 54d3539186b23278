import type { CallSyntax, Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between, resultText } from "./results.ts"
import { bareJson, fencedJson, jsonList, separatedKeyValueTags, taggedJson, think } from "./syntaxes.ts"

/** What families have in common whose calls are one JSON list behind a mark. */
function listFormat(
  id: string,
  aliases: readonly string[],
  title: string,
  calls: readonly CallSyntax[],
  stop: readonly string[],
  markers: readonly (readonly string[])[],
): Format {
  return {
    id,
    aliases,
    title,
    calls,
    reasoning: think,
    framing: stop,
    ids: "call",
    stop,
    prompt: toolLinesPrompt,
    result: (_call, result) => resultText(result),
    templateMarkers: markers,
  }
}

const toolCalls = jsonList(["<tool_calls>"], ["</tool_calls>"])

/** NVIDIA Nemotron Nano v2. Source: the official chat template. */
export const nemotronV2: Format = {
  ...listFormat(
    "nemotron-v2",
    ["nemotron", "nemotron-nano-v2", "nemotron-json"],
    "A JSON list in <TOOLCALL>: Nemotron Nano v2",
    [jsonList(["<TOOLCALL>"], ["</TOOLCALL>"])],
    ["<SPECIAL_12>"],
    [["<TOOLCALL>"]],
  ),
  result: between("<TOOL_RESPONSE>[", "]</TOOL_RESPONSE>"),
}

/** AI21 Jamba. Source: a reference parser. */
export const jamba = listFormat(
  "jamba",
  ["jamba-1.5"],
  "A JSON list in <tool_calls>: Jamba",
  [{ ...toolCalls, layout: { before: "[\n  ", between: ",\n  ", after: "\n]" } }],
  ["<|eom|>"],
  [["<tool_calls>", "<|bom|>"]],
)

/** Tencent Hunyuan A13B. Source: the official chat template. */
export const hunyuan: Format = {
  ...listFormat(
    "hunyuan-a13b",
    ["hunyuan", "hunyuan_a13b"],
    "A JSON list in <tool_calls>: Hunyuan A13B",
    // servers call the newer family by the same name
    [toolCalls, separatedKeyValueTags()],
    ["<|eos|>"],
    [["<tool_calls>", "<|eos|>"]],
  ),
  framing: ["<answer>", "</answer>", "<|eos|>"],
  result: between("<tool_response>", "</tool_response>"),
}

/** ServiceNow Apriel: thinks between words of its own. Source: the official chat templates. */
export const apriel: Format = {
  ...listFormat(
    "apriel",
    ["apriel-1.5", "apriel-1.6"],
    "A JSON list in <tool_calls>, ids in the calls: Apriel",
    [{ ...toolCalls, keys: { name: "name", arguments: "arguments", id: "id" } }],
    ["<|end|>"],
    [["[BEGIN FINAL RESPONSE]"]],
  ),
  reasoning: { open: ["Here are my reasoning steps:", "<thinking>"], close: ["[BEGIN FINAL RESPONSE]", "</thinking>"] },
  framing: ["[END FINAL RESPONSE]", "<|end|>"],
}

const phiMarks = jsonList(["<|tool_call|>"], ["<|/tool_call|>"])

/** Phi-4-mini, in the spelling of its server and in that of its own template. */
export const phi4 = listFormat(
  "phi4-mini",
  ["phi4", "phi-4", "phi4_mini", "phi4-mini-json"],
  "functools and a JSON list: Phi-4-mini",
  [jsonList(["functools"]), phiMarks],
  ["<|end|>"],
  [["functools["], ["<|/tool_call|>"], ["<|tool|>", "<|/tool|>"]],
)

/** FireFunction v2. Source: the official chat template. */
export const firefunction: Format = {
  ...listFormat(
    "firefunction",
    ["firefunction-v2", "ollama-tmpl-firefunction"],
    " functools and a JSON list: FireFunction v2",
    [{ ...jsonList(["functools"]), layout: { before: "[", between: ", ", after: "]" } }],
    ["<|eot_id|>"],
    [[" functools[", "<|start_header_id|>"]],
  ),
}

/** Salesforce xLAM: a bare list; five ways to wrap it occur. Source: a reference parser. */
export const xlam = listFormat(
  "xlam",
  ["xlam-2", "ollama-tmpl-xlam"],
  "A bare JSON list: xLAM",
  [
    { ...bareJson, recovery: false, layout: { before: "[", between: ", ", after: "]" }, together: true },
    fencedJson,
    taggedJson(["<tool_call>"], ["</tool_call>"]),
    jsonList(["[TOOL_CALLS]"]),
  ],
  ["<|im_end|>", "<|eot_id|>"],
  [
    ["xLAM", "tool_calls", "JSON array"],
    ["xLAM", "<|start_header_id|>", "ipython", "parameters"],
  ],
)

/** InternLM 2 and Intern-S1: one call between marks of a plug-in. Source: the official chat template. */
export const internlm: Format = {
  ...listFormat(
    "internlm2",
    ["internlm", "intern-s1"],
    "A JSON object after <|action_start|><|plugin|>: InternLM 2, Intern-S1",
    [],
    ["<|im_end|>"],
    [["<|action_start|>"], ["<|plugin|>"]],
  ),
  calls: [
    {
      codec: "envelope",
      keys: { name: "name", arguments: "parameters" },
      wrapper: { open: ["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"], close: ["<|action_end|>"] },
      layout: { before: "\n" },
    },
  ],
}
