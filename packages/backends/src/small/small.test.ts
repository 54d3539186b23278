import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { anyCharacter } from "../../../../.ci/any-character.ts"
import { createRandom, matchesGbnf } from "@toolwright/logits"
import { openLlama, openWith, type LlamaEngine } from "../llama/engine.ts"
import type { LlamaModule } from "../llama/module.ts"
import { LLAMA } from "../testing/engine-here.ts"
import { tinyGguf } from "../testing/tiny-gguf.ts"
import { writeAll } from "../testing/tiny-model.ts"
import { parseGguf } from "./gguf-file.ts"
import { fromHalf, roundToHalf } from "./half.ts"
import { Kernel } from "./kernel.ts"
import { piecesOf } from "./pieces.ts"
import { SMALL_ENGINE } from "./small-engine.ts"

const POCKET = fileURLToPath(import.meta.resolve("@toolwright/pocket/pocket-q8_0.gguf"))
const small = (): Promise<LlamaModule> => Promise.resolve(SMALL_ENGINE)
const REQUESTS = ["find TODO in src", "show me the first 5 lines of README.md", 'append "milk" to list.txt']
const asked = (request: string): string => `<|im_start|>user\n${request}<|im_end|>\n<|im_start|>assistant\n`
const call = String.raw`root ::= "{\"name\":\"" ("get_weather" | "get_file") "\",\"arguments\":{\"city\":\"" [ !#-\x5B\x5D-~]{0,12} "\"}}"`

let engine: LlamaEngine
beforeAll(async () => {
  engine = await openWith(small, { modelPath: POCKET })
})
afterAll(() => engine[Symbol.asyncDispose]())

