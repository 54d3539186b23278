import {
  checkGbnf,
  createGbnfMatcher,
  createMatcher,
  type Grammar,
  grammarToGbnf,
  type Grounding,
} from "@toolwright/logits"
import { defineTool, type JsonObject, type ToolDefinition } from "@toolwright/toolbox"
import { describe, expect, it } from "vitest"
import { FORMATS } from "./formats/index.ts"
import { toolOf } from "./fixtures/support.ts"
import { formatterOf, grammarFor, lowerSchema, toOpenAITools } from "./index.ts"

const formats = FORMATS.filter((format) => format.apiOnly === undefined).map((format) => [format.id, format] as const)

const TOOLS = [
  toolOf({
    name: "copy",
    parameters: {
      type: "object",
      properties: {
        source: { type: "string" },
        targets: { type: "array", items: { type: "string" } },
        lines: { type: "integer" },
        note: { type: "string", minLength: 2 },
      },
      required: ["source"],
    },
  }),
  toolOf({ name: "ping" }),
]
const TEXT = `Copy "my file.txt", src/ä.ts and C:\\temp\\x into docs.\nTake 12 lines of <b>it's</b> 読む 😀 now`
const grounding: Grounding = {
  text: TEXT,
  rules: { copy: { source: "span", targets: "path", lines: "number", note: "span" } },
}

/** What a grammar says of texts; the GBNF made from it, which is read once, must say the same. */
function verdictsOf(grammar: Grammar): (text: string) => boolean {
  const gbnf = grammarToGbnf(grammar)
  expect(checkGbnf(gbnf)).toEqual([])
  const [matcher, other] = [createMatcher(grammar), createGbnfMatcher(gbnf)]
  return (text) => {
    matcher.reset()
    const accepted = matcher.accept(text) && matcher.isComplete()
    const own = other.clone()
    expect([text, own.acceptText(text) && own.complete]).toEqual([text, accepted])
    return accepted
  }
}

describe("grounded calls in every format", () => {
  it.each(formats)("%s: what was said is accepted, what was not is refused", (_id, format) => {
    const formatter = formatterOf(format)
    const print = (args: JsonObject): string =>
      formatter.printCalls([{ id: format.ids === "ordinal" ? "0" : "call00000", name: "copy", arguments: args }], TOOLS)
    const verdict = verdictsOf(grammarFor(format, TOOLS, { mode: "call", grounding }))
    const has = (args: JsonObject): boolean => verdict(print(args))
    for (const source of ["my file.txt", "src/ä.ts", "C:\\temp\\x", `"my file.txt", src/ä.ts`, "docs", "読", "😀 now"])
      expect([source, has({ source })]).toEqual([source, true])
    for (const source of ["my fil", "src/ä.t", "elsewhere", "C:\\temp\\", ""])
      expect([source, has({ source })]).toEqual([source, false])
    expect([
      has({ source: "docs", targets: ["docs/src/ä.ts", "src"], lines: 12, note: "into docs" }),
      has({ source: "docs", targets: ["lib"] }),
      has({ source: "docs", targets: ["my file.txt"] }),
    ]).toEqual([true, false, false])
    expect([has({ source: "docs", lines: 1 }), has({ source: "docs", note: "x" })]).toEqual([false, false])
    // An argument for which nothing was said is left out where it is optional.
    const silent = verdictsOf(grammarFor(format, TOOLS, { mode: "call", grounding: { ...grounding, text: "copy it" } }))
    const silentHas = (args: JsonObject): boolean => silent(print(args))
    expect([
      silentHas({ source: "copy it" }),
      silentHas({ source: "it", lines: 3 }),
      silentHas({ source: "its" }),
    ]).toEqual([true, false, false])
    const nothing = verdictsOf(grammarFor(format, TOOLS, { mode: "call", grounding: { ...grounding, text: "" } }))
    expect(nothing(print({ source: "whatever" }))).toBe(true)
  })

  it.each(formats)("%s: text before calls is free", (_id, format) => {
    expect(verdictsOf(grammarFor(format, TOOLS, { grounding }))("Never said before.")).toBe(true)
  })

  it("keeps what conversations share", () => {
    const first = grammarFor("hermes", TOOLS, { grounding })
    const second = grammarFor("hermes", [...TOOLS], {
      grounding: { text: "other words, 3 of them", rules: structuredClone(grounding.rules!) },
    })
    expect(second.rules).toBe(first.rules)
    expect(grammarFor("hermes", TOOLS, { grounding: { ...grounding, rules: {} } }).rules).not.toBe(first.rules)
    expect(grammarFor("hermes", TOOLS, { mode: "call", grounding }).rules).not.toBe(first.rules)
  })
})

describe("the annotation of a tool", () => {
  const tool: ToolDefinition = defineTool({
    name: "open",
    description: "Opens a file",
    parameters: {
      type: "object",
      properties: { path: { type: "string", grounded: "path" }, grounded: { type: "boolean" } },
      required: ["path"],
    },
    execute: () => "",
  })

  it("holds where a conversation is given", () => {
    const call = (path: string): string =>
      formatterOf(FORMATS.find(({ id }) => id === "hermes")!).printCalls(
        [{ id: "", name: "open", arguments: { path } }],
        [tool],
      )
    const verdict = verdictsOf(grammarFor("hermes", [tool], { grounding: { text: "see a.txt" } }))
    expect([verdict(call("a.txt")), verdict(call("b.txt"))]).toEqual([true, false])
    expect(verdictsOf(grammarFor("hermes", [tool]))(call("b.txt"))).toBe(true)
  })

  it("is in nothing that is shown or sent", () => {
    const shown = [
      JSON.stringify(tool.parameters),
      ...FORMATS.map((format) => formatterOf(format).formatToolsForPrompt([tool])),
      JSON.stringify(toOpenAITools([tool])),
      ...(["openai-strict", "anthropic", "gemini", "llama.cpp-gbnf", "generic"] as const).map((target) =>
        JSON.stringify(lowerSchema(tool.parameters, target)),
      ),
    ]
    for (const text of shown) expect(text).not.toMatch(/grounded"?: *"?path/)
    expect(
      lowerSchema(tool.parameters, "openai-strict").losses.filter(({ keyword }) => keyword === "grounded"),
    ).toEqual([])
    expect(Object.keys(tool.parameters.properties!)).toEqual(["path", "grounded"])
  })
})
