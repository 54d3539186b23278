import { matchesGbnf } from "@toolwright/logits"
import { describe, expect, test } from "vitest"
import { cli, folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const RAW = 'Let me see.\n<tool_call>\n{"name": "f", "arguments": {"a": "}"}}\n</tool_call>'
const CALL = { name: "f", arguments: { a: "}" }, id: "call_0" }

describe("format parse", () => {
  test("prints the calls, content, reasoning and problems of a reply", async () => {
    const { code, stdout } = await cli(["format", "parse", "--format", "hermes"], { stdin: RAW })
    expect({ code, reply: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      reply: { calls: [CALL], content: "Let me see.", reasoning: "", problems: [] },
    })
  })

  test("gives the same for every cutting", async () => {
    const replies = await Promise.all(
      ["whole", "char", "random:1", "random:7"].map((cut) =>
        here(["format", "parse", "--model", "Qwen2.5-7B", "--cut", cut], { stdin: RAW }),
      ),
    )
    expect(new Set(replies.map((reply) => reply.stdout)).size).toBe(1)
  })

  test("reads values by the tools' schemas, in whichever form the tools come", async () => {
    const parameters = { type: "object", properties: { n: { type: "integer" }, s: { type: "string" } } }
    const cwd = folderWith({
      "openai.json": JSON.stringify([{ type: "function", function: { name: "f", description: "", parameters } }]),
      "mcp.json": JSON.stringify({ tools: [{ name: "f", inputSchema: parameters }] }),
      "ours.json": JSON.stringify([{ name: "f", schema: parameters }]),
    })
    const stdin =
      "<tool_call>\n<function=f>\n<parameter=n>\n7\n</parameter>\n<parameter=s>\n7\n</parameter>\n</function>\n" +
      "</tool_call>"
    for (const tools of ["openai.json", "mcp.json", "ours.json"]) {
      const { stdout } = await here(["format", "parse", "--format", "qwen3-xml", "--tools", tools], { cwd, stdin })
      expect(JSON.parse(stdout)).toMatchObject({ calls: [{ arguments: { n: 7, s: "7" } }] })
    }
  })

  test("with --jsonl answers every line with a line, also one that cannot be used", async () => {
    const stdin = [
      { format: "hermes", raw: RAW },
      { model: "unknown\u2028", tools: null, raw: '{"tool": "g", "args": {}}' },
      { format: "nope", raw: "" },
      { format: null, model: "qwen3-coder", raw: "Hm.</think>Yes." },
      { format: 7, raw: "" },
      { format: "hermes" },
      [],
    ]
      .map((row) => JSON.stringify(row))
      .join("\n")
    const { code, stdout } = await cli(["format", "parse", "--jsonl"], { stdin: `${stdin}\n` })
    expect(code).toBe(1)
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([
      { calls: [CALL] },
      { calls: [{ name: "g", arguments: {} }] },
      { error: { code: "UNKNOWN_FORMAT" } },
      { reasoning: "Hm.", content: "Yes." },
      { error: { code: "USAGE", message: "A line's 'format' is no text." } },
      { error: { code: "USAGE", message: "A line has no text as 'raw'." } },
      { error: { code: "USAGE", message: "A line is no JSON object." } },
    ])
  })

  test("says what is missing or wrong", async () => {
    expect(await here(["format", "parse"], { stdin: "x" })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--format-file <file>, --model <name> or --template <file>"),
    })
    expect(await here(["format", "parse", "--format", "hermes", "--cut", "thrice"], { stdin: "x" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("random:<seed>"),
    })
  })
})

describe("a format of one's own", () => {
  const OWN = `export const quokka = {
  id: "quokka", aliases: [], title: "Quokka",
  calls: [{ codec: "parameters",
    call: { open: ['<<use id="'], idBefore: '" fn="', nameEnd: ['">>'], close: ["</use>>"] },
    parameter: { open: ['<arg k="'], keyEnd: ['">'], close: ["</arg>"] } }],
  ids: "call", stop: [], templateMarkers: [],
  prompt: (tools, call) => "Call so: " + call, result: (call, result) => result.output,
}`
  const folder = () =>
    folderWith({
      "own.mjs": OWN,
      "two.mjs": `${OWN}\nexport const b = { ...quokka }`,
      "none.mjs": "export const a = 1",
    })

  test("is tried, and reads a reply, from the module that exports it", async () => {
    const cwd = folder()
    const tried = await here(["format", "try", "own.mjs"], { cwd })
    expect(tried.code).toBe(0)
    expect(tried.stdout).toContain('<<use id="call_1" fn="ping">></use>>')
    expect(tried.stdout).toContain('Call so: <<use id="call_0" fn="tool_name">>')
    expect(tried.stdout).toContain("Read back: the same calls")
    const stdin = 'So. <<use id="u7" fn="f">><arg k="a">1</arg></use>>'
    const read = await here(["format", "parse", "--format-file", "own.mjs"], { cwd, stdin })
    expect(JSON.parse(read.stdout)).toMatchObject({ calls: [{ id: "u7", name: "f" }], content: "So.", problems: [] })
    const lines = `${JSON.stringify({ raw: stdin })}\n`
    const line = await here(["format", "parse", "--jsonl", "--format-file", "own.mjs"], { cwd, stdin: lines })
    expect(JSON.parse(line.stdout)).toMatchObject({ calls: [{ id: "u7" }] })
  })

  test.each([
    ["none.mjs", "it exports no format"],
    ["two.mjs", "it exports 2 formats"],
    ["away.mjs", "there is no such file"],
    [".", "it is no regular file"],
  ])("%s: a module that gives none says so", async (file, why) => {
    const { code, stderr } = await here(["format", "show", "--format-file", file], { cwd: folder() })
    expect({ code: code === 0, says: stderr.includes(why) }, stderr).toEqual({ code: false, says: true })
  })
})

describe("format list, show and render", () => {
  test("name every format, show one, and say why it was chosen", async () => {
    expect((await here(["format", "list"])).stdout).toContain("qwen3-xml")
    expect((await here(["format", "show", "--model", "Hermes-3-Llama-3.1-8B"])).stdout).toMatch(
      /^hermes: [^]*contains 'hermes'[^]*<tool_call>/,
    )
    expect(JSON.parse((await here(["format", "show", "glm45", "--json"])).stdout)).toMatchObject({
      id: "glm45",
      codecs: ["parameters"],
    })
  })

  test("render the tools for a prompt, and calls for history", async () => {
    const cwd = folderWith({
      "tools.json": '[{"name": "f", "description": "Does f.", "parameters": {"type": "object"}}]',
      "calls.json": '[{"name": "f", "arguments": {"a": 1}}]',
    })
    expect((await here(["format", "render", "--format", "mistral", "--tools", "tools.json"], { cwd })).stdout).toMatch(
      /^\[AVAILABLE_TOOLS\]\n\[.*\]\n\[\/AVAILABLE_TOOLS\]\n$/,
    )
    expect((await here(["format", "render", "--format", "mistral-v11", "--calls", "calls.json"], { cwd })).stdout).toBe(
      '[TOOL_CALLS]f[ARGS]{"a": 1}\n',
    )
  })
})

describe("formats by chat templates", () => {
  const folder = () =>
    folderWith({
      "crow.jinja":
        "{% for m in messages %}<~{{ m.role }}~>{{ m.content }}{% for c in m.tool_calls or [] %}<~do~>{{ " +
        "c.function.name }}<~with~>{{ c.function.arguments | tojson }}<~/do~>{% endfor %}<~end~>{% endfor %}{% " +
        "if add_generation_prompt %}<~assistant~>{% endif %}",
      "silent.jinja": "{% for m in messages %}{{ m.content }}{% endfor %}",
      "wrong.jinja": "{% for m in %}",
    })
  const raw = 'So: <~do~>f<~with~>{"a": "}"}<~/do~>'

  test("are inferred for models that nobody has heard of, with how sure that is", async () => {
    const cwd = folder()
    const { code, stdout } = await here(["format", "infer", "crow.jinja"], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain("crow.jinja: sure, 19 of 19 probes")
    expect(stdout).toContain('<~do~>tool_name<~with~>{"param": "value", "count": 2}<~/do~>')
    expect(stdout).toContain("- Reasoning: the template shows none")
    const json = await here(["format", "infer", "crow.jinja", "--json"], { cwd })
    expect(JSON.parse(json.stdout)).toMatchObject({ certainty: "sure", format: { calls: [{ codec: "named" }] } })
  })

  test("read replies, one and by lines, whichever way the text is cut", async () => {
    const cwd = folder()
    for (const cut of ["whole", "char", "random:3"]) {
      const one = await here(["format", "parse", "--template", "crow.jinja", "--cut", cut], { cwd, stdin: raw })
      expect(JSON.parse(one.stdout)).toMatchObject({ calls: [CALL], content: "So:", problems: [] })
      const lines = [
        { template: "crow.jinja", raw },
        { format: "hermes", raw: RAW },
        { template: "crow.jinja", raw: `Hm.</think>${raw}` },
        { template: "nowhere.jinja", raw },
        { template: "wrong.jinja", raw },
      ]
      const stdin = lines.map((line) => JSON.stringify(line)).join("\n")
      const { stdout } = await here(["format", "parse", "--jsonl", "--cut", cut], { cwd, stdin })
      expect(
        stdout
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown),
      ).toMatchObject([
        { calls: [CALL] },
        { calls: [CALL] },
        { calls: [CALL], reasoning: "Hm.", content: "So:" },
        { error: { code: "NO_TEMPLATE" } },
        { error: {} },
      ])
    }
  })

  test("are not made up where a template shows no calls", async () => {
    const cwd = folder()
    const { code, stdout } = await here(["format", "infer", "silent.jinja"], { cwd })
    expect(code).toBe(1)
    expect(stdout).toContain("no format can be inferred")
  })

  test("name what is wrong with a template", async () => {
    const cwd = folder()
    expect(await here(["format", "infer", "wrong.jinja"], { cwd })).toMatchObject({
      stderr: expect.stringContaining("line 1"),
    })
    expect(await here(["format", "infer"], { cwd })).toMatchObject({ code: 2 })
  })
})

describe("format grammar", () => {
  const tools = JSON.stringify([
    { name: "f", parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
    { name: "odd", parameters: { type: "object", properties: { a: { enum: [1], type: "string" } }, required: ["a"] } },
  ])

  test("prints what replies are held to, as each engine takes it, and names the tools that are left free", async () => {
    const cwd = folderWith({ "tools.json": tools })
    const options = ["--format", "hermes", "--tools", "tools.json"]
    const gbnf = await here(["format", "grammar", ...options], { cwd })
    expect(matchesGbnf(gbnf.stdout, 'Well. <tool_call>\n{"name": "f", "arguments": {"n": 3}}\n</tool_call>')).toBe(true)
    expect(matchesGbnf(gbnf.stdout, '<tool_call>\n{"name": "f", "arguments": {"n": "3"}}\n</tool_call>')).toBe(false)
    const tag = await here(["format", "grammar", ...options, "--as", "structural-tag"], { cwd })
    expect(JSON.parse(tag.stdout)).toMatchObject({ type: "structural_tag" })
    for (const { code, stderr } of [gbnf, tag])
      expect([code, stderr]).toEqual([0, expect.stringContaining("no grammar holds the arguments of odd: No value")])
  })

  test("says what it cannot print", async () => {
    const cwd = folderWith({ "tools.json": tools })
    const wrong = await here(["format", "grammar", "--format", "hermes", "--tools", "tools.json", "--as", "x"], { cwd })
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("structural-tag")])
    expect((await here(["format", "grammar", "--format", "hermes"], { cwd })).code).toBe(2)
  })
})
