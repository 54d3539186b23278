import { describe, expect, test } from "vitest"
import { createLlamaServerBackend } from "../llama-server/index.ts"
import { createOllamaBackend } from "../ollama/index.ts"
import { createOpenAICompatibleBackend } from "../openai-compatible/index.ts"
import type { ServerOptions } from "./backend.ts"

/** A server that answers `/tokenize` by a list of answers, the last one for ever; with what it was asked. */
function answering(...answers: (() => Response)[]) {
  const asked: { url: string; body: unknown; key: string | null }[] = []
  const options: ServerOptions = {
    baseUrl: "http://127.0.0.1:9/v1",
    modelName: "m",
    apiKey: "secret-1",
    fetch: (url, init) => {
      const key = new Headers(init?.headers).get("authorization")
      asked.push({ url: String(url), body: JSON.parse(String(init?.body)), key })
      return Promise.resolve((answers[asked.length - 1] ?? answers.at(-1)!)())
    },
  }
  return { asked, options }
}

const json =
  (value: unknown, status = 200) =>
  () =>
    Response.json(value, { status })

describe("the tokens of a text", () => {
  test.each([
    ["llama.cpp", { content: "<tool_call>", add_special: false, parse_special: true }],
    ["vllm", { model: "m", prompt: "<tool_call>", add_special_tokens: false }],
    ["sglang", { model: "m", prompt: "<tool_call>", add_special_tokens: false }],
  ] as const)("are asked of %s in its own words, with the key, once", async (dialect, body) => {
    const { asked, options } = answering(json({ tokens: [7, 8], count: 2 }))
    const backend = createOpenAICompatibleBackend({ ...options, dialect })
    expect([await backend.tokenize!("<tool_call>"), await backend.tokenize!("<tool_call>")]).toEqual([
      [7, 8],
      [7, 8],
    ])
    expect(asked).toEqual([{ url: "http://127.0.0.1:9/tokenize", body, key: "Bearer secret-1" }])
  })

  test("are asked of llama.cpp's server beside its completion", async () => {
    const { asked, options } = answering(json({ tokens: [3] }))
    expect(await createLlamaServerBackend(options).tokenize!("a")).toEqual([3])
    expect(asked[0]!.url).toBe("http://127.0.0.1:9/tokenize")
  })

  test("are nobody's to tell at servers that have no such page", () => {
    const { options } = answering(json({}))
    expect(createOllamaBackend(options).tokenize).toBeUndefined()
    for (const dialect of ["generic", "openai", "ollama"] as const)
      expect(createOpenAICompatibleBackend({ ...options, dialect }).tokenize).toBeUndefined()
  })

  test.each<[string, () => Response]>([
    ["the page is not there", json({ error: "no such page" }, 404)],
    ["the answer is no list of numbers", json({ tokens: [{ id: 1, piece: "a" }] })],
    ["the answer is no JSON", () => new Response("<html>")],
    ["the answer does not end", () => new Response(JSON.stringify({ tokens: Array(2_000_000).fill(1) }))],
  ])("are none where %s, and are not asked for again", async (_, answer) => {
    const { asked, options } = answering(answer)
    const backend = createOpenAICompatibleBackend({ ...options, dialect: "llama.cpp" })
    expect([await backend.tokenize!("a"), await backend.tokenize!("b")]).toEqual([undefined, undefined])
    expect(asked).toHaveLength(1)
  })

  test("are asked for again where the server was busy", async () => {
    const { options } = answering(json({ error: "loading" }, 503), json({ tokens: [5] }))
    const backend = createOpenAICompatibleBackend({ ...options, dialect: "llama.cpp" })
    expect([await backend.tokenize!("a"), await backend.tokenize!("a")]).toEqual([undefined, [5]])
  })

  test("end with the run that asked for them", async () => {
    const { options } = answering(() => {
      throw new Error("gone")
    })
    const backend = createOpenAICompatibleBackend({ ...options, dialect: "llama.cpp" })
    await expect(backend.tokenize!("a", { signal: AbortSignal.abort(new Error("left")) })).rejects.toThrow("left")
  })
})
