import { describe, expect, test } from "vitest"
import { startServer } from "../testing/raw-server.ts"
import { probeAbilities } from "./probe.ts"

/** A server that has these pages, and 404 for others. */
const serverWith = (pages: Record<string, object>) =>
  startServer((response, { path }) => {
    const page = pages[path]
    response
      .writeHead(page === undefined ? 404 : 200, { "content-type": "application/json" })
      .end(JSON.stringify(page ?? {}))
  })

describe("probing finds out", () => {
  test("llama.cpp, its context and whether its template knows tools", async () => {
    const { baseUrl } = await serverWith({
      "/props": {
        default_generation_settings: { n_ctx: 4096 },
        chat_template: "{{ x }}",
        build_info: "b7",
        chat_template_caps: { supports_tools: false },
      },
      "/v1/models": { data: [{ id: "qwen", owned_by: "llamacpp" }] },
    })
    expect(await probeAbilities(baseUrl)).toEqual({
      reachable: true,
      dialect: "llama.cpp",
      version: "b7",
      models: ["qwen"],
      contextTokens: 4096,
      chatTemplate: "{{ x }}",
      abilities: { nativeTools: false, grammar: true, jsonSchema: true },
    })
  })

  test("vLLM", async () => {
    const { baseUrl } = await serverWith({
      "/version": { version: "0.12.1" },
      "/v1/models": { data: [{ id: "m", owned_by: "vllm", max_model_len: 8192 }] },
    })
    expect(await probeAbilities(`${baseUrl}/`, { modelName: "m" })).toMatchObject({
      dialect: "vllm",
      version: "0.12.1",
      contextTokens: 8192,
      abilities: { grammar: true },
    })
  })

  test("Ollama, and whether the model takes tools", async () => {
    const { baseUrl } = await serverWith({
      "/api/version": { version: "0.9" },
      "/api/show": { capabilities: ["completion"] },
      "/v1/models": { data: [{ id: "m", owned_by: "library" }] },
    })
    expect(await probeAbilities(baseUrl, { modelName: "m" })).toMatchObject({
      dialect: "ollama",
      abilities: { nativeTools: false, grammar: false },
    })
  })

  test("a server that wants a user, or a key", async () => {
    const { baseUrl, requests } = await serverWith({ "/v1/models": { data: [{ id: "m" }] } })
    expect(await probeAbilities(baseUrl.replace("//", "//me:pass@"))).toMatchObject({ reachable: true, models: ["m"] })
    expect(requests[0]!.headers.authorization).toBe(`Basic ${btoa("me:pass")}`)
    await probeAbilities(baseUrl, { apiKey: "k" })
    expect(requests.at(-1)!.headers.authorization).toBe("Bearer k")
  })

  test("some other server", async () => {
    const { baseUrl } = await serverWith({ "/v1/models": { data: [{ id: "m" }] } })
    expect(await probeAbilities(baseUrl)).toMatchObject({
      reachable: true,
      dialect: "generic",
      abilities: { nativeTools: true, grammar: false },
    })
  })

  test("nothing, in time, where nobody or nobody sensible answers", async () => {
    const nothing = {
      reachable: false,
      models: [],
      abilities: { nativeTools: false, grammar: false, jsonSchema: false },
    }
    expect(await probeAbilities("http://127.0.0.1:9/v1")).toMatchObject(nothing)
    const { baseUrl } = await startServer(() => {})
    // This one never answers.
    expect(await probeAbilities(baseUrl, { timeoutMs: 60 })).toMatchObject(nothing)
    const pages = await startServer((response) => void response.end("<html>"))
    expect(await probeAbilities(pages.baseUrl)).toMatchObject({ reachable: true, dialect: "generic", models: [] })
  })
})
