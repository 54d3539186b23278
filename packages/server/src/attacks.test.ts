import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { Agent, request, type IncomingMessage } from "node:http"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { createApp, listen, type RunningServer } from "./index.ts"

/** `TOOLWRIGHT_FULL=1` also makes 100,000 calls, which takes minutes. */
const FULL = process.env["TOOLWRIGHT_FULL"] === "1"
const CLI = join(import.meta.dirname, "../../cli/bin/toolwright.js")
const JSON_TYPE = { "content-type": "application/json" }

const runs: unknown[] = []
const tools = new ToolRegistry()
tools.register(
  defineTool({
    name: "note",
    description: "Notes",
    parameters: { type: "object", additionalProperties: true },
    execute: (args) => runs.push(args),
  }),
)

let server: RunningServer
beforeAll(async () => {
  server = await listen(createApp({ tools, bodyTimeoutMs: 300 }), { port: 0, secured: false, drainMs: 200 })
})
afterAll(() => server.close())
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

/** Status and body of a request that is written by hand. */
async function send(
  path: string,
  options: { method?: string; headers?: Record<string, string | number> },
  write: (request: ReturnType<typeof requestTo>) => void,
): Promise<{ status: number; text: string }> {
  const outgoing = requestTo(path, options)
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>
  outgoing.on("error", () => {})
  write(outgoing)
  const [response] = await answered
  let text = ""
  for await (const piece of response) text += String(piece)
  outgoing.destroy()
  return { status: response.statusCode!, text }
}

function requestTo(
  path: string,
  { method = "POST", headers = {} }: { method?: string; headers?: Record<string, string | number> },
) {
  return request({ port: server.port, host: "127.0.0.1", path, method, headers })
}

const alive = async (): Promise<number> => (await fetch(`${server.url}/health`)).status

async function socket(): Promise<Socket> {
  const opened = connect(server.port, "127.0.0.1").on("error", () => {})
  sockets.push(opened)
  await once(opened, "connect")
  return opened
}

describe("a running server", () => {
  test.each([
    ["of another host", "/tools/note", { ...JSON_TYPE, host: "evil.example" }, 403],
    ["of a host that begins like ours", "/tools/note", { ...JSON_TYPE, host: "localhost.evil.example" }, 403],
    ["of a page elsewhere", "/tools/note", { ...JSON_TYPE, origin: "https://evil.example" }, 403],
    ["of a page without an origin of its own", "/tools/note", { ...JSON_TYPE, origin: "null" }, 403],
    ["that a form can send", "/tools/note", { "content-type": "text/plain" }, 415],
    ["for a file by its path", "/docs/../../../../etc/passwd", JSON_TYPE, 404],
    ["for a file by an encoded path", "/docs/%2e%2e%2f%2e%2e%2fetc%2fpasswd", JSON_TYPE, 404],
    ["for a tool by a path", "/tools/..%2f..%2fhealth", JSON_TYPE, 404],
  ])("refuses a request %s", async (_name, path, headers, status) => {
    expect((await send(path, { headers }, (outgoing) => outgoing.end("{}"))).status).toBe(status)
    expect([runs, await alive()]).toEqual([[], 200])
  })

  test("refuses ten megabytes, declared or not, without reading them", async () => {
    const body = Buffer.alloc(10 * 1024 * 1024, 32)
    expect(
      (
        await send("/tools/note", { headers: { ...JSON_TYPE, "content-length": body.length } }, (outgoing) =>
          outgoing.end(body),
        )
      ).status,
    ).toBe(413)
    expect(
      (
        await send("/tools/note", { headers: { ...JSON_TYPE, "transfer-encoding": "chunked" } }, (outgoing) =>
          outgoing.end(body),
        )
      ).status,
    ).toBe(413)
    expect([runs, await alive()]).toEqual([[], 200])
  })

  test("does not wait for a slow body, and carries out no part of one", async () => {
    const declared = send("/tools/note", { headers: { ...JSON_TYPE, "content-length": 100 } }, (outgoing) =>
      outgoing.write('{"a":1}'),
    )
    const chunked = send("/tools/note", { headers: { ...JSON_TYPE, "transfer-encoding": "chunked" } }, (outgoing) =>
      outgoing.write('{"a":1}'),
    )
    expect((await Promise.all([declared, chunked])).map(({ status }) => status)).toEqual([408, 408])
    const cut = await socket()
    cut.write(
      "POST /tools/note HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: " +
        '50\r\n\r\n{"a":1}',
    )
    cut.destroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([runs, await alive()]).toEqual([[], 200])
  })

  test("answers beside a thousand connections that say nothing", async () => {
    await Promise.all(Array.from({ length: 1000 }, socket))
    expect(await alive()).toBe(200)
    for (const each of sockets) each.write("GET /hea")
    expect(await alive()).toBe(200)
  })

  test("answers nonsense with an error and lives on", async () => {
    const nonsense = await socket()
    nonsense.write("\u0000\u0001 no http\r\n\r\n")
    const [answer] = (await once(nonsense, "data")) as [Buffer]
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400/)
    expect(await alive()).toBe(200)
  })
})

describe.skipIf(!FULL)("the server process", () => {
  test("keeps its memory flat over 100,000 calls", async () => {
    const folder = mkdtempSync(join(tmpdir(), "flat-"))
    writeFileSync(join(folder, "a.txt"), "0123456789abcde\n".repeat(256))
    // With a small heap V8 collects early, so that what grows is what is kept, and a leak ends the process.
    const child = spawn(
      process.execPath,
      [
        "--max-semi-space-size=4",
        "--max-old-space-size=64",
        CLI,
        "serve",
        "--port",
        "0",
        "--quiet",
        "--mcp",
        "--read-only",
        folder,
      ],
      { cwd: folder, stdio: ["ignore", "pipe", "inherit"] },
    )
    try {
      const url = await urlOf(child)
      const agent = new Agent({ keepAlive: true, maxSockets: 32 })
      const memory: number[] = []
      for (let part = 0; part < 10; part++) {
        await calls(url, agent, 10_000, part)
        memory.push(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) / 1024)
      }
      agent.destroy()
      console.log(`Resident megabytes after each 10,000 calls: ${memory.map(Math.round).join(", ")}`)
      expect(Math.max(...memory.slice(5)) - Math.min(...memory.slice(2, 5))).toBeLessThan(40)
    } finally {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 900_000)
})

async function urlOf(child: ChildProcess): Promise<string> {
  let text = ""
  for await (const piece of child.stdout!) {
    text += String(piece)
    const match = /at (http:\S+)\s/.exec(text)
    if (match !== null) return match[1]!
  }
  throw new Error("the server did not start")
}

/** Reads, failures, unknown tools and keys in turn, so that each kind of bookkeeping grows if it can. */
async function calls(url: string, agent: Agent, count: number, part: number): Promise<void> {
  let left = count
  const one = (index: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const [path, body] =
        index % 3 === 0
          ? ["read_text_file", { path: "a.txt", head: 1 + (index % 200) }]
          : index % 3 === 1
            ? ["read_text_file", { path: `none-${part}-${index}.txt` }]
            : [`unknown-${part}-${index}`, {}]
      const outgoing = request(
        `${url}/tools/${String(path)}`,
        { method: "POST", agent, headers: { ...JSON_TYPE, "idempotency-key": `${part}-${index}` } },
        (response) => response.resume().once("end", resolve),
      )
      outgoing.once("error", reject)
      outgoing.end(JSON.stringify(body))
    })
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left > 0) await one(left--)
    }),
  )
}
