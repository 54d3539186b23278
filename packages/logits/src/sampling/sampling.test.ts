import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createRandom } from "./random.ts"
import { createSampler } from "./sampler.ts"
import { toLlamaServer } from "./llama-server.ts"
import { samplerProblems, validateSampler } from "./config.ts"
import {
  addBias,
  draw,
  keepAllowed,
  keepMinP,
  keepTopK,
  keepTopP,
  likeliest,
  penalize,
  ranked,
  softmax,
  withTemperature,
} from "./transforms.ts"

const logitsOf = (...probabilities: number[]) => Float32Array.from(probabilities, Math.log)
const left = (logits: Float32Array) => ranked(logits).sort((a, b) => a - b)

describe("samplers", () => {
  const logits = logitsOf(0.1, 0.4, 0.3, 0.15, 0.05)

  it("keep what their rule says and nothing else", () => {
    expect(left(keepTopK(logits, 2))).toEqual([1, 2])
    expect(left(keepTopP(logits, 0.7))).toEqual([1, 2])
    expect(left(keepTopP(logits, 0.71))).toEqual([1, 2, 3])
    expect(left(keepMinP(logits, 0.3))).toEqual([1, 2, 3])
    expect(left(keepAllowed(logits, Uint32Array.of(0b10001)))).toEqual([0, 4])
    expect(left(withTemperature(logits, 0))).toEqual([1])
  })

  it("keep the same as sorting everything would", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        (values, count, share) => {
          const input = Float32Array.from(values)
          const order = ranked(input)
          expect(left(keepTopK(input, count))).toEqual(order.slice(0, count).sort((a, b) => a - b))
          const probabilities = softmax(input)
          let sum = 0
          const fewest = order.findIndex((token) => (sum += probabilities[token]!) >= share - 1e-9) + 1
          expect(Math.abs(ranked(keepTopP(input, share)).length - fewest)).toBeLessThanOrEqual(1)
        },
      ),
    )
  })

  it("scale with the temperature", () => {
    const ratio = (temperature: number) => {
      const [, a, b] = softmax(withTemperature(logits, temperature))
      return a! / b!
    }
    expect(ratio(1)).toBeCloseTo(4 / 3, 4)
    expect(ratio(0.5)).toBeCloseTo(16 / 9, 4)
    expect(ratio(2)).toBeCloseTo(Math.sqrt(4 / 3), 4)
  })

  it("penalize what was there, each in its own way", () => {
    const before = Float32Array.of(2, -2, 1)
    expect([...penalize(before, [0, 1], { repetition: 2 })]).toEqual([1, -4, 1])
    expect([...penalize(before, [0, 0, 1], { frequency: 0.5 })]).toEqual([1, -2.5, 1])
    expect([...penalize(before, [0, 0, 1], { presence: 0.5 })]).toEqual([1.5, -2.5, 1])
    expect([...penalize(before, [99], { presence: 0.5 })]).toEqual([2, -2, 1])
  })

  it("never change their input, and never leave nothing", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 30 }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (values, share) => {
          const input = Float32Array.from(values)
          const copy = input.slice()
          const best = likeliest(input)
          for (const output of [
            keepTopK(input, 1),
            keepTopP(input, share),
            keepMinP(input, share),
            withTemperature(input, share),
            penalize(input, [0], { presence: 1 }),
            addBias(input, { 0: 1 }),
          ]) {
            expect(ranked(output).length).toBeGreaterThan(0)
          }
          expect(ranked(keepTopP(input, share))).toContain(best)
          expect(input).toEqual(copy)
        },
      ),
    )
  })

  it("draw by probability", () => {
    const random = createRandom(5)
    const counts = [0, 0, 0, 0, 0]
    for (let round = 0; round < 20_000; round++) counts[draw(logits, random)]!++
    for (const [token, expected] of [0.1, 0.4, 0.3, 0.15, 0.05].entries())
      expect(counts[token]! / 20_000).toBeCloseTo(expected, 1)
  })
})

describe("createRandom", () => {
  it("repeats for a seed and differs without one", () => {
    const take = (seed?: number) => Array.from({ length: 5 }, createRandom(seed))
    expect(take(7)).toEqual(take(7))
    expect(take(7)).not.toEqual(take(8))
    expect(take()).not.toEqual(take())
    expect(take(7).every((value) => value >= 0 && value < 1)).toBe(true)
  })
})

