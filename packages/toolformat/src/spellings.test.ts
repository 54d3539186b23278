import { describe, expect, it } from "vitest"
import { cutAt, eventsOf, randomFrom, toolOf } from "./fixtures/support.ts"
import { formatterById } from "./index.ts"

/** Calls as models of each family write them beside the form that they were trained on. */

const TOOLS = [
  toolOf({
    name: "ferry",
    parameters: {
      type: "object",
      properties: {
        port: { type: "string" },
        cars: { type: "integer" },
        night: { type: "boolean" },
        decks: { type: "array", items: { type: "integer" } },
        route: { type: "object", properties: { miles: { type: "number" } } },
        note: { type: ["string", "null"] },
      },
      required: ["port"],
    },
  }),
  toolOf({ name: "tide" }),
  toolOf({
    name: "berth",
    parameters: { type: "object", properties: { pier: { type: "integer" } }, required: ["pier"] },
  }),
]
const PORT = ["ferry", { port: "Bergen" }]
const TIDE = ["tide", {}]

function read(format: string, text: string) {
  const formatter = formatterById(format)
  const whole = eventsOf(formatter, [text], { tools: TOOLS })
  const random = randomFrom(text.length)
  for (const pieces of [text.split(""), cutAt(text, random), cutAt(text, random)])
    expect(eventsOf(formatter, pieces, { tools: TOOLS }), "every cut gives the same").toEqual(whole)
  const { calls, content, reasoning, problems } = formatter.parse(text, { tools: TOOLS })
  return {
    calls: calls.map((call) => [call.name, call.arguments]),
    content,
    reasoning,
    problems: problems.map((problem) => `${problem.kind}${problem.repaired ? " repaired" : ""}`),
  }
}

const arg = (key: string, value: string, suffix = "") =>
  `<arg_key${suffix}>${key}</arg_key${suffix}>\n<arg_value${suffix}>${value}</arg_value${suffix}>\n`

const DSML = "｜DSML｜"
const PLAMO = (name: string) => `<|plamo:${name}:plamo|>`

