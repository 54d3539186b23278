import { describe, expect, it } from "vitest"
import { createFilterChain, createGrammarFilter } from "../filter/index.ts"
import { schemaToGrammar } from "../constraint/index.ts"
import { createMaskEngine, createTokenizer } from "../masks/index.ts"
import { createRandom, draw, ranked } from "../sampling/index.ts"
import { createSafetyFilter } from "./safety-filter.ts"
import { createSafetyLogitFilter } from "./safety-logit-filter.ts"

const pieces = [
  "</s>",
  ...Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at)),
  " ",
  "ban",
  "ana",
  "nan",
  '"',
  "ü",
  "bü",
]
const encoder = new TextEncoder()
const tokens = [
  ...pieces.map((text, id) => (id === 0 ? null : encoder.encode(text))),
  Uint8Array.of(0xc3),
  Uint8Array.of(0xbc),
]
const tokenizer = createTokenizer({ tokens, eos: [0] })
const id = (text: string) => pieces.indexOf(text)
const safety = createSafetyFilter({ level: "minimal", categories: [], banned: ["banana", "bühne"] })
const flat = () => new Float32Array(tokens.length)

describe("createSafetyLogitFilter", () => {
  it("puts out the tokens that would complete something banned, and those alone", () => {
    const filter = createSafetyLogitFilter(safety, tokenizer)
    for (const piece of ["ban", "a", "n"]) expect(filter.accept(id(piece))).toBe(true)
    const logits = flat()
    filter.apply(logits)
    const out = pieces.filter((_, token) => logits[token] === -Infinity)
    expect(out).toEqual(["a", "ana"])
    expect(filter.accept(id("a"))).toBe(false)
    expect(filter.accept(id("b"))).toBe(true)
    filter.rollback()
    expect(filter.accept(id("a"))).toBe(false)
  })

  it("reads characters whose bytes come in several tokens", () => {
    const filter = createSafetyLogitFilter(safety, tokenizer)
    for (const token of [id("b"), tokens.length - 2, tokens.length - 1, id("h"), id("n")])
      expect(filter.accept(token)).toBe(true)
    expect(filter.accept(id("e"))).toBe(false)
  })

  it("never lets a random model write what is banned, also within a grammar", () => {
    const random = createRandom(2)
    const engine = createMaskEngine(schemaToGrammar({ type: "string", pattern: "^[ban]{0,40}$" }), tokenizer)
    let written = 0
    for (let round = 0; round < 30; round++) {
      const chain = createFilterChain([createGrammarFilter(engine), createSafetyLogitFilter(safety, tokenizer)])
      let text = ""
      for (;;) {
        const logits = Float32Array.from(tokens, () => random())
        chain.apply(logits)
        const token = draw(logits, random)
        expect(token).toBeGreaterThanOrEqual(0)
        expect(chain.accept(token)).toBe(true)
        if (token === 0) break
        text += pieces[token]
      }
      expect(text).not.toContain("banana")
      written += text.length
    }
    expect(written).toBeGreaterThan(200)
  })

  it("keeps the likeliest only, and branches", () => {
    const filter = createSafetyLogitFilter(safety, tokenizer, { candidates: 3 })
    const logits = Float32Array.from(tokens, (_, token) => -token)
    filter.apply(logits)
    expect(ranked(logits)).toEqual([0, 1, 2])
    filter.accept(id("ban"))
    const branch = filter.clone()
    branch.accept(id("a"))
    branch.accept(id("n"))
    expect([branch.accept(id("a")), filter.accept(id("b"))]).toEqual([false, true])
    filter.reset()
    expect(() => filter.rollback()).toThrow(RangeError)
  })
})
