import { describe, expect, test } from "vitest"
import { hasSharedData, longestMatch, readRecords, tokenizerOf, type ToolSetRecord } from "../fixtures/shared-data.ts"
import { schemaToGrammar } from "../constraint/schema-grammar.ts"
import { multiToolCallSchema } from "../grammar/tool-call-schema.ts"
import { createRandom } from "../sampling/index.ts"
import { isAllowed } from "./apply.ts"
import { createMaskEngine, type TokenMatcher } from "./engine.ts"
import type { Tokenizer } from "./tokenizer.ts"

/** TOOLWRIGHT_FULL=1 follows 200 calls over 50 tool sets and takes some minutes. */
const full =
  (globalThis as { process?: { env: Record<string, string | undefined> } }).process?.env["TOOLWRIGHT_FULL"] === "1"
const SETS = full ? 50 : 3
const CALLS = full ? 4 : 1

/** The tokens whose mask bit is not what the matcher says about their bytes. */
function disagreements(matcher: TokenMatcher, tokenizer: Tokenizer, tokens: Iterable<number>): number[] {
  const mask = matcher.mask()
  const wrong: number[] = []
  for (const token of tokens) {
    const bytes = tokenizer.bytesOf(token)
    const allowed = tokenizer.eos.includes(token)
      ? matcher.isComplete()
      : bytes !== null && bytes.length > 0 && matcher.bytes.accepts(bytes)
    if (allowed !== isAllowed(mask, token)) wrong.push(token)
  }
  return wrong
}

function* everyToken({ size }: Tokenizer): Generator<number> {
  for (let token = 0; token < size; token++) yield token
}

describe.skipIf(!hasSharedData)("a mask bit is set exactly where the matcher accepts the token's bytes", () => {
  const sets = hasSharedData
    ? readRecords<ToolSetRecord>("bfcl.jsonl")
        .filter((_, index) => index % 11 === 0)
        .slice(0, SETS)
    : []

  /**
   * Calls drawn token by token from the mask, with a leaning to short ones: they get into corners that model answers do
   * not.
   */
  function follow(
    name: "llama-spm" | "llama-bpe" | "qwen2",
    sample: (tokenizer: Tokenizer, step: number) => Iterable<number>,
  ): number {
    const tokenizer = tokenizerOf(name)
    let steps = 0
    for (const { tools, tests, source } of sets) {
      const grammar = schemaToGrammar(multiToolCallSchema(tools, { name: "name", arguments: "arguments" }))
      const engine = createMaskEngine(grammar, tokenizer)
      for (const { data, valid } of tests.slice(0, CALLS + 1)) {
        const matcher = engine.matcher()
        let open = true
        for (const token of longestMatch(tokenizer, new TextEncoder().encode(JSON.stringify(data)))) {
          expect(disagreements(matcher, tokenizer, sample(tokenizer, steps++)), source).toEqual([])
          open = matcher.accept(token)
          if (!open) break
        }
        if (open) expect(disagreements(matcher, tokenizer, sample(tokenizer, steps)), source).toEqual([])
        expect(open && matcher.isComplete(), source).toBe(valid)
      }
    }
    return steps
  }

  test("all 32,000 tokens at every step", () => {
    expect(follow("llama-spm", everyToken)).toBeGreaterThan(50)
  }, 1_200_000)

  test.each(["llama-bpe", "qwen2"] as const)(
    "sampled tokens of %s",
    (name) => {
      const random = createRandom(7)
      const some = (tokenizer: Tokenizer): number[] => [
        ...tokenizer.eos,
        ...Array.from({ length: 1500 }, () => Math.floor(random() * tokenizer.size)),
      ]
      expect(follow(name, some)).toBeGreaterThan(50)
    },
    1_200_000,
  )

  test("calls that a random walk over the masks writes are complete and parse", () => {
    const tokenizer = tokenizerOf("llama-spm")
    const random = createRandom(11)
    for (const { tools } of sets) {
      const engine = createMaskEngine(schemaToGrammar(multiToolCallSchema(tools)), tokenizer)
      const matcher = engine.matcher()
      const text: Uint8Array[] = []
      for (let step = 0; step < 60 && !matcher.isEnded(); step++) {
        const mask = matcher.mask()
        if (step < 5 || full) expect(disagreements(matcher, tokenizer, everyToken(tokenizer))).toEqual([])
        const token = drawAllowed(mask, tokenizer, random)
        expect(token).toBeGreaterThanOrEqual(0)
        expect(matcher.accept(token)).toBe(true)
        text.push(tokenizer.bytesOf(token) ?? new Uint8Array(0))
      }
      if (matcher.isEnded()) JSON.parse(new TextDecoder().decode(Uint8Array.from(text.flatMap((bytes) => [...bytes]))))
    }
  }, 1_200_000)
})

function drawAllowed(mask: Uint32Array, tokenizer: Tokenizer, random: () => number): number {
  const start = Math.floor(random() * tokenizer.size)
  for (let offset = 0; offset < tokenizer.size; offset++) {
    const token = (start + offset) % tokenizer.size
    if (isAllowed(mask, token)) return token
  }
  return -1
}
