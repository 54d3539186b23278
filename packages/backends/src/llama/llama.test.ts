import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { checkGbnf, createGbnfMatcher, matchesGbnf } from "@toolwright/logits"
import { collectEvents, joined } from "../testing/collect-events.ts"
import { LLAMA } from "../testing/engine-here.ts"
import { openTinyModel, tinyModelFile, writeAll } from "../testing/tiny-model.ts"
import { tinyGguf } from "../testing/tiny-gguf.ts"
import { llamaBackend, openLlamaBackend } from "./backend.ts"
import { openLlama, type LlamaEngine } from "./engine.ts"
import type { LlamaModel } from "./module.ts"
import { createStopCutter } from "../stop-cutter.ts"
import { createTokenText } from "./token-text.ts"
import { vocabularyOf } from "./vocabulary.ts"

let engine: LlamaEngine
beforeAll(async () => {
  engine = await openTinyModel()
})
afterAll(() => engine[Symbol.asyncDispose]())

const messages = [{ role: "user", content: "Hello" }] as const
const call = String.raw`root ::= "{\"name\":\"" ("get_weather" | "get_file") "\",\"arguments\":{\"city\":\"" [ !#-\x5B\x5D-~À-ÿ]{0,12} "\"}}"`

describe("openLlama", () => {
  it("reports progress while the file is read", async () => {
    const shares: number[] = []
    await using own = await openTinyModel({}, { onProgress: (share) => shares.push(share) })
    expect(own.modelName).toBe("tiny-random")
    expect(shares.length).toBeGreaterThan(0)
    expect(shares.at(-1)).toBe(1)
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  })

  it.skipIf(!LLAMA.installed)("says what is wrong with the file", async () => {
    await expect(openLlama({ modelPath: "/nowhere/model.gguf" })).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" })
    await expect(openLlama({ modelPath: import.meta.filename })).rejects.toMatchObject({ code: "MODEL_SERVER_ERROR" })
  })

  it.skipIf(!LLAMA.installed)("stops loading when told", async () => {
    await using file = await tinyModelFile()
    await expect(openLlama({ modelPath: file.path, signal: AbortSignal.abort(new Error("no more")) })).rejects.toThrow(
      "no more",
    )
    const stop = new AbortController()
    const loading = openLlama({
      modelPath: file.path,
      signal: stop.signal,
      onProgress: () => stop.abort(new Error("in the middle")),
    })
    await expect(loading).rejects.toThrow("in the middle")
  })
})

describe("generate", () => {
  it("writes what the grammar allows, the same for the same seed", async () => {
    const write = (seed: number) =>
      writeAll(engine.generate("call: ", { grammar: call, sampling: { seed, temperature: 1 } }))
    const texts = [await write(1), await write(1), await write(2)]
    for (const text of texts) expect(matchesGbnf(call, text)).toBe(true)
    expect(texts[0]).toBe(texts[1])
    expect(texts[0]).not.toBe(texts[2])
  })

  it("writes noise without one", async () => {
    const text = await writeAll(engine.generate("call: ", { sampling: { seed: 1, temperature: 1, maxTokens: 60 } }))
    expect(createGbnfMatcher(call).acceptText(text)).toBe(false)
  })

  it("never lets a grammar through that the engine refuses or dies of", async () => {
    for (const grammar of [
      'root ::= "a"{3,2}',
      "root ::= item",
      'root ::= root "a" | "b"',
      'root ::= "a"{0,5000}',
      "root = x",
    ]) {
      await expect(writeAll(engine.generate("x", { grammar }))).rejects.toMatchObject({ code: "GRAMMAR_REFUSED" })
    }
  })

  it("runs one after another, whoever asks first", async () => {
    const texts = await Promise.all(
      [1, 2, 3].map((seed) => writeAll(engine.generate(`p${seed}: `, { grammar: call, sampling: { seed } }))),
    )
    for (const text of texts) expect(matchesGbnf(call, text)).toBe(true)
  })

  it("ends within a token when cancelled, and is free again", async () => {
    const stop = new AbortController()
    const run = engine.generate("x", {
      grammar: "root ::= [a-z]{300}",
      sampling: { temperature: 1 },
      signal: stop.signal,
    })
    await run.next()
    stop.abort(new Error("enough"))
    await expect(writeAll(run)).rejects.toThrow("enough")
    expect(await writeAll(engine.generate("x", { grammar: 'root ::= "ok"' }))).toBe("ok")
  })

  it("gives up waiting for its turn when cancelled, and leaves it to the next", async () => {
    const first = engine.generate("x", { grammar: "root ::= [a-z]{40}" })
    await first.next()
    const stop = new AbortController()
    const second = writeAll(engine.generate("x", { grammar: call, signal: stop.signal }))
    const third = writeAll(engine.generate("x", { grammar: 'root ::= "ok"' }))
    stop.abort(new Error("no time"))
    await expect(second).rejects.toThrow("no time")
    await writeAll(first)
    expect(await third).toBe("ok")
  })

  it("goes on after a long prompt as after a short one, and stops in the middle of reading it", async () => {
    const prompt = "word ".repeat(300)
    expect(await writeAll(engine.generate(prompt, { grammar: 'root ::= "ok"' }))).toBe("ok")
    const stop = new AbortController()
    const run = writeAll(engine.generate(`${"other ".repeat(300)}`, { signal: stop.signal }))
    setTimeout(() => stop.abort(new Error("too long")), 1)
    await expect(run).rejects.toThrow("too long")
  })

  it("is free again when its reader goes away", async () => {
    for await (const _ of engine.generate("x", { grammar: "root ::= [a-z]{50}" })) break
    expect(await writeAll(engine.generate("x", { grammar: 'root ::= "ok"' }))).toBe("ok")
  })

  it("refuses a prompt that does not fit", async () => {
    await expect(writeAll(engine.generate("word ".repeat(3000)))).rejects.toMatchObject({
      code: "MODEL_REQUEST_REJECTED",
    })
  })
})

