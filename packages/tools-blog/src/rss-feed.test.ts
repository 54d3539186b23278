import { splitActions } from "@toolwright/toolbox"
import { afterEach, describe, expect, it } from "vitest"
import { createNetworkHost } from "@toolwright/host/net"
import { callTool } from "@toolwright/host/testing/call-tool"
import { startLoopback, type Answer, type LoopbackServer } from "@toolwright/host/testing/loopback-server"
import type { Feed } from "./normalise-feed.ts"
import { createRssFeedTool, type RssFeedConfig } from "./rss-feed.ts"

const servers: LoopbackServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]()
})

async function feedTool(
  body: string | Buffer | Answer,
  type = "application/rss+xml",
  configure?: (origin: string) => RssFeedConfig,
) {
  const answer: Answer =
    typeof body === "function" ? body : (_, response) => response.writeHead(200, { "content-type": type }).end(body)
  const server = await startLoopback(answer)
  servers.push(server)
  const network = configure === undefined ? { allowOrigins: [server.origin] } : {}
  return {
    tool: createRssFeedTool(createNetworkHost({ ...network, totalMs: 20_000 }, {}), configure?.(server.origin)),
    url: `${server.origin}/feed.xml`,
  }
}

async function fetchFeed(body: string | Buffer, type?: string, args: object = {}): Promise<Feed> {
  const { tool, url } = await feedTool(body, type)
  const result = await callTool(tool, { action: "fetch", url, ...args })
  expect(result.error).toBeUndefined()
  expect(result.metadata.untrusted, "is said to be of others").toBe(true)
  return (result.data as { feeds: Feed[] }).feeds[0] as Feed
}

const item = (index: number, extra = "") =>
  `<item><title>Post ${index}</title><link>https://blog.test/${index}</link><guid>id-${index}</guid><pubDate>Sun, ${String(index).padStart(2, "0")} Nov 2026 10:00:00 GMT</pubDate>${extra}</item>`
const rss = (items: string, prolog = '<?xml version="1.0"?>') =>
  `${prolog}<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Blog</title><link>https://blog.test/</link><description>About</description>${items}</channel></rss>`

