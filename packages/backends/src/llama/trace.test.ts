import { createGbnfMaskEngine } from "@toolwright/logits"
import { tokenSteps, type TokenTrace } from "@toolwright/toolbox"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openPocket } from "../pocket/open.ts"
import { collectEvents, joined } from "../testing/collect-events.ts"
import { openTinyModel } from "../testing/tiny-model.ts"
import { llamaBackend, type LlamaBackend } from "./backend.ts"
import { traceReply } from "./trace.ts"

const messages = [{ role: "user", content: "Say it" }] as const
const grammar = String.raw`root ::= "{\"name\": \"" ("tool" | "call") "\", \"é\": " ("true" | "null") "}"`

let backend: LlamaBackend
beforeAll(async () => {
  backend = llamaBackend(await openTinyModel())
})
afterAll(() => backend.close())

const traceIn = (events: readonly { type: string }[]): TokenTrace =>
  (events.find(({ type }) => type === "tokens") as unknown as { trace: TokenTrace }).trace

describe("the tokens of a reply", () => {
  it("are told where they are asked for, and the reply is the same as where they are not", async () => {
    const sampling = { seed: 7, temperature: 1, maxTokens: 60 }
    const plain = await collectEvents(backend.infer({ messages, grammar, sampling }))
    const told = await collectEvents(backend.infer({ messages, grammar, sampling, recordTokens: true }))
    expect(plain.some(({ type }) => type === "tokens")).toBe(false)
    expect(joined(told)).toBe(joined(plain))
    const trace = traceIn(told)
    const steps = tokenSteps(trace)
    const bytes = steps.filter(({ end }) => end !== true).map(({ text }) => text.replace(/^<[0-9a-f ]+>$/, ""))
    expect(joined(told).replace("é", "")).toBe(bytes.join(""))
    expect(trace.ended).toBe(true)
    expect(trace.problem).toBeUndefined()
  })

  it("come with what the grammar let through in each place, as the masks of that grammar have it", async () => {
    const told = await collectEvents(
      backend.infer({ messages, grammar, sampling: { temperature: 0, maxTokens: 60 }, recordTokens: true }),
    )
    const { grammarTokenizer } = backend.engine
    const written = new Map<string, number>()
    for (let id = grammarTokenizer.size - 1; id >= 0; id--)
      written.set(new TextDecoder().decode(grammarTokenizer.bytesOf(id) ?? new Uint8Array()), id)
    const matcher = createGbnfMaskEngine(grammar, grammarTokenizer).matcher()
    const bitsOf = (mask: Uint32Array): number =>
      mask.reduce((sum, word) => sum + word.toString(2).replaceAll("0", "").length, 0)
    const steps = tokenSteps(traceIn(told))
    for (const { text, allowed, others, end } of steps) {
      expect(allowed).toBe(bitsOf(matcher.mask()))
      const removed = new Set(others.filter((other) => other.removed).map((other) => other.text))
      expect(removed.has(text)).toBe(false)
      // A part of a character has no text of its own.
      if (end === true || !written.has(text)) break
      matcher.accept(written.get(text)!)
    }
    // A model that knows nothing wants something else nearly always.
    expect(steps.some(({ others }) => others.some(({ removed }) => removed))).toBe(true)
    expect(steps.every(({ removed = 1 }) => removed > 0.3)).toBe(true)
  })

  it("have no grammar where nothing held them, and chances that are those of the model", async () => {
    const told = await collectEvents(
      backend.infer({ messages, sampling: { temperature: 0, maxTokens: 12 }, recordTokens: true }),
    )
    const steps = tokenSteps(traceIn(told))
    for (const { chance, allowed, others } of steps) {
      expect(allowed).toBeUndefined()
      // Greedy: nothing is likelier than what was written.
      for (const other of others) expect(other.chance).toBeLessThanOrEqual(chance + 0.0001)
      expect(chance + others.reduce((sum, other) => sum + other.chance, 0)).toBeLessThanOrEqual(1.001)
    }
  })

  it("say why they are not whole, and fail no reply", async () => {
    const reply = { prompt: "a", tokens: backend.engine.tokenize("bcd"), ended: false }
    const broken = await traceReply(backend.engine, { ...reply, grammar: "root ::= (" }, undefined)
    expect(broken.problem).toContain("could not be followed")
    expect(broken.tokens).toHaveLength(reply.tokens.length)
    expect(broken.allowed).toBeUndefined()
    const other = await traceReply(backend.engine, { ...reply, grammar: 'root ::= "bx"' }, undefined)
    expect(other.problem).toContain("followed to the end")
    await expect(
      traceReply(backend.engine, { ...reply, grammar: undefined }, AbortSignal.abort(new Error("enough"))),
    ).rejects.toThrow("enough")
  })
})

describe("the tokens of the pocket model", () => {
  it("take few bytes each on disk, and read what it was sure of as such", async () => {
    const pocket = await openPocket()
    try {
      const told = await collectEvents(
        pocket.infer({
          messages: [{ role: "user", content: "show me the first 7 lines of notes.md" }],
          recordTokens: true,
        }),
      )
      const trace = traceIn(told)
      const steps = tokenSteps(trace)
      expect(steps.map(({ text }) => text).join("")).toContain("read_text_file")
      expect(JSON.stringify(trace).length / steps.length).toBeLessThan(32)
      expect(steps.filter(({ chance }) => chance > 0.9).length).toBeGreaterThan(steps.length / 2)
    } finally {
      await pocket.close()
    }
  })
})
