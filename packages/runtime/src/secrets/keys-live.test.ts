import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { backendFor } from "../assembly/backend.ts"
import { loadConfiguration } from "../configuration/load.ts"

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "keys-live-"))
  return () => rmSync(cwd, { recursive: true, force: true })
})

/** Every kind of server, the variable that its own provider's key is in, and where that provider is said to be. */
const KINDS = [
  ["openai-compatible", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  ["openai-responses", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
  ["anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
  ["ollama", "TOOLWRIGHT_API_KEY", "TOOLWRIGHT_BASE_URL"],
  ["llama-server", "TOOLWRIGHT_API_KEY", "TOOLWRIGHT_BASE_URL"],
] as const
const KEYS = {
  OPENAI_API_KEY: "sk-test-openai-0123456789abcdef",
  ANTHROPIC_API_KEY: "sk-ant-test-anthropic-0123456789",
  TOOLWRIGHT_API_KEY: "own-toolwright-0123456789abcdef",
}

/** Where these keys belong unless a test says otherwise; nobody is there. */
const HOMES = {
  OPENAI_BASE_URL: "http://127.0.0.1:9/a",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:9/b",
  TOOLWRIGHT_BASE_URL: "http://127.0.0.1:9/c",
}

interface Heard {
  url: string
  requests: { path: string; headers: IncomingHttpHeaders; body: string }[]
}

/** A server of this machine that keeps all that it is sent. */
async function listening(
  answer: (path: string) => { status: number; headers?: Record<string, string> },
): Promise<Heard> {
  const requests: Heard["requests"] = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (piece: Buffer) => (body += piece.toString()))
    request.on("end", () => {
      const path = request.url ?? ""
      requests.push({ path, headers: request.headers, body })
      const { status, headers = {} } = answer(path)
      response.writeHead(status, { "content-type": "application/json", ...headers }).end("{}")
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** Asks the model that environment and flags name, however that ends. */
async function ask(env: Record<string, string>, flags: Record<string, string>): Promise<void> {
  const given = { XDG_STATE_HOME: join(cwd, "state"), ...env }
  const { configuration } = await loadConfiguration({ cwd, env: given, flags: { model: "m", ...flags } })
  const backend = await backendFor(configuration, { env: given })
  try {
    for await (const event of backend.infer({ messages: [{ role: "user", content: "hi" }] })) void event
  } catch {
    // No answer of these servers is one; what counts is what they were sent.
  }
}

const keysIn = ({ requests }: Heard): string[] => {
  const said = JSON.stringify(requests)
  return Object.entries(KEYS).flatMap(([name, key]) => (said.includes(key) ? [name] : []))
}
const refused = () => ({ status: 400 })

describe.each(KINDS)("%s", (kind, variable, address) => {
  test("is sent its own provider's key and no other, and by this way alone", async () => {
    const own = await listening(refused)
    await ask({ ...KEYS, ...HOMES, [address]: own.url }, { backend: kind, "base-url": own.url })
    expect(own.requests.length).toBeGreaterThan(0)
    expect(keysIn(own)).toEqual([variable])
    for (const { path, body } of own.requests) expect(path + body).not.toContain(KEYS[variable])
  })

  test("elsewhere is sent none, whatever is in the environment", async () => {
    const [own, other] = [await listening(refused), await listening(refused)]
    const homes = { OPENAI_BASE_URL: own.url, ANTHROPIC_BASE_URL: own.url, TOOLWRIGHT_BASE_URL: own.url }
    await ask({ ...KEYS, ...homes }, { backend: kind, "base-url": other.url })
    expect(other.requests.length).toBeGreaterThan(0)
    expect(keysIn(other)).toEqual([])
    expect(own.requests).toEqual([])
  })

  test.each([301, 302, 303, 307, 308])(
    "that redirects elsewhere (%i) takes no key and no word there",
    async (status) => {
      const other = await listening(refused)
      const own = await listening((path) => ({ status, headers: { location: `${other.url}${path}` } }))
      await ask({ ...KEYS, ...HOMES, [address]: own.url }, { backend: kind, "base-url": own.url })
      expect(keysIn(own)).toEqual([variable])
      expect(other.requests).toEqual([])
    },
  )
})
