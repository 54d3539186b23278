import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { checkGbnf, gbnfErrors, matchesGbnf } from "../gbnf/index.ts"
import { grammarToGbnf } from "../gbnf/from-grammar.ts"
import { lowerGrammar } from "../lowering/index.ts"
import { jsonNotation, type Notation, pythonNotation } from "../grammar/notation.ts"
import type { Grammar } from "../grammar/rules.ts"
import { compileSchema, schemaToGrammar } from "../constraint/schema-grammar.ts"
import { createMaskEngine, createTokenizer, isAllowed, type Tokenizer } from "../masks/index.ts"
import { createMatcher } from "../matcher/index.ts"
import type { JsonSchema } from "../schema/json-schema.ts"
import { createRandom } from "../sampling/random.ts"
import { pathsOf, spansOf, TRICKY, wholeNumbersOf } from "../fixtures/grounding-oracle.ts"

interface EngineGrammar {
  _testText(text: string): boolean
}

let createGrammar: ((options: { grammar: string }) => Promise<EngineGrammar>) | undefined
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
  createGrammar = (options) => llama.createGrammar(options)
})

const texts = fc.array(fc.constantFrom(...TRICKY), { minLength: 1, maxLength: 14 }).map((letters) => letters.join(""))

/** All bytes, and pieces of two that stand in the text or might. */
function tokenizerFor(text: string): Tokenizer {
  const encoder = new TextEncoder()
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  const letters = Array.from(JSON.stringify(text.replaceAll("\0", " ").toWellFormed()))
  const pairs = [...new Set(letters.map((letter, index) => letter + (letters[index + 1] ?? '"')))]
  return createTokenizer({
    tokens: [...bytes, ...pairs.map((pair) => encoder.encode(pair)), encoder.encode('"}'), null],
    eos: [256 + pairs.length + 1],
  })
}

function matches(grammar: Grammar, text: string): boolean {
  const matcher = createMatcher(grammar)
  return matcher.accept(text) && matcher.isComplete()
}

/** Whether masks let a text through, taking the longest token at each place. */
function masksAllow(grammar: Grammar, tokenizer: Tokenizer, text: string): boolean {
  const matcher = createMaskEngine(grammar, tokenizer).matcher()
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length;) {
    const mask = matcher.mask()
    let best = -1
    for (let token = 0; token < tokenizer.size; token++) {
      const own = tokenizer.bytesOf(token)
      if (own === null || !isAllowed(mask, token) || own.some((byte, index) => bytes[at + index] !== byte)) continue
      if (best < 0 || own.length > tokenizer.bytesOf(best)!.length) best = token
    }
    if (best < 0) return false
    expect(matcher.accept(best)).toBe(true)
    at += tokenizer.bytesOf(best)!.length
  }
  return tokenizer.eos.every((token) => isAllowed(matcher.mask(), token))
}

const STRING: JsonSchema = { type: "string" }
/** Texts near those that are allowed. */
const near = (all: Iterable<string>): string[] =>
  [...all].flatMap((one) => [one.slice(1), one.slice(0, -1), `${one} `, `${one}a`]).filter((one) => one.isWellFormed())