describe("forms that engines accept", () => {
  it.each([
    ["GLM, an object behind the name", "glm47", '<tool_call>ferry\n{"port": "Bergen"}</tool_call>', [PORT]],
    [
      "GLM, an object behind the name and a bracket",
      "glm47",
      '<tool_call>ferry>{"port": "Bergen"}</tool_call>',
      [PORT],
    ],
    [
      "GLM, a key that no schema knows",
      "glm45",
      `<tool_call>ferry\n${arg("port", "7")}${arg("berths", "[1, 2]")}</tool_call>`,
      [["ferry", { port: "7", berths: [1, 2] }]],
    ],
    [
      "MiniMax M2, an object in the tag",
      "minimax-m2",
      '<minimax:tool_call><invoke name="ferry">{"port": "Bergen"}</invoke></minimax:tool_call>',
      [PORT],
    ],
    [
      "DSML, the mark left out here and there",
      "deepseek-v32",
      `<${DSML}function_calls><${DSML}invoke name="ferry"><${DSML}parameter name="port" ` +
        `string="true">Bergen</parameter><parameter name="cars" ` +
        `string="false">2</${DSML}parameter></invoke></${DSML}function_calls>`,
      [["ferry", { port: "Bergen", cars: 2 }]],
    ],
    [
      "DSML, the mark left out everywhere",
      "deepseek-v32",
      '<function_calls><invoke name="ferry">{"port": "Bergen"}</invoke></function_calls>',
      [PORT],
    ],
    [
      "DSML with a space, in DeepSeek 4",
      "deepseek-v4",
      `<${DSML} calls><${DSML} invoke name="ferry"><${DSML} parameter name="port" string="true">Bergen</${DSML} ` +
        `parameter></${DSML} invoke></${DSML} calls>`,
      [PORT],
    ],
    [
      "DeepSeek 3, its marks taken away",
      "deepseek-v3",
      'On it.\n\nfunctionferry\n```json\n{"port": "Bergen"}\n```\nfunctiontide\n```json\n{}\n```',
      [PORT, TIDE],
    ],
    [
      "DeepSeek 3, ended before its last mark",
      "deepseek-v3",
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>ferry\n```json\n{"port": "Bergen"}\n```',
      [PORT],
    ],
    [
      "Step 3, its marks by lines",
      "step3",
      '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>\nfunction<｜tool_sep｜><steptml:invoke name="ferry">\n' +
        '<steptml:parameter name="port">Bergen</steptml:parameter>\n</steptml:invoke>\n<｜tool_call_end｜>\n' +
        "<｜tool_calls_end｜>",
      [PORT],
    ],
    [
      "Llama 4, prompted for JSON",
      "llama4",
      '<|python_start|>{"name": "tide", "parameters": {}}<|python_end|>',
      [TIDE],
    ],
    ["Llama 3, behind a sentence", "llama3", 'On it. {"name": "ferry", "parameters": {"port": "Bergen"}}', [PORT]],
    [
      "MiniCPM 4, Python in its marks",
      "minicpm5",
      "<|tool_call_start|>\n```python\nferry(port='Bergen')\ntide()\n```\n<|tool_call_end|>",
      [PORT, TIDE],
    ],
    ["DeepSeek 3, the kind taken away too", "deepseek-v3", 'ferry\n```json\n{"port": "Bergen"}\n```', [PORT]],
    ["Gemma 4, other brackets", "gemma4", '<|tool_call>call:ferry(port:<|"|>Bergen<|"|>)<tool_call|>', [PORT]],
    ["Gemma 4, none", "gemma4", "<|tool_call>call:tide<tool_call|>", [TIDE]],
    [
      "Gemma 4, a text that looks like a number",
      "gemma4",
      "<|tool_call>call:ferry{port:7}<tool_call|>",
      [["ferry", { port: "7" }]],
    ],
    [
      "Gemma 4, a text that begins like one",
      "gemma4",
      "<|tool_call>call:ferry{port:7:30}<tool_call|>",
      [["ferry", { port: "7:30" }]],
    ],
    [
      "Python, quotes in a text before a further argument",
      "lfm2",
      "<|tool_call_start|>[ferry(port='the 'Old' quay', cars=02)]<|tool_call_end|>",
      [["ferry", { port: "the 'Old' quay", cars: 2 }]],
    ],
    [
      "MiniCPM 5, entities and a wrapper",
      "minicpm5",
      '<functionname="ferry"><arguments><param name="port">Bed &amp; Tea</param></arguments></function>',
      [["ferry", { port: "Bed & Tea" }]],
    ],
    [
      "MiniCPM 5, all arguments in one",
      "minicpm5",
      `<function name="ferry"><param name="arguments">{'port': 'Bergen'}</param></function>`,
      [PORT],
    ],
    [
      "Muse Glimmer, in messages and a namespace",
      "glimmer",
      " to=self<|message|>Hm.<|eom|><|start|>assistant " +
        'to=ferry.ferry<|message|><atem:function_calls><atem:invoke name="ferry.ferry"><atem:parameter ' +
        'name="port">Bergen</atem:parameter></atem:invoke></atem:function_calls><|eom|>',
      [PORT],
    ],
    [
      "Kimi K2, in a namespace",
      "kimi-k2",
      "<|tool_call_begin|>functions.sea.tide:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
      [TIDE],
    ],
    [
      "Apertus, in the common form",
      "apertus",
      '<|tools_prefix|>[{"name": "ferry", "arguments": {"port": "Bergen"}}]<|tools_suffix|>',
      [PORT],
    ],
    [
      "GigaChat 3, its opening in the prompt",
      "gigachat3",
      'function call<|role_sep|>\n{"name": "tide", "arguments": {}}</s>',
      [TIDE],
    ],
    [
      "Step 3, with line breaks between its marks",
      "step3",
      '<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>\n<steptml:invoke name="tide">\n' +
        "</steptml:invoke>\n<｜tool_call_end｜>\n<｜tool_calls_end｜>",
      [TIDE],
    ],
    [
      "PLaMo 3",
      "plamo3",
      `${PLAMO("begin_think")}Hm.${PLAMO("end_think")}${PLAMO("begin_tool_requests")}${PLAMO("begin_tool_request")}${PLAMO("begin_tool_name")}ferry${PLAMO("end_tool_name")}${PLAMO("begin_tool_arguments")}<|plamo:constrain|>json<|plamo:msg|>{"port":"Bergen"}${PLAMO("end_tool_arguments")}${PLAMO("end_tool_request")}${PLAMO("end_tool_requests")}<|plamo:tag|>`,
      [PORT],
    ],
    [
      "openPangu, marks called unused",
      "pangu",
      '[unused11][{"name": "ferry", "arguments": {"port": "Bergen"}}][unused12]',
      [PORT],
    ],
    ["RWKV", "rwkv", '**Tool Call:**\n```json\n{"name": "ferry", "arguments": {"port": "Bergen"}}\n```', [PORT]],
    ["Step-Audio 2", "step-audio-2", '<tool_call>function\nferry\n{"port": "Bergen"}</tool_call>', [PORT]],
    ["CWM, an object", "cwm", '<tool: function>\nferry {"port": "Bergen"}\n</tool>', [PORT]],
    ["CWM, nothing", "cwm", "<tool: function>\ntide\n</tool>", [TIDE]],
    [
      "CWM, a command",
      "cwm",
      '<tool: function>\nferry ls -l | grep "x"\n</tool>',
      [["ferry", { command: 'ls -l | grep "x"' }]],
    ],
    [
      "HyperCLOVA X 14B",
      "hyperclovax-14b",
      ' -> tool/function_call\n[{"name": "ferry", "arguments": {"port": "Bergen"}}, {"name": "tide", ' +
        '"parameters": {}}]<|im_end|>',
      [PORT, TIDE],
    ],
    [
      "IQuest Coder 2",
      "iquest-coder-v2",
      `<iquestcoder_tool_call>ferry\n${arg("port", "Bergen")}</iquestcoder_tool_call>`,
      [PORT],
    ],
    ...["", ":6124c78e", ":opensource"].map((suffix) => [
      `Hunyuan 4 with '${suffix}'`,
      "hunyuan4",
      `<tool_calls${suffix}><tool_call${suffix}>ferry${arg("port", "Bergen", suffix)}</tool_call${suffix}><tool_call${suffix}>tide</tool_call${suffix}></tool_calls${suffix}>`,
      [PORT, TIDE],
    ]),
  ] as [string, string, string, unknown[]][])("%s", (_what, format, text, calls) => {
    const result = read(format, text)
    expect(result.calls).toEqual(calls)
    expect(result.problems.filter((problem) => !problem.endsWith("repaired"))).toEqual([])
    expect(result.content).toBe(text.startsWith("On it.") ? "On it." : "")
  })
  it("a word that is no mark stays text where no tool on offer follows", () => {
    const text = 'The function sail\n```json\n{"a": 1}\n```'
    expect(read("deepseek-v3", text).calls).toEqual([])
  })
})

