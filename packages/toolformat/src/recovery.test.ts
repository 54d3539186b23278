import { describe, expect, it } from "vitest"
import { toolOf } from "./fixtures/support.ts"
import { formatterById } from "./index.ts"

const TOOLS = [
  toolOf({
    name: "f",
    parameters: {
      type: "object",
      properties: { a: { type: "integer" }, s: { type: "string" }, any: {} },
      required: ["a"],
    },
  }),
  toolOf({ name: "g" }),
]

function read(format: string, text: string, options = {}) {
  const { calls, content, reasoning, problems } = formatterById(format).parse(text, { tools: TOOLS, ...options })
  return {
    calls: calls.map((call) => [call.name, call.arguments]),
    content,
    reasoning,
    problems: problems.map((problem) => `${problem.kind}${problem.repaired ? " repaired" : ""}`),
  }
}

const CALL = '{"name": "f", "arguments": {"a": 1}}'

describe("a call that is not as it should be", () => {
  it.each([
    ["ends without its closing mark", "hermes", `<tool_call>\n${CALL}`, ["unterminated-call repaired"]],
    [
      "ends before its last bracket",
      "hermes",
      `<tool_call>\n${CALL.slice(0, -1)}\n</tool_call>`,
      ["unterminated-call repaired"],
    ],
    ["has brackets too many", "hermes", `<tool_call>\n${CALL}}}\n</tool_call>`, ["extra-text repaired"]],
    ["stands without marks", "hermes", `Sure.\n${CALL}`, ["missing-wrapper repaired"]],
    ["stands in a code block", "hermes", `Sure.\n\`\`\`json\n${CALL}\n\`\`\``, ["missing-wrapper repaired"]],
    ["is another family's", "hermes", 'Sure.\n[TOOL_CALLS]f[ARGS]{"a": 1}', ["foreign-syntax repaired"]],
    [
      "is another family's, in the same tags",
      "hermes",
      "Sure.<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
      ["foreign-syntax repaired"],
    ],
    ["has arguments as text", "hermes", '<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>', []],
    [
      "has Python for JSON",
      "hermes",
      "<tool_call>{'name': 'f', 'arguments': {'a': 1,}}</tool_call>",
      ["invalid-arguments repaired"],
    ],
    ["stands in tags that nobody asked for", "hermes", `<tools>\n${CALL}\n</tools>`, ["missing-wrapper repaired"]],
    ["has the name in the tag", "hermes", '<function name="f">{"a": 1}</function>', ["missing-wrapper repaired"]],
    ["is a bare Python list", "lfm2", "[f(a=1)]", ["missing-wrapper repaired"]],
    [
      "has an argument without its name",
      "lfm2",
      "<|tool_call_start|>[f(1)]<|tool_call_end|>",
      ["invalid-arguments repaired"],
    ],
    [
      "lacks its own opening mark inside the section",
      "deepseek-v3",
      '<｜tool▁calls▁begin｜>function<｜tool▁sep｜>f\n```json\n{"a": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [],
    ],
    [
      "spells its marks in ASCII",
      "deepseek-v3",
      '<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>f\n```json\n{"a": 1}\n' +
        "```<|tool_call_end|><|tool_calls_end|>",
      [],
    ],
    ["begins with the name, its mark being in the prompt", "functionary-v3.2", 'f\n{"a": 1}', []],
    [
      "lacks a parameter's closing tag",
      "qwen3-xml",
      "<tool_call>\n<function=f>\n<parameter=a>\n1\n</function>\n</tool_call>",
      [],
    ],
    [
      "lacks its opening mark",
      "qwen3-xml",
      "<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
      ["missing-wrapper repaired"],
    ],
    [
      "has brackets doubled, as templates escape them",
      "hermes",
      `<tool_call>\n{${CALL}}\n</tool_call>`,
      ["invalid-arguments repaired"],
    ],
    ["stands without marks, after a colon", "llama3", `I look it up: ${CALL} One moment.`, []],
    ["is spread over lines, without marks", "pythonic", "[\n  f(\n    a=1,\n  )\n]", []],
    [
      "lacks the code block around its arguments",
      "deepseek-v3",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n{"a": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [],
    ],
    [
      "has a code block that names no language",
      "deepseek-v3",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```\n{"a": 1}\n' +
        "```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
      [],
    ],
    [
      "has attributes in single quotes",
      "minimax-m2",
      "<minimax:tool_call>\n<invoke name='f'>\n<parameter name='a'>1</parameter>\n</invoke>\n</minimax:tool_call>",
      [],
    ],
    [
      "has attributes without quotes",
      "minimax-m2",
      "<minimax:tool_call>\n<invoke name=f>\n<parameter name=a>1</parameter>\n</invoke>\n</minimax:tool_call>",
      [],
    ],
    [
      "has an object in place of parameters",
      "deepseek-v32",
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n{"a": 1}\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
      ["invalid-arguments repaired"],
    ],
    [
      "has white space around a key",
      "glm45",
      "<tool_call>f\n<arg_key> a </arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
      [],
    ],
    [
      "has a code block that its family does not have",
      "deepseek-v31",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>```json\n{"a": 1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [],
    ],
    [
      "has names in attributes",
      "qwen3-xml",
      '<tool_call>\n<function name="f">\n<parameter name="a">1</parameter>\n</function>\n</tool_call>',
      [],
    ],
    [
      "lacks its closing bracket",
      "gemma4",
      "<|tool_call>call:f{a:1<tool_call|><|tool_response>",
      ["invalid-arguments repaired"],
    ],
    [
      "is another family's Python, in a block of its own",
      "hermes",
      "Sure.\n```tool_code\nf(a=1)\n```",
      ["missing-wrapper repaired"],
    ],
  ])("%s: is read, and reported", (_what, format, text, problems) => {
    const reply = read(format, text)
    expect(reply.calls).toEqual([["f", { a: 1 }]])
    expect(reply.problems).toEqual(problems)
  })

  it.each([
    [
      "the reply ends in its arguments",
      "hermes",
      '<tool_call>{"name": "f", "arguments": {"a": 1',
      ["unterminated-call"],
    ],
    ["the reply ends in its name", "hermes", '<tool_call>{"name": "f', ["unterminated-call"]],
    ["it is no JSON", "hermes", '<tool_call>{"name": "f", "arguments": {"a": one}}</tool_call>', ["invalid-arguments"]],
    ["a value it needs is cut off", "qwen3-xml", "<tool_call>\n<function=f>\n<parameter=a>\n1", ["unterminated-call"]],
    [
      "a parameter it needs is missing at the end",
      "qwen3-xml",
      "<tool_call>\n<function=f>\n<parameter=s>\nx\n</parameter>\n",
      ["unterminated-call"],
    ],
    [
      "it ends between two parameters, though none that is still to come is needed",
      "qwen3-xml",
      "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n",
      ["unterminated-call"],
    ],
    [
      "it ends in the mark of the next parameter",
      "qwen3-xml",
      "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n<param",
      ["unterminated-call"],
    ],
    [
      "it ends between two pairs",
      "glm45",
      "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n",
      ["unterminated-call"],
    ],
    ["it ends between two arguments", "pythonic", "[f(a=1, ", ["unterminated-call"]],
    ["it ends between two members", "gemma4", "<|tool_call>call:f{a:1,", ["unterminated-call"]],
  ])("%s: is a problem, not a call", (_what, format, text, problems) => {
    const reply = read(format, text)
    expect(reply.calls).toEqual([])
    expect(reply.problems.slice(0, 1)).toEqual(problems)
  })

  it("with text that lost its quotes is read as text", () => {
    expect(read("lfm2", "<|tool_call_start|>[f(a=1, s=North Sea, any=1_000)]<|tool_call_end|>")).toMatchObject({
      calls: [["f", { a: 1, s: "North Sea", any: 1000 }]],
      problems: ["invalid-arguments repaired"],
    })
    expect(read("gemma4", "<|tool_call>call:f{a:1,s:ls -la /tmp}<tool_call|>")).toMatchObject({
      calls: [["f", { a: 1, s: "ls -la /tmp" }]],
      problems: ["invalid-arguments repaired"],
    })
  })

  it("that is a message without a body is a call of a tool that takes nothing", () => {
    expect(read("harmony", "<|channel|>commentary to=functions.g <|constrain|>json<|message|><|call|>")).toMatchObject({
      calls: [["g", {}]],
      content: "",
      problems: [],
    })
  })

  it("that is a name alone is a call of a tool that needs nothing", () => {
    expect(read("generic", '{"tool": "g"}').calls).toEqual([["g", {}]])
    expect(read("generic", '{"tool": "f"}').calls).toEqual([])
    expect(read("hermes", '<tool_call>{"name": "g"}</tool_call>').calls).toEqual([["g", {}]])
  })

  it("of a tool that is not there is a call all the same, and reported", () => {
    const reply = read("hermes", '<tool_call>{"name": "h", "arguments": {}}</tool_call>')
    expect(reply.calls).toEqual([["h", {}]])
    expect(reply.problems).toEqual(["unknown-tool repaired"])
  })
})

it("a call that ends after every parameter its tool has is whole", () => {
  const all = { a: 1, s: "x", any: null }
  const tags = Object.entries(all).map(([key, value]) => `<parameter=${key}>\n${String(value)}\n</parameter>\n`)
  expect(read("qwen3-xml", `<tool_call>\n<function=f>\n${tags.join("")}`)).toMatchObject({
    calls: [["f", all]],
    problems: ["unterminated-call repaired"],
  })
})

describe("what is clearly a call, in a form that is not read here, is told", () => {
  const generic = '{"tool": "f", "args": {"a": 1}}'
  it("on a line after one in a code block, which takes its place", () => {
    const text = `Both:\n\`\`\`json\n${generic}\n\`\`\`\n{"tool": "g", "args": {}}\nDone.`
    expect(read("generic", text)).toEqual({
      calls: [["f", { a: 1 }]],
      content: 'Both:{"tool": "g", "args": {}}\nDone.',
      reasoning: "",
      problems: ["extra-text"],
    })
  })
  it.each([
    ["generic", '[TOOL_CALLS]f[ARGS]{"a": 1}'],
    ["generic", "<|tool_call>call:f{a:1}<tool_call|>"],
    ["generic", '<function_calls>\n<invoke name="f">\n<parameter name="a">1</parameter>\n</invoke>\n</function_calls>'],
    ["generic", "[f(a=1)]"],
    ["mistral", "f(a=1)"],
    ["hermes", "I look.\n<|python_tag|>f.call(a=1)"],
    ["hermes", "```tool_code\nimport json\nresult = f(a=1)\nprint(result)\n```"],
    ["llama3", '<|action_start|><|plugin|>{"name": "f", "parameters": {"a": 1}}<|action_end|>'],
    ["qwen3-xml", 'Thought: look.\nAction: f\nAction Input: {"a": 1}'],
    ["hermes", 'I look: {"name": "f", "arguments": {"a": 1}}'],
    ["hermes", "I look. [f(a=1), g()] Then I tell."],
    ["hermes", "I look: f(a=1)"],
    ["hermes", "<f>\n<a>1</a>\n</f>"],
    ["hermes", '<f a="1"/>'],
    ["glm45", "I look.\nf\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>"],
    ["glm47", "f<arg_key>a</arg_key><arg_value>1</arg_value>"],
    ["glm45", "f\na1"],
    ["gemma4", "call:f{a:1}"],
    ["solar-open", '0f{"a": 1}'],
    ["plamo3", 'fjson{"a": 1}'],
    ["kimi-k3", 'toolscall tool="f" index="1"argument key="a" type="number"1argumentcalltools'],
    ["openai", '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>'],
  ])("%s: %j", (format, text) => {
    expect(read(format, text)).toMatchObject({ calls: [], content: text, problems: ["foreign-syntax"] })
  })
  it.each([
    ["hermes", "Call f(a=1) with Python:\n\n```python\nprint(f(a=1))\n```\n"],
    ["hermes", "Between its tags, a call of f is an object."],
    ["generic", "- `f(a=1)` looks it up\n- `g()` does not"],
    ["mistral", "[f](https://example.org) and functions in general"],
    ["hermes", "f\nis the tool, a its only argument in `f{a: 1}` and `[f(a=1)]`."],
    ["hermes", "See f {a, b} and f(x) in the text."],
    ["hermes", "<f> is a tag."],
  ])("%s: what only speaks of calls is no call: %j", (format, text) => {
    expect(read(format, text)).toMatchObject({ calls: [], problems: [] })
  })
})

it("what is clearly a call at the end of a reply that is all thought is told", () => {
  const call = '[{"name": "f", "arguments": {"a": 1}}]'
  expect(read("xlam", `<think>I look.\n${call}`)).toMatchObject({ calls: [], problems: ["foreign-syntax"] })
  expect(read("xlam", `<think>${call} would look, or not.`).problems).toEqual([])
  expect(read("xlam", `<think>I look.\n${call}</think>Yes.`).problems).toEqual([])
})

describe("calls in reasoning", () => {
  const draft = `<think>Perhaps <tool_call>${CALL}</tool_call> would do.`
  it("that goes on and ends are drafts: text, and a problem", () => {
    expect(read("hermes", `${draft}</think>No.`)).toEqual({
      calls: [],
      content: "No.",
      reasoning: `Perhaps <tool_call>${CALL}</tool_call> would do.`,
      problems: ["call-in-reasoning"],
    })
  })
  it("in which the reply ends count, since models forget the closing mark", () => {
    expect(read("hermes", draft)).toMatchObject({ calls: [["f", { a: 1 }]], problems: ["call-in-reasoning repaired"] })
  })
  it("count at once where the caller says so", () => {
    expect(read("hermes", `${draft}</think>No.`, { callsInReasoning: "accept" })).toMatchObject({
      calls: [["f", { a: 1 }]],
      reasoning: "Perhaps would do.",
      content: "No.",
    })
  })
  it("may begin in the prompt", () => {
    expect(read("hermes", "Hm.\n</think>\n\nYes.", { startsInReasoning: true })).toEqual({
      calls: [],
      content: "Yes.",
      reasoning: "Hm.",
      problems: [],
    })
    expect(read("hermes", "<think>\nHm.\n</think>\n\nYes.", { startsInReasoning: true })).toMatchObject({
      content: "Yes.",
      reasoning: "Hm.",
    })
  })
  it.each([
    ["hermes", "Hm.\n</think>\n\nYes.", "Hm.", "Yes."],
    ["hermes", "</think>\n\nYes.", "", "Yes."],
    ["seed-oss", "Hm.</seed:think>Yes.", "Hm.", "Yes."],
    ["command-r7b", "Hm.<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>", "Hm.", "Yes."],
    ["gemma4", "thought\nHm.<channel|>Yes.", "thought\nHm.", "Yes."],
  ])("may begin in the prompt without anybody saying so: %s %j", (format, text, reasoning, content) => {
    expect(read(format, text)).toEqual({ calls: [], content, reasoning, problems: [] })
    const call = formatterById(format).printCalls([{ id: "", name: "f", arguments: { a: 1 } }], TOOLS)
    expect(read(format, `${text}${call}`)).toMatchObject({ calls: [["f", { a: 1 }]], reasoning, problems: [] })
  })
  it("is spoken of in an answer where quotes stand before its mark", () => {
    expect(read("hermes", "It ends with `</think>` then.").reasoning).toBe("")
  })
})

describe("text that is no call", () => {
  it.each([
    ["hermes", 'Use `<tool_calls>` and [a](b) and {"name": "x"} and x < y.'],
    ["lfm2", "Use this format: [link text](url). Example: [Wikipedia](https://www.wikipedia.org)."],
    ["llama3", 'The object {"name": "f", "arguments": {}} in a line is an example.'],
    ["qwen3-xml", "A <function> is not a <function=, and `</parameter>` is a tag."],
    ["generic", '{"name": "Alice", "age": 7}'],
  ])("%s: stays content", (format, text) => {
    expect(read(format, text)).toEqual({ calls: [], content: text, reasoning: "", problems: [] })
  })
})

describe("a mark that means nothing", () => {
  it("is a problem where a call was or should be, and text elsewhere", () => {
    expect(read("hermes", `<tool_call>${CALL}</tool_call></tool_call>`)).toMatchObject({
      content: "",
      problems: ["stray-marker"],
    })
    expect(read("hermes", "I call it now. <tool_call>\n")).toEqual({
      calls: [],
      content: "I call it now.",
      reasoning: "",
      problems: ["stray-marker"],
    })
    expect(read("hermes", "Write <tool_call> before and </tool_call> after.").content).toBe(
      "Write <tool_call> before and </tool_call> after.",
    )
    expect(read("hermes", "<think>Hm.</think>Yes.</think>No.")).toMatchObject({
      content: "Yes.No.",
      problems: ["stray-marker"],
    })
  })
})

describe("values that do not say their type", () => {
  const value = (schema: object, text: string) => {
    const tools = [
      toolOf({
        name: "f",
        parameters: { type: "object", properties: { v: schema }, $defs: { count: { type: "integer" } } } as never,
      }),
    ]
    return formatterById("qwen3-xml").parse(
      `<tool_call>\n<function=f>\n<parameter=v>\n${text}\n</parameter>\n</function>\n</tool_call>`,
      { tools },
    ).calls[0]?.arguments.v
  }
  it.each([
    [{ type: "string" }, "7", "7"],
    [{ type: "string" }, "  a\n\n", "  a\n\n"],
    [{ type: "string" }, '"a"', '"a"'],
    [{ type: "string" }, "</parameter> stays", "</parameter> stays"],
    [{ type: "integer" }, " 7 ", 7],
    [{ type: "number" }, "-1.5e3", -1500],
    [{ type: "boolean" }, "True", true],
    [{ type: ["string", "null"] }, "null", null],
    [{ type: ["string", "null"] }, "nil", "nil"],
    [{ type: "string", nullable: true }, "null", null],
    [{ anyOf: [{ type: "integer" }, { type: "string" }] }, "7", 7],
    [{ anyOf: [{ type: "integer" }, { type: "string" }] }, "seven", "seven"],
    [{ oneOf: [{ type: "array" }, { type: "string" }] }, '["a"]', ["a"]],
    [{ $ref: "#/$defs/count" }, "7", 7],
    [{ allOf: [{ $ref: "#/$defs/count" }] }, "7", 7],
    [{ enum: ["1", "2"] }, "1", "1"],
    [{ enum: [1, 2] }, "1", 1],
    [{ enum: ["a", 1] }, "1", 1],
    [{ const: "1" }, "1", "1"],
    [{ type: "array", items: {} }, "['a', None]", ["a", null]],
    [{ type: "integer" }, '"7"', 7],
    [{ type: "integer" }, "seven", "seven"],
    [{}, '{"a": 1}', { a: 1 }],
  ])("%j: %j", (schema, text, expected) => {
    expect(value(schema, text)).toEqual(expected)
  })
})
