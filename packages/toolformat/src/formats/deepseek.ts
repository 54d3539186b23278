import type { Format, NamedSyntax, ParametersSyntax } from "../engine/syntax.ts"
import { toolLinesPrompt } from "./prompts.ts"
import { between } from "./results.ts"
import { invokeTags, think } from "./syntaxes.ts"

/**
 * A mark with full-width bars and low blocks, as the models were trained, and as distilled models and converters spell
 * it.
 */
function spellings(mark: string): string[] {
  const ascii = mark.replaceAll("｜", "|")
  return [
    mark,
    ascii,
    mark.replaceAll("▁", "_"),
    ascii.replaceAll("▁", "_"),
    mark.replaceAll("▁", "\\_"),
    mark.replaceAll("▁", " "),
  ]
}

const STOP = spellings("<｜end▁of▁sentence｜>").slice(0, 2)
const section = {
  open: [...spellings("<｜tool▁calls▁begin｜>"), "<｜tool▁calls｜>"],
  close: spellings("<｜tool▁calls▁end｜>"),
  openOptional: true,
}

/** The kind of tool, the name, and the arguments in a code block. */
const fenced: NamedSyntax = {
  codec: "named",
  wrapper: section,
  together: true,
  layout: { between: "\n" },
  open: spellings("<｜tool▁call▁begin｜>function<｜tool▁sep｜>"),
  openInWrapper: spellings("function<｜tool▁sep｜>"),
  middle: ["\n```json\n", "\n```\n", "\n"],
  close: [...spellings("\n```<｜tool▁call▁end｜>"), ...spellings("<｜tool▁call▁end｜>"), "\n```"],
}

/** The name, then the arguments. */
const plain: NamedSyntax = {
  codec: "named",
  wrapper: section,
  together: true,
  open: spellings("<｜tool▁call▁begin｜>"),
  middle: spellings("<｜tool▁sep｜>"),
  close: spellings("<｜tool▁call▁end｜>"),
}

/** The same; the first call in the section may lack its mark. */
const plainInSection: NamedSyntax = { ...plain, openInWrapper: [""] }

/** The same with the arguments in a code block, as models write that have seen both. */
const plainFenced: NamedSyntax = { ...plain, middle: spellings("<｜tool▁sep｜>```json\n"), close: fenced.close }

/** The first of these syntaxes without its marks, which a server took away as special tokens. */
const stripped: NamedSyntax = {
  codec: "named",
  open: ["function"],
  middle: ["\n```json\n", "\n```\n"],
  close: ["\n```"],
  offered: true,
  recovery: true,
}

/** DeepSeek V3 and R1, their distillates, and Cogito. Source: the official chat templates. */
export const deepseekV3: Format = {
  id: "deepseek-v3",
  aliases: ["deepseek", "deepseek-r1", "cogito", "deepseek3", "deepseek-r1-distill", "ollama-tmpl-deepseek"],
  title: "Marks with full-width bars, arguments in a code block: DeepSeek V3, R1, Cogito",
  calls: [fenced, plain, plainFenced, stripped],
  reasoning: think,
  framing: [
    ...STOP,
    "<｜tool▁outputs▁begin｜>",
    "<｜tool▁outputs▁end｜>",
    "<｜tool▁output▁begin｜>",
    "<｜tool▁output▁end｜>",
  ],
  ids: "call",
  stop: STOP,
  prompt: toolLinesPrompt,
  result: between("<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>", "<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"),
  templateMarkers: [["<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "```json"]],
}

/** DeepSeek V3.1: name and arguments without the code block. */
export const deepseekV31: Format = {
  ...deepseekV3,
  id: "deepseek-v31",
  aliases: ["deepseek-v3.1"],
  title: "Marks with full-width bars, arguments at once: DeepSeek V3.1",
  calls: [plain, fenced, plainFenced, plainInSection],
  result: between("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
  templateMarkers: [["<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>"]],
}

/**
 * Anthropic's tags between full-width bars, with an attribute that tells text from JSON. Models leave the mark out of
 * some tags.
 */
export function markedTags(name: string, block: string, space = ""): ParametersSyntax {
  const mark = `｜${name}｜${space}`
  const syntax = invokeTags(`${mark}${block}`, mark)
  const plain = invokeTags(block)
  return {
    ...syntax,
    call: {
      open: [...syntax.call.open, ...plain.call.open],
      nameEnd: syntax.call.nameEnd,
      close: [...syntax.call.close, ...plain.call.close],
    },
    parameter: {
      open: [...syntax.parameter.open.slice(0, 1), ...plain.parameter.open.slice(0, 1)],
      keyEnd: syntax.parameter.keyEnd.slice(0, 1),
      close: [...syntax.parameter.close, ...plain.parameter.close],
    },
    typed: { attribute: "string", end: ">" },
  }
}

/** The same without the mark in any tag. */
function unmarkedTags(block: string): ParametersSyntax {
  const { call, parameter, ...syntax } = invokeTags(block)
  return {
    ...syntax,
    call,
    parameter: { ...parameter, open: parameter.open.slice(0, 1), keyEnd: parameter.keyEnd.slice(0, 1) },
    typed: { attribute: "string", end: ">" },
  }
}

/** DeepSeek V3.2: tags with an attribute that tells text from JSON. */
export const deepseekV32: Format = {
  ...deepseekV3,
  id: "deepseek-v32",
  aliases: ["deepseek-v3.2"],
  title: "DSML tags in <｜DSML｜function_calls>: DeepSeek V3.2",
  calls: [markedTags("DSML", "function_calls"), markedTags("DSML", "tool_calls"), unmarkedTags("function_calls")],
  result: between("<function_results>\n<result>", "</result>\n</function_results>"),
  templateMarkers: [["｜DSML｜", "function_calls"]],
}

/** DeepSeek V4: the same tags in a block of another name. */
export const deepseekV4: Format = {
  ...deepseekV32,
  id: "deepseek-v4",
  aliases: ["deepseek-v4-flash"],
  title: "DSML tags in <｜DSML｜tool_calls>: DeepSeek V4",
  calls: [
    markedTags("DSML", "tool_calls"),
    markedTags("DSML", "function_calls"),
    markedTags("DSML", "calls", " "),
    unmarkedTags("tool_calls"),
  ],
  result: between("<tool_result>", "</tool_result>"),
  templateMarkers: [["｜DSML｜", "tool_calls"]],
}

/** DeepSeek V4.1: the same with a space behind the mark, in a shorter block. Source: a reference parser. */
export const deepseekV41: Format = {
  ...deepseekV4,
  id: "deepseek-v41",
  aliases: ["deepseek-v4.1"],
  title: "DSML tags in <｜DSML｜ calls>: DeepSeek V4.1",
  calls: [markedTags("DSML", "calls", " "), markedTags("DSML", "tool_calls"), unmarkedTags("calls")],
  templateMarkers: [["｜DSML｜ calls"]],
}