describe("a grounded string", () => {
  it("is a span wherever the grammar runs: matcher, plain rules, GBNF, llama.cpp, masks", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom("span" as const, "path" as const), async (text, kind) => {
        const all = kind === "span" ? spansOf(text) : pathsOf(text)
        fc.pre(all.size > 0)
        const grammar = schemaToGrammar({ ...STRING, grounded: kind }, { notation: jsonNotation, grounding: { text } })
        const [plain, gbnf, tokenizer] = [lowerGrammar(grammar), grammarToGbnf(grammar), tokenizerFor(text)]
        expect([gbnfErrors(gbnf), checkGbnf(gbnf)]).toEqual([[], []])
        const engine = await createGrammar?.({ grammar: gbnf })
        const some = [...all].slice(0, 12)
        for (const one of [...some, ...near(some).slice(0, 24)]) {
          const json = JSON.stringify(one)
          const expected = all.has(one)
          const verdicts = [
            matches(grammar, json),
            matches(plain, json),
            matchesGbnf(gbnf, json),
            masksAllow(grammar, tokenizer, json),
            engine?._testText(json) ?? expected,
          ]
          expect([text, one, ...verdicts]).toEqual([text, one, ...verdicts.map(() => expected)])
        }
      }),
      { numRuns: 60 },
    )
  })

  it("leads to a span from every token that a mask allows", () => {
    const random = createRandom(5)
    const text = 'say "it is\\here" (now)\nor: 読む é😀 in a/b.c'
    const tokenizer = tokenizerFor(text)
    const engine = createMaskEngine(
      schemaToGrammar(
        {
          type: "object",
          properties: { a: { ...STRING, grounded: "span" }, b: { ...STRING, grounded: "path" } },
          required: ["a", "b"],
        },
        { grounding: { text } },
      ),
      tokenizer,
    )
    for (let round = 0; round < 40; round++) {
      const matcher = engine.matcher()
      const bytes: number[] = []
      for (let step = 0; !matcher.isEnded(); step++) {
        expect(step).toBeLessThan(400)
        const allowed = Array.from({ length: tokenizer.size }, (_, token) => token).filter((token) =>
          isAllowed(matcher.mask(), token),
        )
        // White space may go on for ever, so it is left out where there is anything else.
        const useful = allowed.filter(
          (token) => !/^\s/.test(new TextDecoder().decode(tokenizer.bytesOf(token) ?? new Uint8Array(0))),
        )
        const from = bytes.length > 60 || useful.length === 0 ? allowed : useful
        expect(from.length).toBeGreaterThan(0)
        const token =
          useful.length > 0 && random() < 0.8
            ? useful[Math.floor(random() * useful.length)]!
            : from[Math.floor(random() * from.length)]!
        matcher.accept(token)
        bytes.push(...(tokenizer.bytesOf(token) ?? []))
      }
      const { a, b } = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes))) as { a: string; b: string }
      expect([spansOf(text).has(a), pathsOf(text).has(b), a, b]).toEqual([true, true, a, b])
    }
  })

  const delimited: Notation = {
    ...jsonNotation,
    id: "marked",
    string: { kind: "delimited", open: "<q>", close: "</q>" },
  }
  const bare: Notation = { ...jsonNotation, id: "bare", string: { kind: "bare", stop: ["</v>", "\n<"] } }
  it.each([
    [
      "python",
      pythonNotation,
      (one: string) => `'${one.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`,
    ],
    ["marked", delimited, (one: string) => `<q>${one}</q>`],
    ["bare", bare, (one: string) => one],
  ])("takes the escapes and limits of its notation: %s", (_name, notation, write) => {
    const text = `don't say "a\\b"\n<tag> or </v> and </q> (x)`
    const grammar = schemaToGrammar({ ...STRING, grounded: "span" }, { notation, grounding: { text } })
    const gbnf = grammarToGbnf(grammar)
    let held = 0
    for (const one of spansOf(text)) {
      const stopped =
        notation.string.kind === "bare"
          ? notation.string.stop.some((stop) => one.includes(stop))
          : notation.string.kind === "delimited" && one.includes("</q>")
      expect([one, matches(grammar, write(one)), matchesGbnf(gbnf, write(one))]).toEqual([one, !stopped, !stopped])
      if (!stopped) held++
    }
    expect(held).toBeGreaterThan(20)
    for (const one of ["sa", "say  ", "b\\"])
      expect([matches(grammar, write(one)), matchesGbnf(gbnf, write(one))]).toEqual([false, false])
  })
})

describe("a grounded number", () => {
  it("is one that occurs, and is within the schema's bounds", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const all = [...wholeNumbersOf(text)]
        const allowed = all.filter((one) => Number(one) >= 0)
        const grammar = schemaToGrammar({ type: "integer", minimum: 0, grounded: "number" }, { grounding: { text } })
        const gbnf = grammarToGbnf(grammar)
        for (const one of new Set([...all, "0", "1", "10", "-1", "5"])) {
          const expected = allowed.length === 0 ? Number(one) >= 0 : allowed.includes(one)
          expect([text, one, matches(grammar, one), matchesGbnf(gbnf, one)]).toEqual([text, one, expected, expected])
        }
      }),
      { numRuns: 150 },
    )
  })

  it("may be text too", () => {
    const grammar = schemaToGrammar(
      { type: ["string", "integer"], grounded: "number" },
      { grounding: { text: "issue #42, see 7" } },
    )
    const gbnf = grammarToGbnf(grammar)
    for (const [text, expected] of [
      ['"42"', true],
      ["42", true],
      ["7", true],
      ['"4"', false],
      ["4", false],
      ['"see"', false],
    ] as const)
      expect([text, matches(grammar, text), matchesGbnf(gbnf, text)]).toEqual([text, expected, expected])
  })
})

