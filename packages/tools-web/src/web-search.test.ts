import { afterEach, describe, expect, it } from "vitest"
import { createNetworkHost } from "@toolwright/host/net"
import { callTool } from "@toolwright/host/testing/call-tool"
import { json, startLoopback, type Answer, type LoopbackServer } from "@toolwright/host/testing/loopback-server"
import { createWebSearchTool } from "./web-search.ts"

let server: LoopbackServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

/** Answers as the Brave Search API does. */
const brave: Answer = ({ url, headers }, response) => {
  if (headers["x-subscription-token"] !== "key-canary") {
    return json(response, 422, {
      type: "ErrorResponse",
      error: { code: "SUBSCRIPTION_TOKEN_INVALID", detail: "The provided subscription token is invalid.", status: 422 },
    })
  }
  const results = Array.from({ length: 25 }, (_, index) => ({
    title: `Result ${index} &amp; more`,
    url: `https://example.com/${index}`,
    description: `About <strong>it</strong> &#x27;${index}&#x27;`,
    age: "2 days ago",
  })).slice(0, Number(url.searchParams.get("count")))
  json(response, 200, {
    type: "search",
    query: { original: url.searchParams.get("q"), more_results_available: true, altered: "sqlite wal" },
    web: { type: "search", results: [...results, { title: "evil", url: "javascript:alert(1)", description: "" }] },
  })
}

async function tool(answer: Answer, env: Record<string, string> = { BRAVE_API_KEY: "key-canary" }, timeoutMs = 20_000) {
  server = await startLoopback(answer)
  return createWebSearchTool(createNetworkHost({}, env), { url: `${server.origin}/res/v1/web/search`, timeoutMs })
}

describe("web_search", () => {
  it("returns ranked results with title, URL and snippet, the query, the total and what was filtered", async () => {
    const result = await callTool(await tool(brave), {
      query: " SQLite WAL ",
      count: 3,
      freshness: "pm",
      country: "de",
    })
    expect(result.metadata.untrusted, "is said to be of others").toBe(true)
    expect(result.data).toEqual({
      query: "SQLite WAL",
      results: [0, 1, 2].map((index) => ({
        rank: index + 1,
        title: `Result ${index} & more`,
        url: `https://example.com/${index}`,
        snippet: `About it '${index}'`,
        age: "2 days ago",
      })),
      total: 3,
      metadata: {
        took_ms: expect.any(Number),
        page: 0,
        more_available: true,
        corrected_query: "sqlite wal",
        filters: { country: "DE", freshness: "pm" },
      },
    })
    const [asked] = server?.requests ?? []
    expect(Object.fromEntries(asked?.url.searchParams ?? [])).toMatchObject({
      q: "SQLite WAL",
      count: "3",
      freshness: "pm",
      country: "DE",
    })
    expect(asked?.headers["x-subscription-token"]).toBe("key-canary")
    expect(JSON.stringify(result)).not.toContain("key-canary")
    expect(result.output).toContain("1. Result 0 & more\n   https://example.com/0")
  })

  it("gives missing key, refused key, rate limit, timeout and bad arguments codes of their own", async () => {
    const code = async (answer: Answer, env?: Record<string, string>, timeoutMs?: number) => {
      const { error } = await callTool(await tool(answer, env, timeoutMs), { query: "x" })
      await server?.[Symbol.asyncDispose]()
      return error?.code
    }
    expect(await code(brave, {})).toBe("MISSING_API_KEY")
    expect(await code(brave, { BRAVE_API_KEY: "" })).toBe("MISSING_API_KEY")
    expect(await code(brave, { BRAVE_API_KEY: "wrong" })).toBe("UNAUTHORIZED")
    expect(await code((_, response) => json(response, 401, {}))).toBe("UNAUTHORIZED")
    expect(await code((_, response) => json(response, 429, {}))).toBe("RATE_LIMITED")
    expect(
      await code((_, response) =>
        json(response, 422, { error: { code: "VALIDATION", detail: "Unable to validate request parameter(s)" } }),
      ),
    ).toBe("INVALID_ARGUMENTS")
    expect(await code((_, response) => json(response, 503, {}))).toBe("SERVICE_FAILED")
    expect(await code(() => {}, undefined, 200)).toBe("TIMEOUT")
  })

  it("tells which of the service's limits is used up", async () => {
    const limited: Answer = (_, response) =>
      json(
        response,
        429,
        { error: { code: "RATE_LIMITED", detail: "Request rate limit exceeded for plan" } },
        {
          "x-ratelimit-limit": "1, 15000",
          "x-ratelimit-remaining": "0, 14999",
          "x-ratelimit-reset": "1, 1419704",
        },
      )
    expect((await callTool(await tool(limited), { query: "x" })).error).toMatchObject({
      retryable: true,
      details: { retryAfterSeconds: 1 },
    })
  })

  it("refuses what the service would refuse, before asking it", async () => {
    const search = await tool(brave)
    for (const args of [
      {},
      { query: "" },
      { query: "  " },
      { query: "w ".repeat(60) },
      { query: "x".repeat(401) },
      { query: "x", count: 21 },
      { query: "x", freshness: "yesterday" },
    ]) {
      expect((await callTool(search, args)).error?.code).toBe("INVALID_ARGUMENTS")
    }
    expect(server?.requests).toHaveLength(0)
  })

  it("is not offered without a key, and runs its own examples", async () => {
    const search = await tool(brave)
    expect(search.capabilities).toEqual(["env:BRAVE_API_KEY"])
    for (const { input } of search.examples ?? [])
      expect(await callTool(search, input)).toMatchObject({ success: true })
  })
})
