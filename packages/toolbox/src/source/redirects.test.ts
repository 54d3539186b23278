import { expect, test } from "vitest"
import { withinOrigin } from "./redirects.ts"
import { isTooDeep, sizeOf } from "./size.ts"

/** A `fetch` that answers by address, and the requests that it got. */
function answering(pages: Record<string, [number, string]>) {
  const asked: string[] = []
  const fetcher = (async (url: string, { method = "GET", redirect }: RequestInit) => {
    asked.push(`${method} ${url} ${redirect}`)
    const [status, location] = pages[url] ?? [200, ""]
    return new Response(null, { status, headers: location === "" ? {} : { location } })
  }) as typeof fetch
  return { asked, ask: withinOrigin(fetcher) }
}

test.each([
  ["another host", "http://evil/mcp"],
  ["another port", "http://home:81/mcp"],
  ["another scheme", "https://home/mcp"],
  ["no scheme", "//evil/mcp"],
  ["a file", "file:///etc/passwd"],
  ["what is no address", "http://["],
])("what is sent to a server goes nowhere else because it redirects to %s", async (_, location) => {
  const { asked, ask } = answering({ "http://home/mcp": [307, location] })
  expect((await ask("http://home/mcp", { method: "POST", body: "secret" })).status).toBe(307)
  expect(asked).toEqual(["POST http://home/mcp manual"])
})

test("a redirect within the server is followed, a few times, and no call becomes a reading", async () => {
  const inner = answering({ "http://home/mcp": [307, "/mcp/"], "http://home/get": [302, "/mcp/"] })
  expect((await inner.ask("http://home/mcp", { method: "POST" })).status).toBe(200)
  expect((await inner.ask("http://home/get")).status).toBe(200)
  expect((await inner.ask("http://home/get", { method: "POST" })).status).toBe(302)
  const circle = answering({ "http://home/a": [307, "/a"] })
  expect((await circle.ask("http://home/a")).status).toBe(307)
  expect(circle.asked).toHaveLength(4)
})

test("what is nested without end is seen without recurring into it", () => {
  const text = `${"[".repeat(300_000)}1${"]".repeat(300_000)}`
  const value = JSON.parse(text) as unknown
  expect(isTooDeep(value, text)).toBe(true)
  expect(sizeOf(value, 1000)).toBeGreaterThan(1000)
  expect(isTooDeep({ a: "[".repeat(5000) }, "x".repeat(6000))).toBe(false)
})
