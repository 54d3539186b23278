import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import {
  choice,
  chars,
  grammarOf,
  literal,
  repeat,
  rule,
  sequence,
  type PlainExpression,
  type PlainGrammar,
} from "../grammar/rules.ts"
import { grammarToGbnf } from "./from-grammar.ts"
import { checkGbnf } from "./check.ts"
import { matchesGbnf } from "./matcher.ts"

/** llama.cpp itself, where its Node binding is installed: what it says of a grammar and of a text. */
interface EngineGrammar {
  _testText(text: string): boolean
}

let createGrammar: ((grammar: string) => Promise<EngineGrammar>) | undefined
beforeAll(async () => {
  const name = "node-llama-cpp"
  const engine = await import(name).catch(() => undefined)
  if (engine === undefined) return console.warn("node-llama-cpp is not installed: nothing is compared with llama.cpp")
  const llama = await engine.getLlama({
    build: "never",
    skipDownload: true,
    gpu: false,
    progressLogs: false,
    logLevel: engine.LlamaLogLevel.disabled,
  })
  createGrammar = (grammar) => llama.createGrammar({ grammar })
})

async function compare(text: string, samples: readonly string[]): Promise<void> {
  expect(checkGbnf(text).filter(({ severity }) => severity === "error")).toEqual([])
  if (createGrammar === undefined) return
  const engine = await createGrammar(text)
  for (const sample of samples)
    expect([text, sample, engine._testText(sample)]).toEqual([text, sample, matchesGbnf(text, sample)])
}

describe("llama.cpp agrees", () => {
  it("on syntax: comments, alternatives across lines, escapes, bounds, classes", async () => {
    await compare(
      'root ::= # one\n  "a" |\n  ( "b" # two\n  | [c-e\\]x-] ){1,3} [^\\n\\x41]?\n\n# three\nother ::= root',
      ["a", "b", "bcd", "bbbb", "bA", "bz", "x-]q", "", "a\n"],
    )
    await compare('root ::= "\\u00e9" .{2} "\\U0001F600"*', ["é--", "é--😀😀", "é-", "e--", "é😀😀"])
  })

  it("on counters, also where they are nested because they are large", async () => {
    for (const [min, max] of [
      [0, 3],
      [2, 2],
      [1500, 2500],
      [0, 3001],
      [2100, undefined],
    ] as const) {
      const text = grammarToGbnf(grammarOf(repeat(chars([48, 57]), min, max)) as PlainGrammar)
      const counts = [0, min - 1, min, min + 1, ...(max === undefined ? [min + 2500] : [max - 1, max, max + 1])].filter(
        (count) => count >= 0,
      )
      await compare(
        text,
        counts.map((count) => "1".repeat(count)),
      )
    }
  })

  it("on printed grammars of every shape", async () => {
    await fc.assert(
      fc.asyncProperty(
        expression,
        fc.array(fc.stringMatching(/^[abcé"\\\n-]{0,6}$/), { minLength: 6, maxLength: 10 }),
        async (body, samples) => {
          const grammar = grammarOf(body, {
            inner: sequence(literal("b"), chars([0x61, 0x63])),
            rec: choice(literal("c"), sequence(literal("a"), rule("rec"))),
          }) as PlainGrammar
          await compare(grammarToGbnf(grammar), samples)
        },
      ),
      { numRuns: 300 },
    )
  })
})

const expression: fc.Arbitrary<PlainExpression> = fc.letrec<{ node: PlainExpression }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<PlainExpression>(
      literal("a"),
      literal('b"\\'),
      literal("\n-"),
      literal(""),
      chars([0x61, 0x62]),
      chars([0x20, 0x60], [0xe0, 0x10ffff]),
      rule("inner"),
      rule("rec"),
    ),
    fc.array(tie("node"), { minLength: 2, maxLength: 3 }).map((parts) => sequence(...parts)),
    fc.array(tie("node"), { minLength: 2, maxLength: 3 }).map((options) => choice(...options)),
    fc
      .tuple(tie("node"), fc.constantFrom([0], [1], [0, 1], [2, 2], [1, 3], [0, 2], [2]))
      .map(([of, [min, max]]) => repeat(of, min!, max)),
  ),
})).node
