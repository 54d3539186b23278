import type { CallSyntax, EnvelopeSyntax, ParametersSyntax, ReasoningSyntax } from "../engine/syntax.ts"

const KEYS = { name: "name", arguments: "arguments" }

/** Calls as JSON objects in tags, one object each: the most common syntax of open models. */
export function taggedJson(open: readonly string[], close: readonly string[]): EnvelopeSyntax {
  return {
    codec: "envelope",
    keys: KEYS,
    wrapper: { open, close },
    layout: { before: "\n", after: "\n" },
    separator: "\n",
  }
}

/** All calls of a reply as one JSON array behind a mark. Without closing marks, the array's own end is enough. */
export function jsonList(open: readonly string[], close: readonly string[] = []): EnvelopeSyntax {
  return {
    codec: "envelope",
    keys: KEYS,
    wrapper: { open, close, ...(close.length === 0 ? { closeOptional: true } : {}) },
    layout: { before: "[", between: ", ", after: "]" },
    together: true,
  }
}

/** A tag up to its name; models also write the attribute in single quotes, in none, or with spaces. */
export function attributeOpen(tag: string): string[] {
  return [`<${tag} name="`, `<${tag} name='`, `<${tag} name=`, `<${tag} name = "`]
}

/** The end of such a tag; one that closes itself has nothing in it. */
export const ATTRIBUTE_END: readonly string[] = ['">', "'>", ">", '"/>', "'/>", "/>", '" />', "' />", '" >']

/**
 * Anthropic's tags, which several families have under names of their own: a prefix, or other words for the same places.
 */
export function invokeTags(
  block: string,
  prefix = "",
  words: { invoke?: string; parameter?: string } = {},
): ParametersSyntax {
  const invoke = `${prefix}${words.invoke ?? "invoke"}`
  const parameter = `${prefix}${words.parameter ?? "parameter"}`
  return {
    codec: "parameters",
    wrapper: { open: [`<${block}>`], close: [`</${block}>`] },
    layout: { before: "\n", between: "\n", after: "\n" },
    together: true,
    call: { open: attributeOpen(invoke), nameEnd: ATTRIBUTE_END, close: [`</${invoke}>`] },
    parameter: { open: attributeOpen(parameter), keyEnd: ATTRIBUTE_END, close: [`</${parameter}>`] },
    lines: { afterName: "\n", afterParameter: "\n" },
  }
}

/** Function and parameter named in the tag after `=`, the value between. */
export function equalsTags(open: string, close: string): ParametersSyntax {
  return {
    codec: "parameters",
    wrapper: { open: [open], close: [close] },
    layout: { before: "\n", after: "\n" },
    separator: "\n",
    call: { open: ["<function=", "<function = "], nameEnd: [">"], close: ["</function>"] },
    parameter: {
      open: ["<parameter=", "<parameter = ", "<param="],
      keyEnd: [">"],
      close: ["</parameter>", "</param>"],
    },
    lines: { afterName: "\n", afterParameter: "\n" },
  }
}

/**
 * Keys and values in tags of their own, the name first. `prefix` begins every tag's name and `suffix` ends it; `line`
 * is printed between them.
 */
export function keyValueTags(suffix = "", line = "", prefix = ""): ParametersSyntax {
  const tag = (name: string): string => `<${prefix}${name}${suffix}>`
  const end = (name: string): string => `</${prefix}${name}${suffix}>`
  return {
    codec: "parameters",
    wrapper: { open: [tag("tool_call")], close: [end("tool_call")] },
    separator: line,
    call: { open: [], nameEnd: line === "" ? [] : [line], close: [] },
    parameter: {
      open: [tag("arg_key")],
      keyEnd: [
        `${end("arg_key")}${line}${tag("arg_value")}`,
        `${end("arg_key")}\n${tag("arg_value")}`,
        `${end("arg_key")}\\n${tag("arg_value")}`,
        `${end("arg_key")}\n`,
      ],
      close: [end("arg_value")],
    },
    valueless: `${end("arg_key")}\n`,
    // line breaks as a backslash and a letter
    fillers: ["\\n"],
    lines: { afterParameter: line },
  }
}

/** The same with a mark behind the name, and all calls in one block. */
export function separatedKeyValueTags(suffix = ""): ParametersSyntax {
  return {
    ...keyValueTags(suffix, "\n"),
    wrapper: { open: [`<tool_calls${suffix}>`], close: [`</tool_calls${suffix}>`] },
    layout: { before: "\n", between: "\n", after: "\n" },
    together: true,
    call: {
      open: [`<tool_call${suffix}>`],
      nameEnd: [`<tool_sep${suffix}>`],
      close: [`</tool_call${suffix}>`],
    },
    lines: { afterName: "\n", afterParameter: "\n" },
  }
}

