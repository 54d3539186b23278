import type { Format } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between, resultText } from "./results.ts"
import { bareJson, fencedJson, jsonList, separatedKeyValueTags, taggedJson, think } from "./syntaxes.ts"

/** What families have in common whose calls are one JSON list behind a mark; `ends` end a reply. */
function listFormat({
  ends,
  ...own
}: Pick<Format, "id" | "aliases" | "title" | "calls" | "templateMarkers"> & { ends: readonly string[] }): Format {
  return {
    ...own,
    reasoning: think,
    framing: ends,
    ids: "call",
    stop: ends,
    prompt: toolLinesPrompt,
    result: (_call, result) => resultText(result),
  }
}

const toolCalls = jsonList(["<tool_calls>"], ["</tool_calls>"])

/** NVIDIA Nemotron Nano v2. Source: the official chat template. */
export const nemotronV2: Format = {
  ...listFormat({
    id: "nemotron-v2",
    aliases: ["nemotron", "nemotron-nano-v2", "nemotron-json"],
    title: "A JSON list in <TOOLCALL>: Nemotron Nano v2",
    calls: [jsonList(["<TOOLCALL>"], ["</TOOLCALL>"])],
    ends: ["<SPECIAL_12>"],
    templateMarkers: [["<TOOLCALL>"]],
  }),
  result: between("<TOOL_RESPONSE>[", "]</TOOL_RESPONSE>"),
}

/** AI21 Jamba. Source: a reference parser. */
export const jamba = listFormat({
  id: "jamba",
  aliases: ["jamba-1.5"],
  title: "A JSON list in <tool_calls>: Jamba",
  calls: [{ ...toolCalls, layout: { before: "[\n  ", between: ",\n  ", after: "\n]" } }],
  ends: ["<|eom|>"],
  templateMarkers: [["<tool_calls>", "<|bom|>"]],
})

/** Tencent Hunyuan A13B. Source: the official chat template. */
export const hunyuan: Format = {
  ...listFormat({
    id: "hunyuan-a13b",
    aliases: ["hunyuan", "hunyuan_a13b"],
    title: "A JSON list in <tool_calls>: Hunyuan A13B",
    // servers call the newer family by the same name
    calls: [toolCalls, separatedKeyValueTags()],
    ends: ["<|eos|>"],
    templateMarkers: [["<tool_calls>", "<|eos|>"]],
  }),
  framing: ["<answer>", "</answer>", "<|eos|>"],
  result: between("<tool_response>", "</tool_response>"),
}

/** ServiceNow Apriel: thinks between words of its own. Source: the official chat templates. */
export const apriel: Format = {
  ...listFormat({
    id: "apriel",
    aliases: ["apriel-1.5", "apriel-1.6"],
    title: "A JSON list in <tool_calls>, ids in the calls: Apriel",
    calls: [{ ...toolCalls, keys: { name: "name", arguments: "arguments", id: "id" } }],
    ends: ["<|end|>"],
    templateMarkers: [["[BEGIN FINAL RESPONSE]"]],
  }),
  reasoning: { open: ["Here are my reasoning steps:", "<thinking>"], close: ["[BEGIN FINAL RESPONSE]", "</thinking>"] },
  framing: ["[END FINAL RESPONSE]", "<|end|>"],
}

const phiMarks = jsonList(["<|tool_call|>"], ["<|/tool_call|>"])

/** Phi-4-mini, in the spelling of its server and in that of its own template. */
export const phi4 = listFormat({
  id: "phi4-mini",
  aliases: ["phi4", "phi-4", "phi4_mini", "phi4-mini-json"],
  title: "functools and a JSON list: Phi-4-mini",
  calls: [jsonList(["functools"]), phiMarks],
  ends: ["<|end|>"],
  templateMarkers: [["functools["], ["<|/tool_call|>"], ["<|tool|>", "<|/tool|>"]],
})

/** FireFunction v2. Source: the official chat template. */
export const firefunction: Format = {
  ...listFormat({
    id: "firefunction",
    aliases: ["firefunction-v2", "ollama-tmpl-firefunction"],
    title: " functools and a JSON list: FireFunction v2",
    calls: [{ ...jsonList(["functools"]), layout: { before: "[", between: ", ", after: "]" } }],
    ends: ["<|eot_id|>"],
    templateMarkers: [[" functools[", "<|start_header_id|>"]],
  }),
}

/** Salesforce xLAM: a bare list; five ways to wrap it occur. Source: a reference parser. */
export const xlam = listFormat({
  id: "xlam",
  aliases: ["xlam-2", "ollama-tmpl-xlam"],
  title: "A bare JSON list: xLAM",
  calls: [
    { ...bareJson, recovery: false, layout: { before: "[", between: ", ", after: "]" }, together: true },
    fencedJson,
    taggedJson(["<tool_call>"], ["</tool_call>"]),
    jsonList(["[TOOL_CALLS]"]),
  ],
  ends: ["<|im_end|>", "<|eot_id|>"],
  templateMarkers: [
    ["xLAM", "tool_calls", "JSON array"],
    ["xLAM", "<|start_header_id|>", "ipython", "parameters"],
  ],
})

/** InternLM 2 and Intern-S1: one call between marks of a plug-in. Source: the official chat template. */
export const internlm: Format = {
  ...listFormat({
    id: "internlm2",
    aliases: ["internlm", "intern-s1"],
    title: "A JSON object after <|action_start|><|plugin|>: InternLM 2, Intern-S1",
    calls: [],
    ends: ["<|im_end|>"],
    templateMarkers: [["<|action_start|>"], ["<|plugin|>"]],
  }),
  calls: [
    {
      codec: "envelope",
      keys: { name: "name", arguments: "parameters" },
      wrapper: { open: ["<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"], close: ["<|action_end|>"] },
      layout: { before: "\n" },
    },
  ],
}