/** A tiny model's file, which goes when the test has ended. */
function tinyFile(bytes: Uint8Array = tinyGguf()): string {
  const folder = mkdtempSync(join(tmpdir(), "small-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "tiny.gguf"), bytes)
  return join(folder, "tiny.gguf")
}

describe("the file", () => {
  it("that breaks off anywhere, or is another one, is refused with a reason", async () => {
    const file = tinyGguf()
    const head = file.length - parseGguf(file).tensors.get("blk.1.ffn_down.weight")!.bytes.length
    for (const length of [0, 3, 24, 100, 1000, Math.floor(head / 2), head, file.length - 1])
      expect(() => parseGguf(file.subarray(0, length)), String(length)).toThrow("it breaks off")
    expect(() => parseGguf(Buffer.from("no such file, but long enough to be one"))).toThrow("it is no GGUF file")
    await expect(openWith(small, { modelPath: tinyFile(file.subarray(0, 5000)) })).rejects.toMatchObject({
      code: "MODEL_SERVER_ERROR",
      message: expect.stringContaining("it breaks off") as string,
    })
    await expect(openWith(small, { modelPath: "/nowhere.gguf" })).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" })
  })

  it("with any byte changed is read or refused, and nothing else happens", () => {
    const file = tinyGguf({ layers: 1, width: 32 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const other = Uint8Array.from(file)
        other[at] = byte
        try {
          parseGguf(other)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(Error)
          expect((thrown as Error).message).toMatch(/^(it|its|version|\S* is of type)/)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe("numbers of 16 bits", () => {
  it("are read as what they stand for, and kept as they are when rounded", () => {
    expect([0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0].map(fromHalf)).toEqual([1, -2, 65504, 2 ** -14, 2 ** -24, 0])
    const changed = Array.from({ length: 0x7c00 }, (_, bits) => fromHalf(bits)).filter(
      (half) => !Object.is(roundToHalf(half), half),
    )
    expect(changed).toEqual([])
  })

  it("are the nearest there are", () => {
    const wrong: object[] = []
    for (let bits = 0; bits < 0x7bff; bits += 7) {
      const [low, high] = [fromHalf(bits), fromHalf(bits + 1)]
      for (const [number, nearest] of [
        [low + (high - low) * 0.49, low],
        [low + (high - low) * 0.51, high],
        [-(low + (high - low) * 0.51), -high],
      ] as const) {
        const rounded = roundToHalf(number)
        if (!Object.is(rounded, nearest)) wrong.push({ number, nearest, rounded })
      }
    }
    expect(wrong).toEqual([])
  })
})

describe("the loop over weights", () => {
  it("comes to the sum of the products of each block, times its scales", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 4 }), fc.nat(), (rows, blocks, seed) => {
        const random = createRandom(seed)
        const kernel = new Kernel(100_000)
        const filled = (count: number) => {
          const part = { values: kernel.bytes(count * 32), scales: kernel.floats(count) }
          for (const index of part.values.keys()) part.values[index] = Math.floor(random() * 255) - 127
          for (const index of part.scales.keys()) part.scales[index] = random()
          return part
        }
        const [weights, vector, product] = [filled(rows * blocks), filled(blocks), kernel.floats(rows)]
        kernel.multiply(weights, vector, product)
        for (let row = 0; row < rows; row++) {
          let [sum, size] = [0, 0]
          for (let at = 0; at < blocks * 32; at++) {
            const [block, own] = [Math.floor(at / 32), row * blocks * 32 + at]
            const scale = weights.scales[row * blocks + block]! * vector.scales[block]!
            const one = weights.values[own]! * vector.values[at]! * scale
            sum += one
            size += Math.abs(one)
          }
          expect(Math.abs(product[row]! - sum)).toBeLessThanOrEqual(1e-5 * size)
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe("tokens", () => {
  it("write the text that they were made of, whatever it holds", () => {
    const { bytes } = engine.vocabulary
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
        fc.pre(!/<(?:unk|\/?s|\||pad|\/?tool)/.test(text))
        const written = Buffer.concat(engine.tokenize(text).map((token) => bytes[token] ?? Buffer.from("?")))
        expect(written.toString("utf8")).toBe(Buffer.from(text).toString("utf8"))
      }),
    )
  })

  it("of marks are the marks, and long texts take no longer than they are long", () => {
    const { texts } = engine.vocabulary
    const named = (text: string): string[] => engine.tokenize(text).map((token) => texts[token]!)
    expect(named("<|im_end|>\n<|im_start|>")).toEqual(["<|im_end|>", named("\n")[0], "<|im_start|>"])
    expect(engine.tokenize("word ".repeat(40_000)).length).toBeGreaterThan(40_000)
  })

  it("join by the best score first, of equal ones the leftmost", () => {
    const { tokenize, texts } = piecesOf(parseGguf(tinyGguf({ pieces: ["ab", "bc", "abc", "aa"] })))
    const named = (text: string): string[] => tokenize(text).map((token) => texts[token]!)
    expect(named("abc")).toEqual(["abc"])
    expect(named("aaa")).toEqual(["aa", "a"])
    expect(named("bcb")).toEqual(["bc", "b"])
  })
})

describe("generations", () => {
  it("are held to their grammar, the same for the same seed", async () => {
    await using tiny = await openWith(small, { modelPath: tinyFile(), contextSize: 512 })
    const write = (seed: number) =>
      writeAll(tiny.generate("call: ", { grammar: call, sampling: { seed, temperature: 1 } }))
    const texts = [await write(1), await write(1), await write(2)]
    for (const text of texts) expect(matchesGbnf(call, text)).toBe(true)
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]).not.toBe(texts[2])
    expect(matchesGbnf(call, await writeAll(tiny.generate("x", { grammar: call, sampling: { temperature: 0 } })))).toBe(
      true,
    )
  })

  it("end within a token when cancelled, and leave the engine free", async () => {
    const stop = new AbortController()
    const run = engine.generate("x", { grammar: "root ::= [a-z]{300}", signal: stop.signal })
    await run.next()
    stop.abort(new Error("enough"))
    await expect(writeAll(run)).rejects.toThrow("enough")
    expect(await writeAll(engine.generate("x", { grammar: 'root ::= "ok"' }))).toBe("ok")
  })

  it("take up what was read before, and come to the same", async () => {
    const prompt = asked(REQUESTS[0]!)
    const greedy = { sampling: { temperature: 0 } }
    const first = await writeAll(engine.generate(prompt, greedy))
    expect(first).toContain("search_grep")
    expect(await writeAll(engine.generate(prompt, greedy))).toBe(first)
    await writeAll(engine.generate(asked("list the files"), greedy))
    expect(await writeAll(engine.generate(prompt, greedy))).toBe(first)
    await expect(writeAll(engine.generate("word ".repeat(600)))).rejects.toMatchObject({
      code: "MODEL_REQUEST_REJECTED",
    })
  })

  it("let others have their turn while a prompt is read", async () => {
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    onTestFinished(() => clearInterval(counting))
    await writeAll(engine.generate("other ".repeat(20), { grammar: 'root ::= "ok"' }))
    expect(turns).toBeGreaterThan(2)
  })
})

describe.skipIf(!LLAMA.installed)("beside llama.cpp", () => {
  let real: LlamaEngine
  beforeAll(async () => {
    real = await openLlama({ modelPath: POCKET })
  })
  afterAll(() => real[Symbol.asyncDispose]())

  it("a file says the same", () => {
    const said = ({ vocabulary, modelName, contextSize, chatTemplate, bosText, eosText }: LlamaEngine) => ({
      vocabulary,
      modelName,
      contextSize,
      chatTemplate,
      bosText,
      eosText,
    })
    expect(said(engine)).toEqual(said(real))
  })

  it("texts have the same tokens", () => {
    const read = (name: string): string => readFileSync(new URL(`../../../../${name}`, import.meta.url), "utf8")
    const texts = [...read("README.md").split("\n"), read("docs/pocket.md"), " a  b\t🎉 ü<|im_end|><tool_call>"]
    for (const text of texts) expect(engine.tokenize(text), text).toEqual(real.tokenize(text))
  })

  it("chances differ by hundredths, and requests have the same reply", async () => {
    for (const request of REQUESTS) {
      const tokens = engine.tokenize(asked(request))
      const logits = (one: LlamaEngine) =>
        one.withSequence(async ({ sequence }) => {
          await sequence.adaptStateToTokens([], false)
          const look = { generateNext: { logits: true as const } }
          return await sequence.controlledEvaluate(tokens.map((token) => [token, look] as const))
        })
      const [ours, theirs] = [await logits(engine), await logits(real)]
      for (const index of tokens.keys())
        expect(distance(chances(ours[index]), chances(theirs[index]))).toBeLessThan(0.1)
      const greedy = { sampling: { temperature: 0 } }
      const replies = [engine, real].map((one) => writeAll(one.generate(asked(request), greedy)))
      expect(await replies[0]).toBe(await replies[1])
    }
  })
})

function chances(output: { next: { logits?: ReadonlyMap<number, number> } } | undefined): number[] {
  const logits = output!.next.logits!
  const most = Math.max(...logits.values())
  const weights = Array.from({ length: logits.size }, (_, token) => Math.exp(logits.get(token)! - most))
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / whole)
}

/** Half of what would have to be moved from one to the other. */
function distance(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, chance, token) => sum + Math.abs(chance - other[token]!), 0) / 2
}