/** A bare JSON object or array of objects at the beginning of a line, where a family usually writes marks. */
export const bareJson: EnvelopeSyntax = { codec: "envelope", keys: KEYS, bare: "line", recovery: true }

/** The same within an object, as the APIs have it and some servers ask for it. */
export const heldJson: EnvelopeSyntax = {
  codec: "envelope",
  keys: KEYS,
  wrapper: {
    open: ['{ "tool_calls" :', '{ "tool_call" :', '{ "function_call" :'],
    close: ["}"],
    soft: true,
    closeOptional: true,
  },
  recovery: true,
}

/** The same in a Markdown code block. */
export const fencedJson: EnvelopeSyntax = {
  codec: "envelope",
  keys: KEYS,
  wrapper: { open: ["```json", "```tool_call", "```tool_code", "```"], close: ["```"], soft: true },
  layout: { before: "\n", after: "\n" },
  recovery: true,
}

/** Python calls in the code block that Gemma 3 was taught, and its likes. */
export const fencedPython: CallSyntax = {
  codec: "python",
  wrapper: { open: ["```tool_code", "```tool_call"], close: ["```"], soft: true },
  layout: { before: "\n", after: "\n" },
  code: true,
  recovery: true,
}

/** Python calls between marks of families that write JSON there, or that another family has. */
const misplacedPython: CallSyntax = {
  codec: "python",
  wrapper: {
    open: [
      "<tool_call>",
      "<tool_calls>",
      "<function_calls>",
      "<function_call>",
      "<tools>",
      "<|tool_call_start|>",
      "<|tool_call|>",
      "<|python_start|>",
      "<|python_tag|>",
      "[TOOL_CALLS]",
    ],
    close: [
      "</tool_call>",
      "</tool_calls>",
      "</function_calls>",
      "</function_call>",
      "</tools>",
      "<|tool_call_end|>",
      "<|/tool_call|>",
      "<|python_end|>",
    ],
    soft: true,
    closeOptional: true,
  },
  recovery: true,
}

/** The same in tags that models make up. */
const inventedTags: EnvelopeSyntax = {
  codec: "envelope",
  keys: KEYS,
  wrapper: {
    open: ["<tool>", "<tools>", "<function_call>", "<response>", "<json>", "<JSON>", "<xml>", "<tool_calls>"],
    close: ["</tool>", "</tools>", "</function_call>", "</response>", "</json>", "</JSON>", "</xml>", "</tool_calls>"],
    soft: true,
    closeOptional: true,
  },
  recovery: true,
}

/** Name and arguments in tags of their own, in a family's block. */
const tagForName: CallSyntax = {
  codec: "named",
  wrapper: {
    open: ["<tool_call>", "<seed:tool_call>", "<minimax:tool_call>"],
    close: ["</tool_call>", "</seed:tool_call>", "</minimax:tool_call>"],
    soft: true,
    openOptional: true,
    closeOptional: true,
  },
  open: ["<tool_name>", "<name>"],
  middle: ["</tool_name> <arguments>", "</tool_name> <parameters>", "</name> <arguments>", "</name> <parameters>"],
  close: ["</arguments>", "</parameters>"],
  offered: true,
  recovery: true,
}

/** The name, then the object, in a block meant for a list. */
const nameInTags: CallSyntax = {
  codec: "named",
  wrapper: { open: ["<TOOLCALL>", "<tool_calls>"], close: ["</TOOLCALL>", "</tool_calls>"], soft: true },
  open: [""],
  middle: [],
  close: [],
  offered: true,
  recovery: true,
}

/** What every family's models fall back to; accepted and reported. */
export const RECOVERY: readonly CallSyntax[] = [
  // all marks taken away by the server
  {
    codec: "named",
    open: [],
    middle: ["\n```json\n", "\n```\n"],
    close: ["\n```"],
    nameForm: "kimi",
    atStart: "before its object",
    recovery: true,
  },
  { codec: "named", open: ['<function name="'], middle: ['">'], close: ["</function>"], recovery: true },
  inventedTags,
  tagForName,
  nameInTags,
  bareJson,
  heldJson,
  fencedJson,
  fencedPython,
  misplacedPython,
  { codec: "python", bare: "line", recovery: true },
]

export const think: ReasoningSyntax = { open: ["<think>"], close: ["</think>"] }
