import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { cli, folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

interface Body {
  tools?: unknown[]
  grammar?: string
  structured_outputs?: object
  messages: { role: string; content: string }[]
}
type Answer = { status?: number; content?: string; calls?: { name: string; arguments: string }[] }

/** A server with these pages that answers so. */
async function serve(pages: Readonly<Record<string, object>>, answer: (body: Body) => Answer) {
  const asked: Body[] = []
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (piece: Buffer) => (text += piece.toString()))
    request.on("end", () => {
      if (request.url !== "/v1/chat/completions") {
        const page = pages[request.url ?? ""]
        response.writeHead(page === undefined ? 404 : 200).end(JSON.stringify(page ?? {}))
        return
      }
      const body = JSON.parse(text) as Body
      asked.push(body)
      const { status = 200, content = "", calls } = answer(body)
      const tool_calls = calls?.map((call, index) => ({ index, id: `call_${index}`, type: "function", function: call }))
      const message = { role: "assistant", content, ...(tool_calls === undefined ? {} : { tool_calls }) }
      const choices = [{ index: 0, message, finish_reason: "stop" }]
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify(status === 200 ? { choices } : { error: { message: content } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked }
}

const cityIn = (body: Body): string => /temperature in (\S+)\?/.exec(body.messages.at(-1)!.content)?.[1] ?? ""
const native = (body: Body) => [{ name: "get_temperature", arguments: JSON.stringify({ city: cityIn(body) }) }]
const HERMES =
  "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>\n{{ c.function | tojson " +
  "}}\n</tool_call>{% endfor %}{% endfor %}"
const hermes = (body: Body) =>
  `<tool_call>\n{"name": "get_temperature", "arguments": {"city": "${cityIn(body)}"}}\n</tool_call>`

async function doctor(pages: Readonly<Record<string, object>>, answer: (body: Body) => Answer, ...more: string[]) {
  const server = await serve(pages, answer)
  const cwd = folderWith({})
  const env = { XDG_STATE_HOME: join(cwd, "state") }
  const finished = await here(["doctor", "m-7b", "--base-url", server.baseUrl, ...more], { cwd, env })
  return { ...finished, ...server, cwd, env }
}

describe("toolwright doctor", () => {
  test("of llama.cpp: both ways work, and grammars hold", async () => {
    const pages = {
      "/props": { chat_template: HERMES, default_generation_settings: { n_ctx: 8192 }, build_info: "b7000" },
      "/v1/models": { data: [{ id: "m-7b", owned_by: "llamacpp" }] },
    }
    const { code, stdout, asked, cwd, env, baseUrl } = await doctor(pages, (body) => {
      if (body.grammar?.includes("xylophone") === true) return { content: "xylophone" }
      return body.tools === undefined ? { content: hermes(body) } : { calls: native(body) }
    })
    expect(code).toBe(0)
    expect(stdout).toContain("Server     llama.cpp b7000")
    expect(stdout).toContain("shown by the server. Calls in text are read as 'hermes'")
    expect(stdout).toContain("8192 tokens")
    expect(stdout).toContain("by the server: the model called it in 10 of 10 tries.")
    expect(stdout).toContain("in the prompt: the model called it in 10 of 10 tries.")
    expect(stdout).toContain("Grammar    holds the model")
    expect(stdout).toContain(
      "--backend openai-compatible --native-tools true --dialect llama.cpp --context-tokens 8192",
    )
    expect(asked.length).toBe(21)
    const [file] = readdirSync(join(cwd, "state", "toolwright"))
    expect(JSON.parse(readFileSync(join(cwd, "state", "toolwright", file!), "utf8"))).toMatchObject({
      baseUrl,
      model: "m-7b",
    })
    const run = await here(["run", "hi", "--model", "m-7b", "--base-url", baseUrl, "--examined", "--dry-run"], {
      cwd,
      env,
    })
    expect(run.stderr).not.toContain("Nothing is known")
  })

  test("of Ollama with a model without tools: by the prompt alone", async () => {
    const pages = {
      "/api/version": { version: "0.12" },
      "/api/show": { capabilities: ["completion"], parameters: "num_ctx    4096\nstop x" },
      "/v1/models": { data: [{ id: "m-7b", owned_by: "library" }] },
    }
    const { code, stdout, asked } = await doctor(pages, (body) =>
      body.tools === undefined
        ? { content: `{"tool": "get_temperature", "args": {"city": "${cityIn(body)}"}}` }
        : { status: 400, content: "m-7b does not support tools" },
    )
    expect(code).toBe(0)
    expect(stdout).toContain("Server     ollama 0.12")
    expect(stdout).toContain("4096 tokens")
    expect(stdout).toContain("The server says that the model's template knows no tools.")
    expect(stdout).toContain("is not offered by this server")
    expect(stdout).toMatch(/--native-tools false --dialect ollama --context-tokens 4096/)
    expect(asked.filter(({ tools }) => tools !== undefined).length).toBeLessThan(20)
  })

  test("of vLLM: a grammar that is passed over is told", async () => {
    const pages = {
      "/version": { version: "0.12.0" },
      "/v1/models": { data: [{ id: "m-7b", owned_by: "vllm", max_model_len: 32768 }] },
    }
    const { code, stdout } = await doctor(
      pages,
      (body) => (body.tools === undefined ? { content: "Hello!" } : { calls: native(body) }),
      "--tries",
      "3",
    )
    expect(code).toBe(0)
    expect(stdout).toContain("Server     vllm 0.12.0")
    expect(stdout).toContain("3 of 3 tries.")
    expect(stdout).toContain("0 of 3 tries. Else: It answered in words")
    expect(stdout).toContain("Grammar    is taken and passed over")
  })

  test("of LM Studio with a model that only talks: it says so, and fails", async () => {
    const pages = { "/v1/models": { data: [{ id: "other", loaded_context_length: 2048 }] } }
    const { code, stdout } = await doctor(pages, () => ({ content: "It is warm." }), "--tries", "2", "--json")
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      dialect: "generic",
      listed: false,
      contextTokens: 2048,
      native: { called: 0, of: 2 },
      usable: false,
    })
  })

  test("of nobody: what to do", async () => {
    const { code, stdout } = await cli(["doctor", "m", "--base-url", "http://127.0.0.1:9/v1"])
    expect(code).toBe(1)
    expect(stdout).toContain("Nothing answers at http://127.0.0.1:9/v1")
    expect(await here(["doctor"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("toolwright doctor") as string,
    })
  })

  test("without a model's name: which there are, and the only one at once", async () => {
    const ask = async (...ids: string[]) => {
      const { baseUrl } = await serve({ "/v1/models": { data: ids.map((id) => ({ id })) } }, (body) => ({
        calls: native(body),
      }))
      const cwd = folderWith({})
      return here(["doctor", "--tries", "1", "--base-url", baseUrl], { cwd, env: { XDG_STATE_HOME: join(cwd, "s") } })
    }
    expect(await ask("one-7b", "two-7b")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Which model\?\n.* has one-7b, two-7b: .*toolwright doctor one-7b --base-url http/),
    })
    expect(await ask("only-7b")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("It has one model, 'only-7b'"),
      stdout: expect.stringMatching(/^Model +only-7b$/m),
    })
    expect((await here(["doctor", "--base-url", "http://127.0.0.1:1/v1"], { cwd: folderWith() })).stderr).toContain(
      "Nothing answers at http://127.0.0.1:1/v1",
    )
  })

  test("of an address without its /v1: the one that is meant, and nothing about the model", async () => {
    const { baseUrl } = await serve({ "/v1/models": { data: [{ id: "m" }] } }, () => ({ content: "Hello." }))
    const root = baseUrl.replace(/\/v1\/?$/, "")
    const { code, stdout, stderr } = await here(["doctor", "m", "--base-url", root])
    expect([code, stdout]).toEqual([2, ""])
    expect(stderr).toContain(`to ${root}/v1.`)
  })

  test("a run that asks for findings where there are none says how to get them", async () => {
    const { baseUrl } = await serve({}, () => ({ content: "Hello." }))
    const cwd = folderWith({})
    const args = ["run", "hi", "--model", "m", "--base-url", baseUrl, "--examined"]
    const { stderr } = await here(args, { cwd, env: { XDG_STATE_HOME: join(cwd, "state") } })
    expect(stderr).toContain(`toolwright doctor m --base-url ${baseUrl}`)
  })
})
