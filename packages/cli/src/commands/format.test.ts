import { describe, expect, test } from "vitest"
import { cli, folderWith } from "../testing/run-cli.ts"

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
        cli(["format", "parse", "--model", "Qwen2.5-7B", "--cut", cut], { stdin: RAW }),
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
      "<tool_call>\n<function=f>\n<parameter=n>\n7\n</parameter>\n<parameter=s>\n7\n</parameter>\n</function>\n</tool_call>"
    for (const tools of ["openai.json", "mcp.json", "ours.json"]) {
      const { stdout } = await cli(["format", "parse", "--format", "qwen3-xml", "--tools", tools], { cwd, stdin })
      expect(JSON.parse(stdout)).toMatchObject({ calls: [{ arguments: { n: 7, s: "7" } }] })
    }
  })

  test("with --jsonl answers every line with a line, also one that cannot be used", async () => {
    const stdin = [
      { format: "hermes", raw: RAW },
      { model: "unknown\u2028", tools: null, raw: '{"tool": "g", "args": {}}' },
      { format: "nope", raw: "" },
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
    ])
  })

  test("says what is missing or wrong", async () => {
    expect(await cli(["format", "parse"], { stdin: "x" })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--format <id> or --model <name>"),
    })
    expect(await cli(["format", "parse", "--format", "hermes", "--cut", "thrice"], { stdin: "x" })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("random:<seed>"),
    })
  })
})

describe("format list, show and render", () => {
  test("name every format, show one, and say why it was chosen", async () => {
    expect((await cli(["format", "list"])).stdout).toContain("qwen3-xml")
    expect((await cli(["format", "show", "--model", "Hermes-3-Llama-3.1-8B"])).stdout).toMatch(
      /^hermes: [^]*contains 'hermes'[^]*<tool_call>/,
    )
    expect(JSON.parse((await cli(["format", "show", "glm45", "--json"])).stdout)).toMatchObject({
      id: "glm45",
      codecs: ["parameters"],
    })
  })

  test("render the tools for a prompt, and calls for history", async () => {
    const cwd = folderWith({
      "tools.json": '[{"name": "f", "description": "Does f.", "parameters": {"type": "object"}}]',
      "calls.json": '[{"name": "f", "arguments": {"a": 1}}]',
    })
    expect((await cli(["format", "render", "--format", "mistral", "--tools", "tools.json"], { cwd })).stdout).toMatch(
      /^\[AVAILABLE_TOOLS\]\n\[.*\]\n\[\/AVAILABLE_TOOLS\]\n$/,
    )
    expect((await cli(["format", "render", "--format", "mistral-v11", "--calls", "calls.json"], { cwd })).stdout).toBe(
      '[TOOL_CALLS]f[ARGS]{"a": 1}\n',
    )
  })
})