describe("llamaBackend", () => {
  it("yields text and one end with the counts", async () => {
    const backend = llamaBackend(engine)
    expect(backend.abilities).toEqual({
      nativeTools: false,
      grammar: true,
      jsonSchema: true,
      tokens: true,
      small: true,
    })
    const events = await collectEvents(backend.infer({ messages, grammar: call, sampling: { seed: 3 } }))
    expect(matchesGbnf(call, joined(events))).toBe(true)
    expect(events.at(-1)).toMatchObject({
      type: "end",
      finishReason: "stop",
      usage: { outputTokens: expect.any(Number) },
    })
    expect(events.filter(({ type }) => type === "end")).toHaveLength(1)
    const short = await collectEvents(backend.infer({ messages, grammar: call, sampling: { maxTokens: 4 } }))
    expect(short.at(-1)).toMatchObject({ finishReason: "length", usage: { outputTokens: 4 } })
  })

  it("stops at a stop sequence and leaves it out", async () => {
    const events = await collectEvents(
      llamaBackend(engine).infer({ messages, grammar: 'root ::= "one END two"', sampling: { stop: ["END"] } }),
    )
    expect(joined(events)).toBe("one ")
  })

  it("holds a reply to a JSON Schema", async () => {
    const jsonSchema = {
      type: "object",
      properties: { ok: { type: "boolean" }, size: { type: "integer", minimum: 1, maximum: 20 } },
      required: ["ok", "size"],
      additionalProperties: false,
    }
    const reply = JSON.parse(joined(await collectEvents(llamaBackend(engine).infer({ messages, jsonSchema })))) as {
      ok: boolean
      size: number
    }
    expect([typeof reply.ok, reply.size >= 1 && reply.size <= 20]).toEqual(["boolean", true])
    await expect(
      collectEvents(
        llamaBackend(engine).infer({
          messages,
          jsonSchema: { type: "array", $ref: "https://elsewhere.example/schema" },
        }),
      ),
    ).rejects.toMatchObject({ code: "SCHEMA_REFUSED" })
  })

  it("refuses two constraints, and native tools", async () => {
    const tool = { type: "function", function: { name: "a", description: "", parameters: {} } } as const
    await expect(
      collectEvents(llamaBackend(engine).infer({ messages, grammar: call, tools: [tool] })),
    ).rejects.toMatchObject({ code: "CONFLICTING_CONSTRAINTS" })
    await expect(collectEvents(llamaBackend(engine).infer({ messages, tools: [tool] }))).rejects.toMatchObject({
      code: "MODEL_REQUEST_REJECTED",
    })
  })

  it.skipIf(!LLAMA.installed)("closes its engine", async () => {
    await using file = await tinyModelFile()
    const backend = await openLlamaBackend({ modelPath: file.path, contextSize: 256, modelName: "mine" })
    expect(backend.modelName()).toBe("mine")
    await backend.close()
    await expect(collectEvents(backend.infer({ messages }))).rejects.toMatchObject({ code: "MODEL_SERVER_ERROR" })
  })
})

describe("vocabularyOf", () => {
  it("reads byte-level vocabularies, where every byte is written as a character", () => {
    const ggml = {
      model: "gpt2",
      tokens: ["Ġthe", "ÃŃ", "<tool_call>", "<|im_end|>", "Ċ"],
      token_type: [1, 1, 4, 3, 1],
    }
    const model = {
      fileInfo: { metadata: { tokenizer: { ggml } } },
      isEogToken: (token: number) => token === 3,
    } as unknown as LlamaModel
    const { bytes, endTokens } = vocabularyOf(model)
    expect(bytes.map((own) => (own === undefined ? null : new TextDecoder().decode(own)))).toEqual([
      " the",
      "í",
      "<tool_call>",
      null,
      "\n",
    ])
    expect(endTokens).toEqual([3])
  })
})

describe("createTokenText", () => {
  it("joins the bytes of a character", () => {
    const { texts } = engine.vocabulary
    const byte = (value: string) => texts.indexOf(`<0x${value}>`)
    const text = createTokenText(engine.vocabulary)
    expect(
      [byte("F0"), byte("9F"), byte("98"), byte("80"), texts.indexOf("▁the"), byte("C3")].map((token) =>
        text.push(token),
      ),
    ).toEqual(["", "", "", "😀", " the", ""])
    expect(text.end()).toBe("\ufffd")
  })
})

describe("createStopCutter", () => {
  it("cuts the same wherever the text is cut", () => {
    const whole = "say STO or STAY then STOP here"
    for (let border = 0; border <= whole.length; border++) {
      const cutter = createStopCutter(["STOP", "NEVER"])
      expect(cutter.push(whole.slice(0, border)) + cutter.push(whole.slice(border)) + cutter.end()).toBe(
        "say STO or STAY then ",
      )
      expect(cutter.stopped).toBe(true)
    }
  })
})

describe("tinyGguf", () => {
  it("is the same file for the same seed", () => {
    const [one, same, other] = [tinyGguf({ seed: 4 }), tinyGguf({ seed: 4 }), tinyGguf({ seed: 5 })]
    expect(Buffer.compare(one!, same!)).toBe(0)
    expect(Buffer.compare(one!, other!)).not.toBe(0)
    expect(checkGbnf(call)).toEqual([])
  })
})