describe("what families write beside the form they were trained on", () => {
  it.each([
    [
      "Hunyuan 3 without its suffix",
      "hunyuan3",
      `<think>Two.</think>Both.<tool_calls>\n<tool_call>ferry<tool_sep>\n${arg("port", "Bergen")}</tool_call>\n` +
        `<tool_call>tide<tool_sep></tool_call>\n</tool_calls>`,
      [PORT, TIDE],
      [],
    ],
    [
      "Hunyuan 3 with its suffix",
      "hunyuan3",
      `<tool_calls:opensource><tool_call:opensource>ferry<tool_sep:opensource>${arg("cars", "2", ":opensource")}</tool_call:opensource></tool_calls:opensource>`,
      [["ferry", { cars: 2 }]],
      [],
    ],
    [
      "a tag that closes itself",
      "minimax-m2",
      '<minimax:tool_call>\n<invoke name="tide"/>\n<invoke name="tide" />\n</minimax:tool_call>',
      [TIDE, TIDE],
      [],
    ],
    [
      "a tag that closes itself, DSML",
      "deepseek-v4",
      '<｜DSML｜tool_calls><｜DSML｜invoke name="tide"/></｜DSML｜tool_calls>',
      [TIDE],
      [],
    ],
    [
      "entities and spaces in attributes, but not in values",
      "anthropic-xml",
      '<function_calls><invoke name = "ferry"><parameter name="port" kind="text">A &amp; B</parameter><parameter ' +
        'name="a&lt;b">1</parameter></invoke></function_calls>',
      [["ferry", { port: "A &amp; B", "a<b": "1" }]],
      [],
    ],
    ["a bare list after prose", "pythonic", "I look. [ferry(port='Bergen'), tide()] Done.", [PORT, TIDE], []],
    ["a list between marks of Llama 4", "pythonic", "<|python_start|>[ferry(port='Bergen')]<|python_end|>", [PORT], []],
    ["a list behind Llama's tag", "pythonic", "<|python_tag|>[ferry(port='Bergen')]", [PORT], []],
    [
      "a list in tags for JSON",
      "hermes",
      "<tool_call>[ferry(port='Bergen')]</tool_call>",
      [PORT],
      ["missing-wrapper repaired"],
    ],
    [
      "a number in place of the name",
      "kimi-k2",
      '<|tool_calls_section_begin|><|tool_call_begin|>0<|tool_call_argument_begin|>{"pier": ' +
        "3}<|tool_call_end|><|tool_calls_section_end|>",
      [["berth", { pier: 3 }]],
      ["invalid-arguments repaired"],
    ],
    [
      "a number in place of the name, which two tools could have",
      "kimi-k2",
      "<|tool_calls_section_begin|><|tool_call_begin|>functions.1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
      [TIDE],
      ["invalid-arguments repaired"],
    ],
    [
      "a number in place of the name, with what no tool takes",
      "kimi-k2",
      '<|tool_calls_section_begin|><|tool_call_begin|>2<|tool_call_argument_begin|>{"x": ' +
        "1}<|tool_call_end|><|tool_calls_section_end|>",
      [],
      ["invalid-arguments"],
    ],
    [
      "a key without a value",
      "glm45",
      `<tool_call>ferry\n<arg_key>note</arg_key>\n${arg("port", "Bergen")}<arg_key>cars</arg_key>\n</tool_call>`,
      [PORT],
      ["invalid-arguments repaired"],
    ],
    [
      "line breaks as letters",
      "glm47",
      "<tool_call>ferry\\n<arg_key>port</arg_key>\\n<arg_value>Bergen</arg_value>\\n<arg_key>cars</arg_key><arg_value>2</arg_value></tool_call>",
      [["ferry", { port: "Bergen", cars: 2 }]],
      [],
    ],
    [
      "Gemma 3's block of code, results kept and printed",
      "pythonic",
      "```tool_code\nfound = default_api.ferry(port='Bergen')\nprint(tide())\nprint(found)\n```",
      [PORT, TIDE],
      ["missing-wrapper repaired", "extra-text"],
    ],
    [
      "Solar Open 2",
      "solar-open2",
      "<|tool_call:start|>ferry\n<|tool_arg:start|>port<|tool_arg:value|>Bergen<|tool_arg:end|>\n" +
        "<|tool_arg:start|>decks<|tool_arg:value|>[1, 2]<|tool_arg:end|>\n<|tool_call:end|>",
      [["ferry", { port: "Bergen", decks: [1, 2] }]],
      [],
    ],
    [
      "Inkling, the header's opening in the prompt, thoughts before",
      "inkling",
      "<|content_thinking|>Hm.<|end_message|><|message_model|><|content_text|>I " +
        'look.<|end_message|><|message_model|>ferry<|content_invoke_tool_json|>{"name": "ferry", "args": {"port": ' +
        '"Bergen"}}<|end_message|>',
      [PORT],
      [],
    ],
    [
      "Inkling at the very beginning",
      "inkling",
      'tide<|content_invoke_tool_json|>{"name":"tide","args":{}}<|content_model_end_sampling|>',
      [TIDE],
      [],
    ],
    [
      "K2 Horizon with types, and as JSON",
      "k2-horizon",
      "<ifm|think>Hm.</ifm|think><ifm|tool_calls>\n<ifm|tool_call>ferry\n<ifm|arg_key>port</ifm|arg_key>\n" +
        "<ifm|arg_type>string</ifm|arg_type>\n<ifm|arg_value>Bergen</ifm|arg_value>\n</ifm|tool_call>\n" +
        '<ifm|tool_call>{"name": "tide", "arguments": {}}</ifm|tool_call>\n</ifm|tool_calls>',
      [PORT, TIDE],
      [],
    ],
    [
      "GigaChat 3.5",
      "gigachat35",
      '<｜GCML｜tool_calls>\n<｜GCML｜invoke name="ferry">\n<｜GCML｜parameter name="port" ' +
        'string="true">Bergen</｜GCML｜parameter>\n<｜GCML｜parameter name="cars" string="false">2</｜GCML｜parameter>\n' +
        "</｜GCML｜invoke>\n</｜GCML｜tool_calls>",
      [["ferry", { port: "Bergen", cars: 2 }]],
      [],
    ],
    [
      "Dots, also as JSON",
      "dots",
      '<dots_function_call>{"name": "ferry", "arguments": {"port": "Bergen"}}</dots_function_call>\n' +
        '<dots_function_call><invoke name="tide"></invoke></dots_function_call>',
      [PORT, TIDE],
      [],
    ],
    [
      "calls within an object, as the APIs have them",
      "generic",
      '{\n  "tool_calls": [\n    {"name": "ferry", "arguments": {"port": "Bergen"}},\n    {"id": "1", "name": ' +
        '"tide", "arguments": {}}\n  ]\n}',
      [PORT, TIDE],
      ["missing-wrapper repaired"],
    ],
    [
      "a call within an object",
      "hermes",
      '{"tool_call": {"name": "ferry", "arguments": {"port": "Bergen"}}}',
      [PORT],
      ["missing-wrapper repaired"],
    ],
    [
      "DeepSeek 3.1, the first call's mark missing",
      "deepseek-v31",
      '<｜tool▁calls▁begin｜>ferry<｜tool▁sep｜>{"port": ' +
        '"Bergen"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>tide<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
      [PORT, TIDE],
      [],
    ],
    [
      "name and arguments in tags of their own",
      "seed-oss",
      '<seed:tool_call>\n<tool_name>ferry</tool_name>\n<parameters>{"port": "Bergen"}</parameters>\n</seed:tool_call>',
      [PORT],
      ["missing-wrapper repaired"],
    ],
    [
      "Qwen3-Coder, a shorter tag",
      "qwen3-xml",
      "<tool_call>\n<function=ferry>\n<param=port>Bergen</param>\n<param=cars>2</param>\n</function>\n</tool_call>",
      [["ferry", { port: "Bergen", cars: 2 }]],
      [],
    ],
    [
      "Nemotron, the name before its object",
      "nemotron-v2",
      '<TOOLCALL>ferry{"port": "Bergen"}</TOOLCALL>',
      [PORT],
      ["missing-wrapper repaired"],
    ],
    [
      "Apertus, arguments as text, and nothing for them",
      "apertus",
      '<|tools_prefix|>[{"ferry": "{\\"port\\": \\"Bergen\\"}"}, {"tide": null}]<|tools_suffix|>',
      [PORT, TIDE],
      [],
    ],
    ["IQuest Q1", "iquest-q1", `<iquest_tool_call>ferry\n${arg("port", "Bergen")}</iquest_tool_call>`, [PORT], []],
    [
      "Python calls on lines, as Granite writes them",
      "granite_pythonic",
      'ferry(port="Bergen")\ntide()\nThose two (both).',
      [PORT, TIDE],
      ["missing-wrapper repaired"],
    ],
    [
      "LongCat 2, in a namespace",
      "longcat2",
      "<longcat_tool_call>functions.ferry\n<longcat_arg_key>port</longcat_arg_key>\n" +
        "<longcat_arg_value>Bergen</longcat_arg_value>\n" +
        "</longcat_tool_call><longcat_tool_call>tide</longcat_tool_call>",
      [PORT, TIDE],
      [],
    ],
    [
      "LongCat, as the next one writes",
      "longcat",
      "<longcat_tool_call>ferry\n<longcat_arg_key>cars</longcat_arg_key>\n" +
        "<longcat_arg_value>2</longcat_arg_value>\n</longcat_tool_call>",
      [["ferry", { cars: 2 }]],
      [],
    ],
    [
      "LFM 2.5 without marks",
      "lfm2.5",
      'I look. [ferry(port="Bergen"), tide()]',
      [PORT, TIDE],
      ["missing-wrapper repaired"],
    ],
    [
      "Trinity, a call while thinking",
      "trinity",
      '<think>So <tool_call>{"name": "tide", "arguments": {}}</tool_call></think>',
      [TIDE],
      [],
    ],
  ])("%s", (_what, format, text, calls, problems) => {
    expect(read(format, text)).toMatchObject({ calls, problems })
  })

  it("keeps what is said around a list of calls", () => {
    expect(read("pythonic", "I look [tide()] now.").content).toBe("I look now.")
  })
})

