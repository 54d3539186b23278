import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { writeGguf } from "../testing/gguf-writer.ts"
import { startServer } from "../testing/raw-server.ts"
import { readGgufHeader } from "./gguf-header.ts"
import { readTemplate } from "./read-template.ts"

const TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}"
const folder = mkdtempSync(join(tmpdir(), "templates-"))
const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const gguf = (template = true) =>
  writeGguf(
    {
      "general.architecture": { type: "string", value: "llama" },
      "general.name": { type: "string", value: "Tiny" },
      "llama.context_length": { type: "u32", value: 4096 },
      "tokenizer.ggml.tokens": { type: "strings", value: ["<s>", "</s>", "a"] },
      "tokenizer.ggml.scores": { type: "f32s", value: [0, 0, 1] },
      "tokenizer.ggml.bos_token_id": { type: "u32", value: 0 },
      "tokenizer.ggml.eos_token_id": { type: "u32", value: 1 },
      "tokenizer.ggml.add_bos_token": { type: "bool", value: true },
      ...(template ? { "tokenizer.chat_template": { type: "string", value: TEMPLATE } as const } : {}),
    },
    [],
  )

/** A server that has these pages, and 404 for others. */
const serverWith = (pages: Record<string, object>) =>
  startServer((response, { path }) => {
    const page = pages[path]
    response.writeHead(page === undefined ? 404 : 200).end(JSON.stringify(page ?? {}))
  })

describe("a chat template is read", () => {
  test("from a GGUF file's header, with the tokens that it may print", async () => {
    const path = file("tiny.gguf", gguf())
    expect(await readTemplate(path)).toEqual({
      template: TEMPLATE,
      from: path,
      modelName: "Tiny",
      bosToken: "<s>",
      eosToken: "</s>",
    })
    expect(await readGgufHeader(path)).toMatchObject({ contextTokens: 4096 })
  })

  test("from a tokenizer_config.json, the one for tools first", async () => {
    const list = [
      { name: "default", template: "plain" },
      { name: "tool_use", template: TEMPLATE },
    ]
    const path = file("tokenizer_config.json", JSON.stringify({ chat_template: list, eos_token: { content: "</s>" } }))
    expect(await readTemplate(path)).toEqual({ template: TEMPLATE, from: path, eosToken: "</s>" })
  })

  test("from a file that is one, also where it begins with a brace", async () => {
    expect(await readTemplate(file("a.jinja", TEMPLATE))).toMatchObject({ template: TEMPLATE })
    expect(await readTemplate(file("b.jinja", "{{ bos_token }}"))).toMatchObject({ template: "{{ bos_token }}" })
  })

  test("from llama.cpp, where it has one for tools that one", async () => {
    const { baseUrl } = await serverWith({
      "/props": { chat_template: "plain", chat_template_tool_use: TEMPLATE, eos_token: "</s>" },
      "/v1/models": { data: [{ id: "m", owned_by: "llamacpp" }] },
    })
    expect(await readTemplate(baseUrl)).toEqual({ template: TEMPLATE, from: baseUrl, modelName: "m", eosToken: "</s>" })
  })

  test("from the GGUF file that an Ollama on this machine runs, and from no other file that it names", async () => {
    const pages = (from: string) => ({
      "/api/version": { version: "0.9" },
      "/api/show": { modelfile: `# made\nFROM ${from}\nTEMPLATE x`, capabilities: ["tools"] },
      "/v1/models": { data: [{ id: "m", owned_by: "library" }] },
    })
    const own = await serverWith(pages(file("sha256-1", gguf())))
    expect(await readTemplate(own.baseUrl, { modelName: "m" })).toMatchObject({ template: TEMPLATE })
    const other = await serverWith(pages(file("secrets.txt", TEMPLATE)))
    await expect(readTemplate(other.baseUrl, { modelName: "m" })).rejects.toMatchObject({ code: "NO_TEMPLATE" })
  })

  test("from an Ollama elsewhere, which shows one of its own", async () => {
    const { baseUrl } = await serverWith({
      "/api/version": { version: "0.9" },
      "/api/show": { modelfile: "FROM m", template: "{{ .Prompt }}", capabilities: [] },
      "/v1/models": { data: [{ id: "m", owned_by: "library" }] },
    })
    expect(await readTemplate(baseUrl, { modelName: "m" })).toMatchObject({ template: "{{ .Prompt }}" })
  })
})

describe("where there is no template, it is said what to name", () => {
  test.each([
    ["a file that is not there", () => join(folder, "nothing")],
    ["a folder", () => folder],
    ["a GGUF file without one", () => file("bare.gguf", gguf(false))],
    ["a GGUF file that breaks off", () => file("cut.gguf", gguf().slice(0, 90))],
    ["a GGUF file whose sizes are made up", () => file("huge.gguf", hugeText())],
    ["a configuration without one", () => file("tokenizer.json", "{}")],
    ["a configuration that is no JSON", () => file("broken.json", '{"a": ')],
  ])("%s", async (_what, make) => {
    await expect(readTemplate(make())).rejects.toMatchObject({
      code: "NO_TEMPLATE",
      hint: expect.stringContaining("GGUF"),
    })
  })

  test("a server that shows none, or nobody", async () => {
    const { baseUrl } = await serverWith({ "/v1/models": { data: [{ id: "m" }] } })
    await expect(readTemplate(baseUrl)).rejects.toMatchObject({ code: "NO_TEMPLATE" })
    await expect(readTemplate("http://127.0.0.1:9/v1")).rejects.toThrow("Nothing answers")
  })
})

/** A header that says that its first key is longer than any file. */
function hugeText(): Uint8Array {
  const bytes = gguf().slice()
  new DataView(bytes.buffer).setBigUint64(24, 1n << 40n, true)
  return bytes
}
