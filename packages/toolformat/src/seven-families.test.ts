import { failure, success } from "@toolwright/toolbox"
import { describe, expect, it } from "vitest"
import { toolOf } from "./fixtures/support.ts"
import { formatterById, type ApiFormatter } from "./index.ts"

const EDIT = toolOf({
  name: "edit",
  description: "Edits a file.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "The file" },
      mode: { enum: ["insert", "replace"], description: "How" },
      spans: { type: "array", items: { type: "object", properties: { line: { type: "integer" } } } },
    },
    required: ["path"],
  },
})
const PING = toolOf({ name: "ping", description: "Answers.", parameters: { type: "object", properties: {} } })
const TOOLS = [EDIT, PING]

const ARGS = { path: "a}.ts", mode: "replace", spans: [{ line: 1 }, { line: 2 }] }
const JSON_ARGS = JSON.stringify(ARGS)

/** What a model of each family writes: one call, then two in one reply. */
const REPLIES: Record<string, [one: string, two: string]> = {
  llama3: [
    `<|python_tag|>{"name": "edit", "parameters": ${JSON_ARGS}}`,
    `{"name": "edit", "parameters": ${JSON_ARGS}}; {"name": "ping", "parameters": {}}<|eot_id|>`,
  ],
  "qwen2.5": [
    `Now I edit.\n<tool_call>\n{"name": "edit", "arguments": ${JSON_ARGS}}\n</tool_call>`,
    `<tool_call>\n{"name": "edit", "arguments": ${JSON_ARGS}}\n</tool_call>\n<tool_call>\n{"name": "ping", ` +
      `"arguments": {}}\n</tool_call>`,
  ],
  mistral: [
    `[TOOL_CALLS] [{"name": "edit", "arguments": ${JSON_ARGS}}]`,
    `[TOOL_CALLS][{"name": "edit", "arguments": ${JSON_ARGS}}, {"name": "ping", "arguments": {}}]</s>`,
  ],
  hermes: [
    `<tool_call>\n{"arguments": ${JSON_ARGS}, "name": "edit"}\n</tool_call>`,
    `<tool_call>{"name": "edit", "arguments": ${JSON_ARGS}}</tool_call><tool_call>{"name": "ping", "arguments": ` +
      "{}}</tool_call>",
  ],
  generic: [
    `{"tool": "edit", "args": ${JSON_ARGS}}`,
    `[{"tool": "edit", "args": ${JSON_ARGS}}, {"name": "ping", "arguments": {}}]`,
  ],
}

const EXPECTED = [
  { name: "edit", arguments: ARGS },
  { name: "ping", arguments: {} },
]

describe("one conversation in every family", () => {
  it.each(Object.entries(REPLIES))("%s: the same calls", (id, [one, two]) => {
    const formatter = formatterById(id)
    const calls = (text: string) =>
      formatter.parseToolCalls(text, { tools: TOOLS }).map(({ name, arguments: args }) => ({ name, arguments: args }))
    expect(calls(one)).toEqual(EXPECTED.slice(0, 1))
    expect(calls(two)).toEqual(EXPECTED)
    expect(calls("All done.")).toEqual([])
    expect(formatter.supportsNativeToolUse()).toBe(false)
  })

  it("OpenAI and Claude: the same calls, from the API's own fields", () => {
    const openai = formatterById("openai") as ApiFormatter
    const claude = formatterById("claude") as ApiFormatter
    const toolCalls = [
      { id: "call_1", type: "function", function: { name: "edit", arguments: JSON_ARGS } },
      { id: "call_2", type: "function", function: { name: "ping", arguments: "" } },
    ]
    expect(
      openai.parseAPIResponse({ choices: [{ message: { role: "assistant", content: null, tool_calls: toolCalls } }] }),
    ).toEqual([
      { id: "call_1", ...EXPECTED[0] },
      { id: "call_2", ...EXPECTED[1] },
    ])
    const content = [
      { type: "text", text: "…" },
      { type: "tool_use", id: "toolu_1", name: "edit", input: ARGS },
      { type: "tool_use", id: "toolu_2", name: "ping", input: {} },
    ]
    expect(claude.parseAPIResponse({ role: "assistant", content })).toEqual([
      { id: "toolu_1", ...EXPECTED[0] },
      { id: "toolu_2", ...EXPECTED[1] },
    ])
    expect([openai.supportsNativeToolUse(), claude.supportsNativeToolUse()]).toEqual([true, true])
    expect(openai.formatToolsForAPI([PING])).toEqual([
      { type: "function", function: { name: "ping", description: "Answers.", parameters: PING.parameters } },
    ])
    expect(claude.formatToolsForAPI([PING])).toEqual([
      { name: "ping", description: "Answers.", input_schema: PING.parameters },
    ])
    expect(() => claude.parseToolCalls("x")).toThrow("use ParseAPIResponse for Claude API responses")
  })
})

const PARAMETERS = [
  "**Parameters:**",
  "- `path` (required): The file [string]",
  '- `mode`: How [one of "insert", "replace"]',
  '- `spans`: [array, schema {"items":{"type":"object","properties":{"line":{"type":"integer"}}}}]',
]