describe("numbers, booleans, lists and objects written as text", () => {
  const typed = { port: "7", cars: 2, night: true, decks: [1, 2], route: { miles: 3.5 }, note: "4" }
  const json =
    '{"port": "7", "cars": "2", "night": "True", "decks": ["1", 2], "route": "{\\"miles\\": 3.5}", "note": "4"}'
  it.each([
    ["hermes", `<tool_call>{"name": "ferry", "arguments": ${json}}</tool_call>`],
    ["hermes", `<tool_call>{"arguments": ${json}, "name": "ferry"}</tool_call>`],
    ["hermes", `<tool_call>{"name": "ferry", "arguments": ${JSON.stringify(json)}}</tool_call>`],
    ["mistral-v11", `[TOOL_CALLS]ferry[ARGS]${json}`],
    ["kimi-k2", `<|tool_call_begin|>functions.ferry:0<|tool_call_argument_begin|>${json}<|tool_call_end|>`],
    ["harmony", `<|channel|>commentary to=functions.ferry <|constrain|>json<|message|>${json}<|call|>`],
    ["apertus", `<|tools_prefix|>[{"ferry": ${json}}]<|tools_suffix|>`],
    ["pythonic", `[ferry(port="7", cars="2", night="True", decks=["1", 2], route={"miles": "3.5"}, note="4")]`],
    [
      "gemma4",
      '<|tool_call>call:ferry{port:<|"|>7<|"|>,cars:<|"|>2<|"|>,night:<|"|>true<|"|>,decks:[<|"|>1<|"|>,2],route:{miles:<|"|>3.5<|"|>},note:<|"|>4<|"|>}<tool_call|>',
    ],
    [
      "deepseek-v32",
      `<｜DSML｜function_calls><｜DSML｜invoke name="ferry">${Object.entries({
        port: "7",
        cars: "2",
        night: "true",
        decks: "[1, 2]",
        route: '{"miles": 3.5}',
        note: "4",
      })
        .map(([key, value]) => `<｜DSML｜parameter name="${key}" string="true">${value}</｜DSML｜parameter>`)
        .join("")}</｜DSML｜invoke></｜DSML｜function_calls>`,
    ],
  ])("are what the schema says: %s", (format, text) => {
    expect(read(format, text).calls).toEqual([["ferry", typed]])
  })

  it("are what a schema with other languages' names of types says", () => {
    const properties = { id: { type: "str" }, cars: { type: "int" }, miles: { type: "float" }, night: { type: "bool" } }
    const tools = [toolOf({ name: "ferry", parameters: { type: "object", properties } as never })]
    const text = ["id=7", "cars=2", "miles=3.5", "night=1"].map((pair) => {
      const [key = "", value = ""] = pair.split("=")
      return `<parameter=${key}>\n${value}\n</parameter>`
    })
    const raw = `<tool_call>\n<function=ferry>\n${text.join("\n")}\n</function>\n</tool_call>`
    expect(formatterById("qwen3-coder").parse(raw, { tools }).calls[0]?.arguments).toEqual({
      id: "7",
      cars: 2,
      miles: 3.5,
      night: true,
    })
  })

  it("stay text where they stand for nothing that the schema admits", () => {
    const args = { port: "a", cars: "two", night: "perhaps" }
    expect(
      read("hermes", `<tool_call>${JSON.stringify({ name: "ferry", arguments: args })}</tool_call>`).calls,
    ).toEqual([["ferry", args]])
  })
})