describe("rss_feed", () => {
  it("gives the five newest entries unless told otherwise, duplicates left out", async () => {
    const body = rss([3, 1, 9, 9, 2, 7, 8].map((index) => item(index)).join(""))
    const feed = await fetchFeed(body)
    expect(feed).toMatchObject({ format: "rss", title: "Blog", link: "https://blog.test/", total: 6 })
    expect(feed.items.map(({ title }) => title)).toEqual(["Post 9", "Post 8", "Post 7", "Post 3", "Post 2"])
    expect(feed.items[0]).toMatchObject({ url: "https://blog.test/9", published: "2026-11-09T10:00:00.000Z" })
    expect((await fetchFeed(body, undefined, { limit: 2 })).items).toHaveLength(2)
  })

  it("reads CDATA, markup, creators and categories as text", async () => {
    const feed = await fetchFeed(
      rss(
        "<item><title><![CDATA[A <b>bold</b> & fine]]></title><description>&lt;p&gt;Text &amp;amp; " +
          "more&lt;/p&gt;<![CDATA[<script>evil()</script>]]></description><dc:creator>Ada</dc:creator><category>go</category><link>/relative</link></item>",
      ),
    )
    expect(feed.items[0]).toMatchObject({
      title: "A bold & fine",
      summary: "Text & more",
      author: "Ada",
      categories: ["go"],
      url: expect.stringMatching(/^http:\/\/127.*\/relative$/),
    })
  })

  it("reads Atom, RDF and JSON feeds in the same shape", async () => {
    const atom = await fetchFeed(
      '<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><id>a</id><updated>2026-01-01T00:00:00Z</updated><entry><id>1</id><title type="html">x &lt;i&gt;y</title><link rel="self" href="/api"/><link rel="alternate" href="/page"/><updated>2026-01-02T00:00:00Z</updated><author><name>N</name></author><summary>s</summary></entry></feed>',
    )
    expect(atom).toMatchObject({
      format: "atom",
      title: "A",
      items: [
        {
          title: "x y",
          url: expect.stringMatching(/\/page$/),
          published: "2026-01-02T00:00:00.000Z",
          author: "N",
          summary: "s",
        },
      ],
    })
    const json = await fetchFeed(
      JSON.stringify({
        version: "https://jsonfeed.org/version/1.1",
        title: "J",
        items: [
          {
            id: "1",
            url: "https://j.test/1",
            title: "t",
            content_text: "c",
            date_published: "2026-01-01T00:00:00Z",
            tags: ["q"],
          },
        ],
      }),
      "application/feed+json",
    )
    expect(json).toMatchObject({
      format: "json",
      items: [{ title: "t", url: "https://j.test/1", summary: "c", categories: ["q"] }],
    })
    const rdf = await fetchFeed(
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" ' +
        'xmlns="http://purl.org/rss/1.0/"><channel ' +
        'rdf:about="u"><title>R</title><link>https://r.test/</link><description>d</description></channel><item ' +
        'rdf:about="1"><title>t</title><link>https://r.test/1</link></item></rdf:RDF>',
    )
    expect(rdf).toMatchObject({ format: "rdf", title: "R", items: [{ title: "t", url: "https://r.test/1" }] })
  })

  it.each([
    ["application/rss+xml; charset=iso-8859-1", '<?xml version="1.0"?>', "latin1"],
    ["application/xml", '<?xml version="1.0" encoding="ISO-8859-1"?>', "latin1"],
    ["application/xml", '<?xml version="1.0"?>', "utf8"],
    ["application/xml", "\ufeff", "utf16le"],
  ] as const)("decodes %s %s", async (type, prolog, encoding) => {
    const body = Buffer.from(rss("<item><title>Café déjà</title></item>", prolog), encoding)
    expect((await fetchFeed(body, type)).items[0]?.title).toBe("Café déjà")
  })

  it("expands no entities of the feed's own, and survives a bomb of them", async () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `<!ENTITY e${level} "${level === 0 ? "lol]>" : `&e${level - 1};`.repeat(10)}">`,
    ).join("")
    const prolog = `<?xml version="1.0"?><!DOCTYPE rss [${levels}<!ENTITY file SYSTEM "file:///etc/passwd">]>`
    const before = process.memoryUsage().rss
    const feed = await fetchFeed(rss("<item><title>Bomb &e11; &file;</title></item>", prolog))
    expect(feed.items[0]?.title.length).toBeLessThan(60)
    expect(feed.items[0]?.title).not.toMatch(/root:|lol/)
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  })

  it.each([
    ["doctypes without end", "<!DOCTYPE ".repeat(200_000)],
    ["a doctype whose quote never ends", `<!DOCTYPE rss [<!ENTITY a "${"x".repeat(1_000_000)}`],
    [
      "scripts without end",
      rss(`<item><title>x</title><description><![CDATA[${"<script ".repeat(250_000)}]]></description></item>`),
    ],
    [
      "scripts that are never closed",
      rss(`<item><title>x</title><description><![CDATA[${"<script>".repeat(250_000)}]]></description></item>`),
    ],
  ])("is not kept busy by %s", async (_, body) => {
    const { tool, url } = await feedTool(body)
    const result = await callTool(tool, { action: "fetch", url })
    expect(result.success || result.error?.code === "INVALID_RESPONSE").toBe(true)
  })

  it("keeps what only looks like a doctype inside an entry", async () => {
    const feed = await fetchFeed(
      rss("<item><title><![CDATA[On <!DOCTYPE html> and 'quotes]]></title></item><item><title>Last</title></item>"),
    )
    expect(feed.items.map(({ title }) => title)).toEqual(["On and 'quotes", "Last"])
  })

  it("reads all configured feeds, on private servers too, and says which could not be read", async () => {
    const configure = (origin: string) => ({
      feeds: [
        { name: "mine", url: `${origin}/feed.xml` },
        { name: "gone", url: `${origin}/gone` },
      ],
    })
    const { tool, url } = await feedTool(
      ({ url }, response) => (url.pathname === "/gone" ? response.writeHead(410).end() : response.end(rss(item(1)))),
      "",
      configure,
    )
    const all = await callTool(tool, { action: "get_configured" })
    expect(all.data).toMatchObject({
      feeds: [
        { name: "mine", total: 1 },
        { name: "gone", items: [], error: expect.stringContaining("410") },
      ],
    })
    expect((await callTool(tool, { action: "get_configured", name: "gone" })).error).toMatchObject({
      code: "FEEDS_UNREACHABLE",
      message: expect.stringContaining("410"),
    })
    expect((await callTool(tool, { action: "fetch", url })).error?.code).toBe("BLOCKED_ADDRESS")
  })

  it("answers what is no feed, no URL, or not configured with what to do", async () => {
    const page = await feedTool("<html><body>hello</body></html>", "text/html")
    expect((await callTool(page.tool, { action: "fetch", url: page.url })).error).toMatchObject({
      code: "INVALID_RESPONSE",
      hint: expect.stringContaining("rss.xml"),
    })
    expect((await callTool(page.tool, { action: "fetch", url: "ftp://x" })).error?.code).toBe("INVALID_URL")
    expect((await callTool(page.tool, { action: "fetch" })).error?.code).toBe("INVALID_ARGUMENTS")
    expect((await callTool(page.tool, { action: "get_configured" })).error).toMatchObject({
      code: "NOT_CONFIGURED",
      hint: expect.stringContaining('"action": "fetch"'),
    })
    const cut = await feedTool(
      (_, response) =>
        void response.writeHead(200, { "content-length": "900" }).write("<rss>", () => response.destroy()),
    )
    expect((await callTool(cut.tool, { action: "fetch", url: cut.url })).error).toMatchObject({
      code: "RESPONSE_CUT_OFF",
      retryable: true,
    })
  })

  it("can be called as single-action tools", async () => {
    const { tool, url } = await feedTool(rss(item(1)))
    const [fetch] = splitActions(tool)
    expect(fetch?.name).toBe("rss_feed_fetch")
    expect((await callTool(fetch!, { url })).success).toBe(true)
  })
})
