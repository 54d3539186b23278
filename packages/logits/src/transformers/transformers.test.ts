import { describe, expect, it } from "vitest"
import { schemaToGrammar } from "../constraint/index.ts"
import { createMaskEngine, createTokenizer } from "../masks/index.ts"
import { createRandom, draw } from "../sampling/index.ts"
import { createLogitsProcessor, type GrammarLogitsProcessor } from "./logits-processor.ts"
import { byteLevelAlphabet } from "./byte-level.ts"
import { vocabularyFromTokenizerJson, type TokenizerJson } from "./tokenizer-json.ts"

/** A byte-level tokenizer with all single bytes and some pieces, as Qwen and Llama 3 have them. */
const letters = [...byteLevelAlphabet().keys()]
const pieces = ['{"', '":', '",', '"}', "city", "Ġthe", "ĊĊ", "true", "10", "ÃŃ"]
const byteLevel: TokenizerJson = {
  model: { type: "BPE", vocab: Object.fromEntries([...letters, ...pieces].map((text, id) => [text, id])) },
  added_tokens: [
    { id: 266, content: "<|im_end|>", special: true },
    { id: 267, content: "<tool_call>", special: false },
  ],
  decoder: { type: "Sequence", decoders: [{ type: "ByteLevel" }] },
}
const decode = (bytes: readonly (Uint8Array | null | undefined)[]) =>
  new TextDecoder().decode(Uint8Array.from(bytes.flatMap((part) => [...(part ?? [])])))

describe("vocabularyFromTokenizerJson", () => {
  it("reads byte-level vocabularies", () => {
    const { tokens, eos } = vocabularyFromTokenizerJson(byteLevel, ["<|im_end|>"])
    expect(eos).toEqual([266])
    expect([261, 262, 265, 267].map((id) => decode([tokens[id]]))).toEqual([" the", "\n\n", "í", "<tool_call>"])
    expect(tokens[266]).toBeNull()
    expect(new Set(tokens.slice(0, 256).map((bytes) => bytes![0])).size).toBe(256)
  })

  it("reads SentencePiece vocabularies, as map and as list", () => {
    const model = {
      type: "Unigram",
      vocab: [
        ["<unk>", 0],
        ["▁the", -1],
        ["<0xC3>", -2],
        ["é", -3],
      ] as const,
      byte_fallback: true,
    }
    const { tokens, eos } = vocabularyFromTokenizerJson(
      { model, added_tokens: [{ id: 0, content: "<unk>", special: true }] },
      [0],
    )
    expect([tokens[0], decode([tokens[1]]), [...tokens[2]!], decode([tokens[3]]), eos]).toEqual([
      null,
      " the",
      [0xc3],
      "é",
      [0],
    ])
  })

  it("refuses what no mask can be made of", () => {
    expect(() => vocabularyFromTokenizerJson({ model: { type: "WordPiece", vocab: {} } }, [])).toThrow(
      expect.objectContaining({ code: "UNSUPPORTED_TOKENIZER" }),
    )
    expect(() => vocabularyFromTokenizerJson(byteLevel, ["<|none|>"])).toThrow(
      expect.objectContaining({ code: "UNSUPPORTED_TOKENIZER" }),
    )
  })
})

describe("createLogitsProcessor", () => {
  const vocabulary = vocabularyFromTokenizerJson(byteLevel, ["<|im_end|>"])
  const size = vocabulary.tokens.length + 20 // models pad their output beyond the vocabulary
  const grammar = schemaToGrammar({
    type: "object",
    properties: { city: { type: "string", maxLength: 8 }, ok: { type: "boolean" } },
    required: ["city", "ok"],
    additionalProperties: false,
  })
  const engine = createMaskEngine(grammar, createTokenizer(vocabulary))

  /** What `generate` does around its processors: a batch of rows, each until its end token, then padding. */
  function generate(processor: GrammarLogitsProcessor, rows: number, seed: number): string[] {
    const random = createRandom(seed)
    const prompt = [1n, 2n, 3n]
    const ids = Array.from({ length: rows }, () => [...prompt])
    const ended = ids.map(() => false)
    for (let step = 0; step < 200 && ended.includes(false); step++) {
      const data = Float32Array.from({ length: rows * size }, () => random() * 4)
      processor(ids, { data, dims: [rows, size] })
      for (const [row, sequence] of ids.entries()) {
        const token = draw(data.subarray(row * size, (row + 1) * size), random)
        expect(token).toBeGreaterThanOrEqual(0)
        sequence.push(BigInt(ended[row] ? 0 : token))
        ended[row] ||= token === 266
      }
    }
    return ids.map((sequence) =>
      decode(sequence.slice(3, sequence.indexOf(266n)).map((id) => vocabulary.tokens[Number(id)])),
    )
  }

  it("holds every row of a batch to the grammar to its end", () => {
    for (let seed = 0; seed < 10; seed++) {
      for (const text of generate(createLogitsProcessor(engine), 3, seed)) {
        const { city, ok, ...rest } = JSON.parse(text) as { city: string; ok: boolean }
        expect([typeof city, [...city].length <= 8, typeof ok, rest]).toEqual(["string", true, "boolean", {}])
      }
    }
  })

  it("follows beams that change places", () => {
    const processor = createLogitsProcessor(engine)
    const open = vocabulary.tokens.findIndex((bytes) => bytes !== null && decode([bytes]) === '{"')
    const brace = vocabulary.tokens.findIndex((bytes) => bytes !== null && decode([bytes]) === "{")
    const logits = () => ({ data: new Float32Array(2 * size), dims: [2, size] })
    processor([[1], [1]], logits())
    processor(
      [
        [1, open],
        [1, brace],
      ],
      logits(),
    )
    const swapped = logits()
    const city = vocabulary.tokens.findIndex((bytes) => bytes !== null && decode([bytes]) === "city")
    processor(
      [
        [1, brace, letters.indexOf('"')],
        [1, open, city],
      ],
      swapped,
    )
    const allowed = (row: number, text: string) =>
      swapped.data[row * size + vocabulary.tokens.findIndex((bytes) => bytes !== null && decode([bytes]) === text)] ===
      0
    expect([allowed(0, "city"), allowed(0, '":'), allowed(1, '":'), allowed(1, "city")]).toEqual([
      true,
      false,
      true,
      false,
    ])
  })

  it("says so when something else forces a token in", () => {
    const processor = createLogitsProcessor(engine)
    processor([[1]], { data: new Float32Array(size), dims: [1, size] })
    expect(() => processor([[1, letters.indexOf("x")]], { data: new Float32Array(size), dims: [1, size] })).toThrow(
      expect.objectContaining({ code: "GRAMMAR_MISMATCH" }),
    )
    processor.reset()
    expect(
      processor._call([[1, 2]], { data: new Float32Array(size), dims: [1, size] }).data.some((logit) => logit === 0),
    ).toBe(true)
    expect(() => processor([[1, 2]], { data: new Uint16Array(size), dims: [1, size] })).toThrow(
      expect.objectContaining({ code: "UNSUPPORTED_LOGITS" }),
    )
  })
})