it("takes arguments beside the name", () => {
  expect(read("hermes", '<tool_call>{"name": "ferry", "port": "Bergen", "cars": "2"}</tool_call>')).toMatchObject({
    calls: [["ferry", { port: "Bergen", cars: 2 }]],
    problems: ["invalid-arguments repaired"],
  })
})

describe("quotes in a text that are not escaped", () => {
  it.each([
    ["words", '{"port": "the "old" port", "cars": 2}', { port: 'the "old" port', cars: 2 }],
    ["code", '{"port": "print("a, b")", "cars": 2}', { port: 'print("a, b")', cars: 2 }],
    ["attributes", '{"cars": 2, "port": "<a href="x">y</a>"}', { cars: 2, port: '<a href="x">y</a>' }],
    [
      "a comma behind them",
      '{"port": "he said "yes", then left", "cars": 2}',
      { port: 'he said "yes", then left', cars: 2 },
    ],
  ])("are the text's: %s", (_what, json, args) => {
    const text = `<tool_call>\n{"name": "ferry", "arguments": ${json}}\n</tool_call>\nDone.`
    expect(read("hermes", text)).toMatchObject({
      calls: [["ferry", args]],
      content: "Done.",
      problems: ["invalid-arguments repaired"],
    })
  })

  it("never reach beyond the call", () => {
    const broken = '<tool_call>{"name": "ferry", "arguments": {"port": "the "old port}}</tool_call>'
    const whole = '<tool_call>{"name": "tide", "arguments": {}}</tool_call>'
    expect(read("hermes", `${broken}\n${whole}`)).toMatchObject({ calls: [TIDE], problems: ["invalid-arguments"] })
    expect(read("hermes", '{"name": "ferry", "arguments": {"port": "the "old}}\nThen "so".').calls).toEqual([])
  })
})

