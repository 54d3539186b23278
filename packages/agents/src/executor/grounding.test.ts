import { matchesGbnf } from "@toolwright/logits"
import { defineTool, type ToolDefinition } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { play } from "../testing/harness.ts"
import { groundingOf, type GroundingSetting } from "@toolwright/dialogue"

const tool = (name: string, answer = "ok", path: object = { grounded: "path" }): ToolDefinition =>
  defineTool({
    name,
    description: "",
    parameters: {
      type: "object",
      properties: { path: { type: "string", ...path } },
      required: ["path"],
      additionalProperties: false,
    },
    execute: () => answer,
  })
const call = (name: string, path: string): string =>
  `<tool_call>\n{"name": "${name}", "arguments": {"path": ${JSON.stringify(path)}}}\n</tool_call>`

/** The grammars of a run that reads a file and then answers, by whether they take these calls. */
async function grammars(
  grounding: GroundingSetting | undefined,
  abilities: object,
  tools = [tool("read_text_file", 'line "one"\nsee docs/other.md')],
) {
  const { backend } = await play([{ reply: call("read_text_file", "src/a.ts") }, { reply: "It is fine." }], tools, {
    request: { task: "What is in a.ts of src?" },
    ...(grounding === undefined ? {} : { grounding }),
    scripted: { modelName: "qwen2.5", abilities: { nativeTools: false, ...abilities } },
  })
  return backend.requests.map(
    ({ grammar }) =>
      (name: string, path: string) =>
        matchesGbnf(grammar!, call(name, path)),
  )
}

describe("the grammar of a request", () => {
  test("holds paths of a small model to what was said, returned and called so far", async () => {
    const [first, second] = await grammars(undefined, { small: true })
    expect([
      first!("read_text_file", "src/a.ts"),
      first!("read_text_file", "a.ts"),
      first!("read_text_file", "src/b.ts"),
      first!("read_text_file", "docs/other.md"),
    ]).toEqual([true, true, false, false])
    expect([
      second!("read_text_file", "docs/other.md"),
      second!("read_text_file", "src/other.ts"),
      second!("read_text_file", "docs/other.m"),
    ]).toEqual([true, false, false])
  })

  test("leaves arguments free where the model is not small, or it is turned off", async () => {
    for (const [setting, abilities] of [
      [undefined, {}],
      ["auto", { small: false }],
      ["off", { small: true }],
    ] as const) {
      const [first] = await grammars(setting, abilities)
      expect(first!("read_text_file", "anything")).toBe(true)
    }
  })

  test("takes rules of one's own, with any model", async () => {
    const tools = [tool("read_text_file", "ok", {}), tool("make", "ok", {})]
    const [first] = await grammars({ make: { path: "path" } }, {}, tools)
    expect([first!("make", "src/a.ts"), first!("make", "lib"), first!("read_text_file", "lib")]).toEqual([
      true,
      false,
      true,
    ])
    const [made] = await grammars(
      (text) => ({ make: { path: { kind: "path", also: [`${text.split("\0").length}.txt`] } } }),
      {},
      tools,
    )
    expect([made!("make", "1.txt"), made!("make", "2.txt")]).toEqual([true, false])
  })

  test("leaves free what a call makes anew", async () => {
    const [first] = await grammars(undefined, { small: true }, [tool("read_text_file"), tool("write_file", "ok", {})])
    expect([first!("write_file", "fibonacci.py"), first!("read_text_file", "fibonacci.py")]).toEqual([true, false])
  })
})

describe("what was said", () => {
  const backend = (groundingText?: () => string) => ({
    kind: "x",
    abilities: { nativeTools: false, grammar: true, jsonSchema: false, small: true },
    modelName: () => "x",
    infer: async function* () {},
    ...(groundingText === undefined ? {} : { groundingText }),
  })

  test("keeps the beginning and the end of long texts, and their order", () => {
    const long = `begin ${"x ".repeat(20_000)}end`
    const { text } = groundingOf("auto", backend(), ["first", long, "the task"], [])!
    expect(text.split("\0").map((part) => [part.slice(0, 5), part.slice(-3)])).toEqual([
      ["first", "rst"],
      ["begin", " x "],
      [" x x ", "end"],
      ["the t", "ask"],
    ])
    expect(text.length).toBeLessThan(4_100)
  })

  test("is what the backend says that its model is shown, where it says so", () => {
    expect(
      groundingOf(
        "auto",
        backend(() => "only this"),
        ["first"],
        [],
      )!.text,
    ).toBe("only this")
  })
})
