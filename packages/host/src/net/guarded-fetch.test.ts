import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer as createHttpsServer } from "node:https"
import { connect, createServer as createTcpServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import { afterAll, afterEach, describe, expect, it } from "vitest"
import { listening, startLoopback, type Answer, type LoopbackServer } from "../testing/loopback-server.ts"
import { createGuardedFetch, type GuardedRequest, type NetworkPolicy } from "./guarded-fetch.ts"

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]()
})

async function serve(answer: Answer): Promise<LoopbackServer> {
  const server = await startLoopback(answer)
  open.push(server)
  return server
}

const secretServer = () => serve((_, response) => response.end("SECRET"))

/** The code of what a fetch ends in: an error code, or the body. */
async function outcome(url: string, policy: NetworkPolicy = {}, request: GuardedRequest = {}): Promise<string> {
  try {
    const { body } = await createGuardedFetch(policy)(url, request)
    return new TextDecoder().decode(body)
  } catch (thrown) {
    return (thrown as { code: string }).code
  }
}

describe("addresses", () => {
  it("refuses loopback in every spelling, while a plain fetch reads the secret", async () => {
    const { port, requests } = await secretServer()
    const hosts = [
      "127.0.0.1",
      "2130706433",
      "0x7f.1",
      "0x7f000001",
      "0177.0.0.1",
      "127.1",
      "127.0.0.1.",
      "0",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "[4000::1]",
      "１２７.０.０.１",
      "127。0。0。1",
      "localhost",
      "localhost.",
      "LOCALHOST",
    ]
    for (const host of hosts) {
      expect([host, await outcome(`http://${host}:${port}/`)]).toEqual([
        host,
        expect.stringMatching(/^(BLOCKED_ADDRESS|DNS_FAILED)$/),
      ])
    }
    expect(requests).toHaveLength(0)
    expect(await (await fetch(`http://2130706433:${port}/`)).text()).toBe("SECRET")
  })

  it.each([
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.2.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[fd00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[2001::1]",
    "[64:ff9b:1::1]",
  ])("refuses %s, which is not on the public internet", async (host) => {
    expect(await outcome(`http://${host}/`)).toBe("BLOCKED_ADDRESS")
  })

  it("refuses a public name that resolves to a private address, and connects to none", async () => {
    const { port, requests } = await secretServer()
    expect(await outcome(`http://harmless.test:${port}/`, { lookup: async () => ["127.0.0.1", "::1"] })).toBe(
      "BLOCKED_ADDRESS",
    )
    expect(requests).toHaveLength(0)
  })

  it("uses only the public addresses of a name that has both kinds", async () => {
    const dialled: string[] = []
    const dial = (address: string) => {
      dialled.push(address)
      return connect({ host: "127.0.0.1", port: 9 })
    }
    await outcome("http://mixed.test/", { lookup: async () => ["10.0.0.7", "93.184.215.14"], dial })
    expect(dialled).toEqual(["93.184.215.14"])
  })

  it("asks for a name once, so that a second, different answer gains nothing", async () => {
    const { port, requests } = await secretServer()
    let asked = 0
    const dialled: string[] = []
    const rebinding: NetworkPolicy = {
      lookup: async () => (asked++ === 0 ? ["93.184.215.14"] : ["127.0.0.1"]),
      dial: (address) => {
        dialled.push(address)
        return connect({ host: "127.0.0.1", port: 9 })
      },
    }
    expect(await outcome(`http://rebind.test:${port}/`, rebinding)).toBe("CONNECTION_FAILED")
    expect([asked, dialled, requests.length]).toEqual([1, ["93.184.215.14"], 0])
  })

  it("sends nothing when the connection turns out to lead elsewhere", async () => {
    const { port, requests } = await secretServer()
    const hijacked: NetworkPolicy = {
      lookup: async () => ["93.184.215.14"],
      dial: () => connect({ host: "127.0.0.1", port }),
    }
    expect(await outcome("http://hijacked.test/", hijacked)).toBe("BLOCKED_ADDRESS")
    expect(requests).toHaveLength(0)
  })

  it("reaches a configured private origin, and only that origin", async () => {
    const allowed = await serve((_, response) => response.end("feed"))
    const other = await secretServer()
    const policy = { allowOrigins: [allowed.origin] }
    expect(await outcome(`${allowed.origin}/rss`, policy)).toBe("feed")
    expect(await outcome(`${other.origin}/`, policy)).toBe("BLOCKED_ADDRESS")
  })

  it.each([
    ["file:///etc/passwd", "INVALID_URL"],
    ["ftp://example.com/", "INVALID_URL"],
    ["data:text/plain,hello", "INVALID_URL"],
    ["gopher://example.com:70/", "INVALID_URL"],
    ["not a url", "INVALID_URL"],
    ["http://user:password@example.com/", "INVALID_URL"],
    ["http://example.com:22/", "BLOCKED_PORT"],
    ["http://example.com:6379/", "DNS_FAILED"],
  ])("answers %s with %s", async (url, code) => {
    expect(await outcome(url, { lookup: async () => [] })).toBe(code)
  })
})

describe("redirects", () => {
  it("refuses a redirect to a private address, which a plain fetch follows", async () => {
    const secret = await secretServer()
    const first = await serve(
      (_, response) => void response.writeHead(302, { location: `${secret.origin}/latest/meta-data` }).end(),
    )
    expect(await outcome(first.origin, { allowOrigins: [first.origin] })).toBe("BLOCKED_ADDRESS")
    expect(secret.requests).toHaveLength(0)
    expect(await (await fetch(first.origin)).text()).toBe("SECRET")
  })

  it.each(["file:///etc/passwd", "http://[::ffff:127.0.0.1]/", "//127.1/", "http://0x7f.1/"])(
    "refuses a redirect to %s",
    async (location) => {
      const first = await serve((_, response) => void response.writeHead(301, { location }).end())
      expect(await outcome(first.origin, { allowOrigins: [first.origin] })).toMatch(/^(BLOCKED_ADDRESS|INVALID_URL)$/)
    },
  )

  it("keeps credentials on the same origin and drops them on another", async () => {
    const second = await serve((_, response) => response.end("done"))
    const first = await serve(({ url }, response) => {
      response.writeHead(302, { location: url.pathname === "/" ? "/again" : `${second.origin}/away` }).end()
    })
    const headers = {
      Authorization: "token S3CRET",
      Cookie: "a=b",
      "X-Subscription-Token": "S3CRET",
      Accept: "text/html",
    }
    const policy = { allowOrigins: [first.origin, second.origin] }
    expect(await outcome(first.origin, policy, { headers })).toBe("done")
    expect(first.requests[1]?.headers.authorization).toBe("token S3CRET")
    expect(JSON.stringify(second.requests[0]?.headers)).not.toMatch(/S3CRET|a=b/)
    expect(second.requests[0]?.headers.accept).toBe("text/html")
  })

  it("stops after five redirects", async () => {
    const loop = await serve(
      ({ url }, response) => void response.writeHead(302, { location: `${url.pathname}x` }).end(),
    )
    expect(await outcome(loop.origin, { allowOrigins: [loop.origin] })).toBe("TOO_MANY_REDIRECTS")
    expect(loop.requests).toHaveLength(6)
  })

  it("does not carry a body to another origin, and turns a 303 into a GET", async () => {
    const second = await serve((_, response) => response.end("done"))
    const first = await serve(({ url }, response) => {
      response.writeHead(url.pathname === "/keep" ? 307 : 303, { location: second.origin }).end()
    })
    const policy = { allowOrigins: [first.origin, second.origin] }
    expect(await outcome(`${first.origin}/keep`, policy, { method: "POST", body: "private" })).toBe("REDIRECT_REFUSED")
    expect(second.requests).toHaveLength(0)
    expect(await outcome(`${first.origin}/get`, policy, { method: "POST", body: "private" })).toBe("done")
    expect(second.requests).toMatchObject([{ method: "GET", body: "" }])
  })
})

describe("bodies", () => {
  const text = "déjà vu ".repeat(500)
  const forms: [string, Buffer][] = [
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["br", brotliCompressSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
    ["identity", Buffer.from(text)],
  ]
  it.each(forms)("decodes %s", async (encoding, bytes) => {
    const server = await serve(
      (_, response) => void response.writeHead(200, { "content-encoding": encoding }).end(bytes),
    )
    expect(await outcome(server.origin, { allowOrigins: [server.origin] })).toBe(text)
  })

  const zeros = Buffer.alloc(64 * 1024 * 1024)
  const bombs: [string, () => Buffer][] = [
    ["gzip", () => gzipSync(zeros)],
    ["br", () => brotliCompressSync(zeros, { params: { 1: 1 } })],
    ["deflate", () => deflateRawSync(zeros)],
    ["gzip, gzip", () => gzipSync(gzipSync(zeros))],
    ["gzip, br, gzip", () => gzipSync(brotliCompressSync(gzipSync(zeros)))],
  ]
  it.each(bombs)("stops a %s bomb long before it is unpacked", async (encoding, make) => {
    const bytes = make()
    const server = await serve(
      (_, response) => void response.writeHead(200, { "content-encoding": encoding }).end(bytes),
    )
    const before = process.memoryUsage().rss
    const policy = { allowOrigins: [server.origin] }
    expect(await outcome(server.origin, policy)).toMatch(/^(DECOMPRESSION_BOMB|RESPONSE_TOO_LARGE)$/)
    expect(await outcome(server.origin, { ...policy, maxRatio: 1e9, maxBytes: 3_000_000 })).toBe("RESPONSE_TOO_LARGE")
    expect(await outcome(server.origin, { ...policy, maxBytes: 1e9 })).toBe("DECOMPRESSION_BOMB")
    expect(process.memoryUsage().rss - before).toBeLessThan(60 * 1024 * 1024)
  })

  it("counts what arrives, not what is announced", async () => {
    const endless = await serve((_, response) => {
      const push = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 97)));
        response.once("drain", push)
      }
      push()
    })
    expect(await outcome(endless.origin, { allowOrigins: [endless.origin], maxBytes: 500_000 })).toBe(
      "RESPONSE_TOO_LARGE",
    )
    const announced = await serve(
      (_, response) => void response.writeHead(200, { "content-length": "9999999999" }).flushHeaders(),
    )
    expect(await outcome(announced.origin, { allowOrigins: [announced.origin] })).toBe("RESPONSE_TOO_LARGE")
  })

  it("reports a body that ends too early, sized, chunked or compressed, instead of half a result", async () => {
    const short = await raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this")
    expect(await outcome(short.origin, { allowOrigins: [short.origin] })).toBe("RESPONSE_CUT_OFF")
    const chunked = await raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
    expect(await outcome(chunked.origin, { allowOrigins: [chunked.origin] })).toBe("RESPONSE_CUT_OFF")
    const half = gzipSync(text)
    const cut = await serve(
      (_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(half.subarray(0, 20)),
    )
    expect(await outcome(cut.origin, { allowOrigins: [cut.origin] })).toBe("INVALID_RESPONSE")
  })

  it("takes only as much as the content length says", async () => {
    const long = await raw("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nwholeHTTP/1.1 200 OK\r\n\r\nsmuggled")
    expect(await outcome(long.origin, { allowOrigins: [long.origin] })).toBe("whol")
  })

  it("answers garbage, two lengths that differ, and an unknown encoding with an error", async () => {
    for (const reply of [
      "\u0016\u0003\u0001 not http at all\r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 9\r\n\r\nwhole",
      "HTTP/1.1 200 OK\r\ncontent-encoding: lzma\r\ncontent-length: 1\r\n\r\nx",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(200_000)}\r\n\r\n`,
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    ]) {
      const server = await raw(reply)
      expect(await outcome(server.origin, { allowOrigins: [server.origin] })).toMatch(
        /^(CONNECTION_FAILED|INVALID_RESPONSE)$/,
      )
    }
  })
})

describe("time, rate and cancellation", () => {
  it("gives up on a server that never answers, that drips its headers, and that drips its body", async () => {
    const silent = await serve(() => {})
    expect(await outcome(silent.origin, { allowOrigins: [silent.origin], headersMs: 80 })).toBe("TIMEOUT")
    const drip = await raw("HTTP/1.1 200 OK\r\nx: ", (write) => setInterval(() => write("y"), 10))
    expect(await outcome(drip.origin, { allowOrigins: [drip.origin], headersMs: 150 })).toBe("TIMEOUT")
    const loris = await raw("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", (write) =>
      setInterval(() => write("y"), 10),
    )
    expect(await outcome(loris.origin, { allowOrigins: [loris.origin], totalMs: 200 })).toBe("TIMEOUT")
  })

  it("gives up on a connection and on a name that do not come", async () => {
    const hanging: NetworkPolicy = { lookup: () => new Promise(() => {}), connectMs: 60 }
    expect(await outcome("http://slow-dns.test/", hanging)).toBe("TIMEOUT")
    expect(
      await outcome("http://unknown.test/", {
        lookup: async () => {
          throw new Error("ENOTFOUND")
        },
      }),
    ).toBe("DNS_FAILED")
  })

  it("stops when the caller cancels, and closes the connection", async () => {
    const closed = Promise.withResolvers<void>()
    const silent = await serve((_, response) => void response.once("close", closed.resolve))
    const controller = new AbortController()
    const pending = outcome(silent.origin, { allowOrigins: [silent.origin] }, { signal: controller.signal })
    controller.abort()
    expect(await pending).toBe("ABORTED")
    const again = new AbortController()
    const asked = outcome(silent.origin, { allowOrigins: [silent.origin] }, { signal: again.signal })
    while (silent.requests.length === 0) await new Promise((done) => setImmediate(done))
    again.abort()
    expect(await asked).toBe("ABORTED")
    await closed.promise
  })

  it("limits the requests to one host and says how long to wait", async () => {
    let time = 0
    const server = await serve((_, response) => response.end("ok"))
    const get = createGuardedFetch({ allowOrigins: [server.origin], requestsPerMinute: 2, now: () => time })
    await get(server.origin)
    await get(server.origin)
    time = 20_000
    await expect(get(server.origin)).rejects.toMatchObject({
      code: "RATE_LIMITED",
      retryable: true,
      details: { retryAfterMs: 40_000 },
    })
    time = 60_001
    await expect(get(server.origin)).resolves.toMatchObject({ status: 200 })
  })
})

describe("https", () => {
  const folder = mkdtempSync(join(tmpdir(), "tls-"))
  const hasOpenssl = makeCertificate(folder)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.skipIf(!hasOpenssl)("checks the certificate against the URL's name though it connects to an address", async () => {
    const [key, cert] = [readFileSync(join(folder, "key.pem")), readFileSync(join(folder, "cert.pem"), "utf8")]
    const server = await listening(createHttpsServer({ key, cert }, (_, response) => response.end("private")))
    open.push(server)
    const policy = (name: string): NetworkPolicy => ({
      allowOrigins: [`https://${name}:${server.port}`],
      lookup: async () => ["127.0.0.1"],
    })
    expect(await outcome(`https://service.test:${server.port}/`, { ...policy("service.test"), ca: cert })).toBe(
      "private",
    )
    expect(await outcome(`https://other.test:${server.port}/`, { ...policy("other.test"), ca: cert })).toBe(
      "CONNECTION_FAILED",
    )
    expect(await outcome(`https://service.test:${server.port}/`, policy("service.test"))).toBe("CONNECTION_FAILED")
  })
})

/** A server that writes these bytes to whoever connects, then closes or goes on with `after`. */
async function raw(
  bytes: string,
  after?: (write: (text: string) => void) => NodeJS.Timeout,
): Promise<{ origin: string }> {
  const timers: NodeJS.Timeout[] = []
  const server = createTcpServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => {
      socket.write(bytes)
      if (after === undefined) socket.end()
      else timers.push(after((text) => socket.writable && socket.write(text)))
    })
  })
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done))
  open.push({
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer)
      server.close()
    },
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function makeCertificate(folder: string): boolean {
  try {
    const subject = ["-subj", "/CN=service.test", "-addext", "subjectAltName=DNS:service.test", "-days", "2"]
    const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")]
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...files, ...subject], {
      stdio: "ignore",
    })
    return true
  } catch {
    return false
  }
}