describe("marks that a server took away", () => {
  it.each([
    ["kimi-k2", 'functions.ferry:0{"port": "Bergen"}'],
    ["mistral-v11", 'ferry{"port": "Bergen"}'],
    ["deepseek-v31", 'ferry {"port": "Bergen"}'],
    ["apertus", '[{"ferry": {"port": "Bergen"}}]'],
    ["minimax-m3", '<tool_call>\n<invoke name="ferry"><port>Bergen</port></invoke>\n</tool_call>'],
  ])("leave the call where the reply begins with it: %s", (format, text) => {
    expect(read(format, text)).toMatchObject({ calls: [PORT], content: "", problems: ["missing-wrapper repaired"] })
  })

  it.each([
    ["kimi-k2", 'functions.ferry:0{"port": "Bergen"}functions.tide:1{}'],
    ["mistral-v11", 'ferry{"port": "Bergen"}\ntide{}'],
    ["apertus", '[{"ferry": {"port": "Bergen"}}, {"tide": {}}]'],
  ])("leave the calls where there are several: %s", (format, text) => {
    expect(read(format, text)).toMatchObject({ calls: [PORT, TIDE], content: "" })
  })

  it("leave no call whose arguments are a call", () => {
    const text = 'ferry{"name": "ferry", "args": {"port": "Bergen"}}'
    expect(read("inkling", text)).toMatchObject({ calls: [], problems: ["foreign-syntax"] })
  })

  it("are told where something was said before", () => {
    const reply = read("mistral-v11", 'I look.\nferry{"port": "Bergen"}')
    expect(reply).toMatchObject({ calls: [], problems: ["foreign-syntax"] })
  })

  it("are not missing where a name is only spoken of", () => {
    for (const text of ["ferry is a tool.", "tide {see below}", "ferry: {port}"])
      expect(read("mistral-v11", text)).toMatchObject({ calls: [], content: text, problems: [] })
  })
})