describe("the section of the prompt on tools", () => {
  it.each([
    [
      "llama3",
      [
        "You have access to the following tools:",
        "",
        "### ping",
        "Answers.",
        "",
        "Parameters:",
        "```json",
        "{",
        '  "type": "object",',
        '  "properties": {}',
        "}",
        "```",
        "",
        "",
        "When you need to call a tool, use the following format:",
        '<|python_tag|>{"name": "tool_name", "arguments": {"param": "value"}}',
        "",
      ],
      [PING],
    ],
    [
      "qwen2.5",
      [
        "# Tools",
        "",
        "You have access to the following tools:",
        "",
        "## edit",
        "Edits a file.",
        "",
        ...PARAMETERS,
        "",
        "## ping",
        "Answers.",
        "",
        "",
        "To call a tool, use the following XML format:",
        "<tool_call>",
        '{"name": "tool_name", "arguments": {"param": "value"}}',
        "</tool_call>",
        "",
      ],
      TOOLS,
    ],
    [
      "mistral",
      [
        "[AVAILABLE_TOOLS]",
        '[{"type":"function","function":{"name":"ping","description":"Answers.","parameters":{"type":"object","properties":{}}}}]',
        "[/AVAILABLE_TOOLS]",
        "",
      ],
      [PING],
    ],
    [
      "generic",
      [
        "# Available Tools",
        "",
        "## edit",
        "Edits a file.",
        "",
        ...PARAMETERS,
        "",
        "",
        "Call tools using JSON format:",
        '{"tool": "tool_name", "args": {"param": "value"}}',
        "",
      ],
      [EDIT],
    ],
    [
      "hermes",
      [
        "# Tools",
        "",
        "You may call one or more tools to help with the user's request.",
        "",
        "The tools, one JSON object per line:",
        "<tools>",
        '{"type": "function", "function": {"name": "ping", "description": "Answers.", "parameters": {"type": ' +
          '"object", "properties": {}}}}',
        "</tools>",
        "",
        "To call a tool, write the call exactly in this form, with the tool's name and its arguments:",
        "<tool_call>",
        '{"name": "tool_name", "arguments": {"param": "value"}}',
        "</tool_call>",
        "",
      ],
      [PING],
    ],
  ])("%s", (id, lines, tools) => {
    expect(formatterById(id).formatToolsForPrompt(tools)).toBe(lines.join("\n"))
  })

  it("carries types, required marks and values in every family that has one", () => {
    for (const id of ["llama3", "qwen2.5", "mistral", "hermes", "generic", "harmony", "glm45", "gemma4", "apertus"]) {
      const section = formatterById(id).formatToolsForPrompt([EDIT])
      for (const needed of ["path", "string", "insert", "replace", "The file"]) expect(section, id).toContain(needed)
    }
    expect(formatterById("hermes").formatToolsForPrompt([])).toBe("")
  })
})

describe("a result", () => {
  const call = { id: "abcDEF123", name: "ping", arguments: {} }
  const good = success({ output: 'say "hi"' })
  const bad = failure({ code: "GONE", message: "Nobody answers.", hint: "Try later." })
  it.each([
    ["llama3", '"say \\"hi\\""', '"Error: Nobody answers.\\nTry later."'],
    [
      "qwen2.5",
      '<tool_response>\nsay "hi"\n</tool_response>',
      "<tool_response>\nError: Nobody answers.\nTry later.\n</tool_response>",
    ],
    [
      "mistral",
      '[TOOL_RESULTS]{"content":"say \\"hi\\"","call_id":"abcDEF123"}[/TOOL_RESULTS]',
      '[TOOL_RESULTS]{"content":"Error: Nobody answers.\\nTry later.","call_id":"abcDEF123"}[/TOOL_RESULTS]',
    ],
    [
      "openai",
      '{"role":"tool","tool_call_id":"abcDEF123","content":"say \\"hi\\""}',
      '{"role":"tool","tool_call_id":"abcDEF123","content":"Error: Nobody answers.\\nTry later."}',
    ],
    [
      "claude",
      '{"type":"tool_result","tool_use_id":"abcDEF123","content":"say \\"hi\\""}',
      '{"type":"tool_result","tool_use_id":"abcDEF123","content":"Error: Nobody answers.\\nTry ' +
        'later.","is_error":true}',
    ],
    ["generic", 'Result of tool ping:\nsay "hi"\n', "Failure of tool ping:\nError: Nobody answers.\nTry later.\n"],
  ])("%s", (id, ofGood, ofBad) => {
    const formatter = formatterById(id)
    expect([formatter.formatToolResult(call, good), formatter.formatToolResult(call, bad)]).toEqual([ofGood, ofBad])
  })
})

describe("generic parsing tries four ways in order", () => {
  const calls = (text: string) =>
    formatterById("generic")
      .parseToolCalls(text)
      .map((call) => call.name)
  it.each([
    ["a whole array", '[{"tool": "a", "args": {}}, {"name": "b", "args": {}}]', ["a", "b"]],
    ["a single object, over several lines", '{\n  "tool": "a",\n  "args": {"x": [1]}\n}', ["a"]],
    [
      "code blocks",
      'First:\n```json\n{"tool": "a", "args": {}}\n```\nthen\n```\n{"tool_name": "b", "parameters": {}}\n```',
      ["a", "b"],
    ],
    ["lines", 'First\n{"tool": "a", "args": {}}\nthen\n{"name": "b", "arguments": {}}', ["a", "b"]],
    [
      "code blocks before lines",
      '{"tool": "line", "args": {}}\n```json\n{"tool": "block", "args": {}}\n```\n{"tool": "line", "args": {}}',
      ["block"],
    ],
    ["nothing else", 'Write {"tool": "a", "args": {}} on a line, or use {"a": 1}.\n{"title": "no call"}', []],
  ])("%s", (_way, text, names) => {
    expect(calls(text)).toEqual(names)
  })
})
