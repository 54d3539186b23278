import { checkGbnf, createMatcher, type Grammar, grammarToGbnf, type Grounding, matchesGbnf } from "@toolwright/logits"
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

function verdicts(grammar: Grammar, gbnf: string, text: string): boolean {
  const matcher = createMatcher(grammar)
  const accepted = matcher.accept(text) && matcher.isComplete()
  expect([text, matchesGbnf(gbnf, text)]).toEqual([text, accepted])
  return accepted
}

describe("grounded calls in every format", () => {
  it.each(formats)("%s: what was said is accepted, what was not is refused", (_id, format) => {
    const formatter = formatterOf(format)
    const grammar = grammarFor(format, TOOLS, { mode: "call", grounding })
    const gbnf = grammarToGbnf(grammar)
    expect(checkGbnf(gbnf)).toEqual([])
    const has = (args: JsonObject): boolean =>
      verdicts(
        grammar,
        gbnf,
        formatter.printCalls(
          [{ id: format.ids === "ordinal" ? "0" : "call00000", name: "copy", arguments: args }],
          TOOLS,
        ),
      )
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
    const silent = grammarFor(format, TOOLS, { mode: "call", grounding: { ...grounding, text: "copy it" } })
    const silentGbnf = grammarToGbnf(silent)
    const silentHas = (args: JsonObject): boolean =>
      verdicts(
        silent,
        silentGbnf,
        formatter.printCalls(
          [{ id: format.ids === "ordinal" ? "0" : "call00000", name: "copy", arguments: args }],
          TOOLS,
        ),
      )
    expect([
      silentHas({ source: "copy it" }),
      silentHas({ source: "it", lines: 3 }),
      silentHas({ source: "its" }),
    ]).toEqual([true, false, false])
    const nothing = grammarFor(format, TOOLS, { mode: "call", grounding: { ...grounding, text: "" } })
    expect(
      verdicts(
        nothing,
        grammarToGbnf(nothing),
        formatter.printCalls(
          [{ id: format.ids === "ordinal" ? "0" : "call00000", name: "copy", arguments: { source: "whatever" } }],
          TOOLS,
        ),
      ),
    ).toBe(true)
  })

  it.each(formats)("%s: text before calls is free", (_id, format) => {
    const grammar = grammarFor(format, TOOLS, { grounding })
    const gbnf = grammarToGbnf(grammar)
    expect(verdicts(grammar, gbnf, "Never said before.")).toBe(true)
    expect(checkGbnf(gbnf)).toEqual([])
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
    const grammar = grammarFor("hermes", [tool], { grounding: { text: "see a.txt" } })
    const gbnf = grammarToGbnf(grammar)
    expect([verdicts(grammar, gbnf, call("a.txt")), verdicts(grammar, gbnf, call("b.txt"))]).toEqual([true, false])
    const free = grammarFor("hermes", [tool])
    expect(verdicts(free, grammarToGbnf(free), call("b.txt"))).toBe(true)
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