describe("beside what the schema says", () => {
  const accepted = (schema: JsonSchema, text: string, values: readonly unknown[]): boolean[] => {
    const grammar = schemaToGrammar(schema, { grounding: { text } })
    const gbnf = grammarToGbnf(grammar)
    return values.map((value) => {
      const json = JSON.stringify(value)
      const verdict = matches(grammar, json)
      expect([json, matchesGbnf(gbnf, json)]).toEqual([json, verdict])
      return verdict
    })
  }

  it("both must hold", () => {
    expect(
      accepted({ ...STRING, pattern: "\\.ts$", grounded: "path" }, "src/a.ts b.js", ["src/a.ts", "b.js", "x.ts"]),
    ).toEqual([true, false, false])
    expect(
      accepted({ ...STRING, minLength: 4, maxLength: 5, grounded: "span" }, "one three eleven", [
        "one",
        "three",
        "eleven",
      ]),
    ).toEqual([false, true, false])
    expect(
      accepted({ allOf: [{ ...STRING, grounded: "span" }, { pattern: "^o" }] }, "one two", ["one", "two", "other"]),
    ).toEqual([true, false, false])
  })

  it("an enumeration wins, and a rule that leaves nothing falls away", () => {
    expect(
      accepted({ ...STRING, enum: ["red", "green"], grounded: "span" }, "a red one", ["red", "green", "one"]),
    ).toEqual([true, true, false])
    expect(
      accepted({ allOf: [{ enum: ["red", "green"] }, { ...STRING, grounded: "span" }] }, "a red one", [
        "red",
        "green",
        "one",
      ]),
    ).toEqual([true, true, false])
    expect(accepted({ ...STRING, pattern: "^[0-9]+$", grounded: "span" }, "no digits", ["12", "no"])).toEqual([
      true,
      false,
    ])
    expect(accepted({ ...STRING, grounded: "span" }, "", ["anything"])).toEqual([true])
  })

  it("it is no assertion: what a schema excludes is excluded as if it were not there", () => {
    expect(accepted({ not: { ...STRING, grounded: "span" } }, "a", ["b", 1])).toEqual([false, true])
    expect(
      accepted(
        {
          oneOf: [
            { ...STRING, grounded: "span" },
            { type: "string", maxLength: 2 },
          ],
        },
        "a word",
        ["word", "wrong", "no", "a"],
      ),
    ).toEqual([true, false, false, false])
  })

  it("constants are allowed too, where the schema takes them", () => {
    expect(
      accepted({ ...STRING, minLength: 2, grounded: { kind: "path", also: [".", "*.ts", "src"] } }, "see src/a", [
        ".",
        "*.ts",
        "src",
        "src/a",
        "see/src",
        "lib",
      ]),
    ).toEqual([false, true, true, true, true, false])
    expect(
      accepted(
        { type: "integer", maximum: 50, grounded: { kind: "number", also: ["10", "100", "ten"] } },
        "take 3",
        [3, 10, 100, 1],
      ),
    ).toEqual([true, true, false, false])
    expect(accepted({ ...STRING, grounded: { kind: "span", also: ["."] } }, "", [".", "x"])).toEqual([true, false])
  })

  it("reaches items, nested objects and references", () => {
    const text = "copy a.txt b.txt to docs"
    expect(
      accepted({ type: "array", items: { ...STRING, grounded: "path" } }, text, [
        ["a.txt", "docs/b.txt"],
        ["c.txt"],
        [],
      ]),
    ).toEqual([true, false, true])
    const nested: JsonSchema = {
      type: "object",
      properties: {
        steps: {
          type: "array",
          items: { type: "object", properties: { from: { $ref: "#/$defs/file" } }, required: ["from"] },
        },
      },
      required: ["steps"],
      $defs: { file: { ...STRING, grounded: "path" } },
    }
    expect(accepted(nested, text, [{ steps: [{ from: "a.txt" }] }, { steps: [{ from: "z.txt" }] }])).toEqual([
      true,
      false,
    ])
  })

  it("does not count where no conversation is given", () => {
    const compiled = compileSchema({ ...STRING, grounded: "span" })
    expect([compiled.status, matches(compiled.grammar!, '"anything"')]).toEqual(["exact", true])
    expect(grammarToGbnf(compiled.grammar!)).toBe(grammarToGbnf(compileSchema(STRING).grammar!))
    expect(compileSchema({ ...STRING, grounded: "nonsense" }).status).toBe("exact")
  })

  it("in long texts is bounded in size", () => {
    const text = "some words and src/file.ts or 42 ".repeat(6000)
    const grammar = schemaToGrammar(
      {
        type: "object",
        properties: { a: { ...STRING, grounded: "span" }, b: { ...STRING, maxLength: 300, grounded: "span" } },
        required: ["a", "b"],
      },
      { grounding: { text } },
    )
    expect(matches(grammar, '{"a":"src/file.ts","b":"words and src/file.ts"}')).toBe(true)
    expect(grammarToGbnf(grammar).length).toBeLessThan(1_500_000)
  })
})