describe("createSampler", () => {
  it("chooses among allowed tokens only, the mask first", () => {
    const logits = logitsOf(0.9, 0.05, 0.05)
    const sampler = createSampler({ topK: 1, seed: 1 })
    expect(sampler.choose(logits)).toBe(0)
    expect([1, 2]).toContain(sampler.choose(logits, Uint32Array.of(0b110)))
    expect(sampler.choose(logits, Uint32Array.of(0))).toBe(-1)
  })

  it("gives the same tokens for the same seed", () => {
    const run = (seed: number) => {
      const sampler = createSampler({ seed, temperature: 1 })
      return Array.from({ length: 20 }, () => sampler.choose(logitsOf(0.25, 0.25, 0.25, 0.25)))
    }
    expect(run(3)).toEqual(run(3))
    expect(run(3)).not.toEqual(run(4))
  })

  it("does not hold tokens that a grammar forced against the model", () => {
    const logits = logitsOf(0.5, 0.45)
    const free = createSampler({ temperature: 0, presencePenalty: 1 })
    free.accept(0)
    expect(free.choose(logits)).toBe(1)
    const forced = createSampler({ temperature: 0, presencePenalty: 1 })
    forced.accept(0, { forced: true })
    expect(forced.choose(logits)).toBe(0)
  })

  it("forgets what left the window", () => {
    const sampler = createSampler({ temperature: 0, presencePenalty: 2, repetitionWindow: 2 })
    for (const token of [0, 1, 1]) sampler.accept(token)
    expect(sampler.choose(logitsOf(0.5, 0.45))).toBe(0)
  })

  it.each([1, 2] as const)("steers the surprise to the target with mirostat %i", (mirostat) => {
    const logits = Float32Array.from({ length: 2000 }, (_, rank) => -1.1 * Math.log(rank + 1))
    const probabilities = softmax(logits)
    const surprise = (tau: number) => {
      const sampler = createSampler({ mirostat, mirostatTau: tau, mirostatEta: 0.1, seed: 11 })
      let sum = 0
      for (let step = 0; step < 500; step++) {
        const token = sampler.choose(logits)
        sampler.accept(token)
        if (step >= 100) sum -= Math.log2(probabilities[token]!)
      }
      return sum / 400
    }
    expect(surprise(2)).toBeLessThan(surprise(4))
    expect(surprise(4)).toBeLessThan(surprise(7))
    expect(Math.abs(surprise(5) - 5)).toBeLessThan(1.5)
  })
})

describe("validateSampler", () => {
  it("names every setting out of its range", () => {
    expect(
      samplerProblems({
        temperature: 3,
        topK: 1.5,
        topP: 0,
        minP: -1,
        repetitionPenalty: 0,
        mirostat: 3 as 2,
        maxTokens: 0,
        seed: -2,
        stop: [""],
        logitBias: { 5: 200 },
      }),
    ).toEqual([
      "temperature must be from 0 to 2, not 3",
      "topK must be a whole number from 0 to 1000000, not 1.5",
      "topP must be above 0 and up to 1, not 0",
      "minP must be from 0 to 1, not -1",
      "repetitionPenalty must be above 0 and up to 2, not 0",
      "mirostat must be a whole number from 0 to 2, not 3",
      "seed must be a whole number from -1 to 4294967295, not -2",
      "maxTokens must be at least 1, or -1 for no limit, not 0",
      "logitBias of token 5 must be from -100 to 100, not 200",
      "stop must be a list of texts that are not empty",
    ])
    expect(() => validateSampler({ top_k: 4 } as object)).toThrow(
      expect.objectContaining({
        code: "INVALID_SAMPLER",
        message: expect.stringContaining("no sampler setting 'top_k'"),
      }),
    )
    expect(() => validateSampler({ temperature: Number.NaN })).toThrow(/temperature/)
  })
})

describe("toLlamaServer", () => {
  it("uses the server's names and leaves out what is not set", () => {
    expect(
      toLlamaServer({
        temperature: 0.2,
        topK: 50,
        repetitionPenalty: 1.1,
        repetitionWindow: 64,
        seed: -1,
        maxTokens: 100,
        mirostat: 2,
        mirostatTau: 5,
        logitBias: { 15043: 1, 2: Number.NEGATIVE_INFINITY },
      }),
    ).toEqual({
      temperature: 0.2,
      top_k: 50,
      repeat_penalty: 1.1,
      repeat_last_n: 64,
      n_predict: 100,
      mirostat: 2,
      mirostat_tau: 5,
      logit_bias: [
        [2, false],
        [15043, 1],
      ],
    })
  })
})
