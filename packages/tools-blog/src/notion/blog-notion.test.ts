import fc from "fast-check"
import { afterEach, describe, expect, it } from "vitest"
import { createNetworkHost } from "@toolwright/host/net"
import { callTool } from "@toolwright/host/testing/call-tool"
import { DATABASE, PARENT_PAGE, startNotion, type NotionServer } from "../testing/notion-server.ts"
import { createArtifactStore } from "@toolwright/host"
import { createBlogNotionTool, type NotionConfig } from "./blog-notion.ts"
import { markdownToBlocks } from "./markdown-to-blocks.ts"

let server: NotionServer | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

async function setUp(
  config: NotionConfig = {},
  env: Record<string, string> = { NOTION_TOKEN: "ntn_canary", NOTION_PARENT_ID: PARENT_PAGE },
) {
  const started = (server = await startNotion())
  const waits: number[] = []
  const artifacts = createArtifactStore()
  const tool = createBlogNotionTool(createNetworkHost({ totalMs: 20_000, requestsPerMinute: 10_000 }, env), artifacts, {
    baseUrl: started.origin,
    wait: async (ms) => void waits.push(ms),
    ...config,
  })
  return { tool, artifacts, waits, server: started }
}

const long = (count: number) => Array.from({ length: count }, (_, index) => `Paragraph ${index}.`).join("\n\n")
const texts = (blocks: unknown[]) =>
  blocks.map(
    (block) =>
      (block as { paragraph: { rich_text: { text: { content: string } }[] } }).paragraph.rich_text[0]?.text.content,
  )

describe("blog_notion", () => {
  it("publishes a long text whole and in order, a hundred blocks at a time", async () => {
    const { tool, server } = await setUp()
    const result = await callTool(tool, { title: "Long", content: `# Long\n\n${long(250)}` })
    expect(result.data).toMatchObject({
      url: expect.stringContaining("https://www.notion.so/"),
      blocks: 250,
      already_published: false,
    })
    expect(texts(server.pages[0]?.children ?? [])).toEqual(
      Array.from({ length: 250 }, (_, index) => `Paragraph ${index}.`),
    )
    expect(server.requests.map(({ method, url }) => `${method} ${url.pathname.split("/")[2]}`)).toEqual([
      "GET databases",
      "GET pages",
      "POST pages",
      "PATCH blocks",
      "PATCH blocks",
    ])
    expect(JSON.stringify(result)).not.toContain("canary")
  })

  it("puts a page into a database with its title, tags and status", async () => {
    const { tool, server } = await setUp({ parentId: DATABASE })
    expect(
      (await callTool(tool, { content: "# From the heading\n\ntext", tags: ["go", "a,b"], status: "Draft" })).success,
    ).toBe(true)
    expect(server.pages[0]).toMatchObject({
      parent: { type: "data_source_id" },
      properties: {
        Headline: { title: [{ text: { content: "From the heading" } }] },
        Tags: { multi_select: [{ name: "go" }, { name: "a b" }] },
        Status: { status: { name: "Draft" } },
      },
    })
  })

  it("waits as long as Notion says, and tries conflicts again", async () => {
    const { tool, server, waits } = await setUp()
    server.faults.push(
      { match: /^GET \/v1\/pages/, status: 429, headers: { "retry-after": "7" } },
      { match: /^POST \/v1\/pages/, status: 409 },
      { match: /^POST \/v1\/pages/, status: 429, headers: { "retry-after": "2" } },
      { match: /^PATCH/, status: 529 },
    )
    expect((await callTool(tool, { title: "x", content: long(150) })).success).toBe(true)
    expect(waits).toEqual([7000, 1000, 2000, 1000])
    expect(server.pages).toHaveLength(1)
    expect(server.pages[0]?.children).toHaveLength(150)
  })

  it("makes one page of many calls, also at the same time", async () => {
    const { tool, server } = await setUp()
    const call = () => callTool(tool, { title: "Once", content: long(120) })
    const results = await Promise.all([call(), call(), call()])
    const again = await call()
    expect(new Set([...results, again].map(({ data }) => (data as { url: string }).url)).size).toBe(1)
    expect(again.data).toMatchObject({ already_published: true })
    expect(server.pages).toHaveLength(1)
    await callTool(tool, { title: "Once", content: "other" })
    expect(server.pages).toHaveLength(2)
    await callTool(tool, { title: "a", content: "a", idempotency_key: "k" })
    await callTool(tool, { title: "b", content: "b", idempotency_key: "k" })
    expect(server.pages).toHaveLength(3)
  })

  it.each([PARENT_PAGE, DATABASE])(
    "finds the page when the answer to its creation is lost, instead of making another (under %s)",
    async (parentId) => {
      const { tool, server } = await setUp({ parentId })
      server.faults.push({ match: /^POST \/v1\/pages/, cut: true, after: true })
      expect((await callTool(tool, { title: "Lost", content: long(150) })).success).toBe(true)
      expect(server.pages).toHaveLength(1)
      expect(server.pages[0]?.children).toHaveLength(150)
    },
  )

  it("counts what is there when the answer to an addition is lost: nothing twice, nothing missing", async () => {
    const { tool, server } = await setUp()
    server.faults.push(
      { match: /^PATCH/, cut: true, after: true },
      { match: /^PATCH/, status: 502 },
      { match: /^PATCH/, status: 500, after: true },
    )
    expect((await callTool(tool, { title: "x", content: long(420) })).success).toBe(true)
    expect(texts(server.pages[0]?.children ?? [])).toEqual(
      Array.from({ length: 420 }, (_, index) => `Paragraph ${index}.`),
    )
  })

  it("goes on where it stopped when a call failed half-way", async () => {
    const { tool, server } = await setUp()
    server.faults.push({ match: /^PATCH/, status: 429, headers: { "retry-after": "3600" } })
    const failed = await callTool(tool, { title: "x", content: long(250) })
    expect(failed.error).toMatchObject({
      code: "RATE_LIMITED",
      retryable: true,
      message: expect.stringContaining("goes on with it"),
      details: { retryAfterSeconds: 3600, page_id: expect.any(String) },
    })
    expect((await callTool(tool, { title: "x", content: long(250) })).success).toBe(true)
    expect(server.pages).toHaveLength(1)
    expect(texts(server.pages[0]?.children ?? [])).toEqual(
      Array.from({ length: 250 }, (_, index) => `Paragraph ${index}.`),
    )
  })

  it("takes the content of the run, and names it when there is none", async () => {
    const { tool, artifacts, server } = await setUp()
    const missing = await callTool(tool, { title: "x" }, { runId: "r1" })
    expect(missing.error).toMatchObject({
      code: "MISSING_ARTIFACT",
      message: expect.stringContaining("'content'"),
      hint: expect.stringContaining("assemble_content"),
      details: { artifact: "content" },
    })
    expect(server.requests).toHaveLength(0)
    artifacts.set({ runId: "r1" }, "content", "# Mine\n\ntext")
    expect((await callTool(tool, {}, { runId: "r2" })).error?.code).toBe("MISSING_ARTIFACT")
    expect((await callTool(tool, {}, { runId: "r1" })).success).toBe(true)
    expect(artifacts.get({ runId: "r1" }, "published_url")).toContain("notion.so")
  })

  it("says what is missing or refused", async () => {
    const code = async (env: Record<string, string>, args = {}) => {
      const { tool, server } = await setUp({}, env)
      const { error } = await callTool(tool, { content: "x", ...args })
      await server[Symbol.asyncDispose]()
      return error?.code
    }
    expect(await code({})).toBe("MISSING_API_KEY")
    expect(await code({ NOTION_TOKEN: "ntn_canary" })).toBe("NOT_CONFIGURED")
    expect(await code({ NOTION_TOKEN: "wrong", NOTION_PARENT_ID: PARENT_PAGE })).toBe("UNAUTHORIZED")
    expect(await code({ NOTION_TOKEN: "ntn_canary" }, { parent_id: "99999999-9999-9999-9999-999999999999" })).toBe(
      "NOT_FOUND",
    )
    expect(await code({ NOTION_TOKEN: "ntn_canary" }, { parent_id: "../../v1/users" })).toBe("INVALID_ARGUMENTS")
  })

  it("runs its own examples", async () => {
    const { tool, artifacts } = await setUp()
    const run = { runId: "run" }
    artifacts.set(run, "content", "text")
    for (const { input } of tool.examples ?? []) expect((await callTool(tool, input, run)).success).toBe(true)
  })
})

describe("markdownToBlocks", () => {
  const blocks = (markdown: string) => markdownToBlocks(markdown, () => {})

  it("keeps headings, formatting, lists, to-dos, quotes, code, tables, images and rules", () => {
    const text = (content: string, more: object = {}) => ({ type: "text", text: { content }, ...more })
    expect(blocks("#### H\n\nA **b** *c* ~~d~~ `e` [f](https://x.test/) [g](#top)\n\n---")).toEqual([
      { object: "block", type: "heading_3", heading_3: { rich_text: [text("H")] } },
      {
        object: "block",
        type: "paragraph",
        paragraph: {
          rich_text: [
            text("A "),
            text("b", { annotations: { bold: true } }),
            text(" "),
            text("c", { annotations: { italic: true } }),
            text(" "),
            text("d", { annotations: { strikethrough: true } }),
            text(" "),
            text("e", { annotations: { code: true } }),
            text(" "),
            { type: "text", text: { content: "f", link: { url: "https://x.test/" } } },
            text(" "),
            text("g"),
          ],
        },
      },
      { object: "block", type: "divider", divider: {} },
    ])
    expect(blocks("- a\n  - b\n- [x] c\n\n1. d")).toMatchObject([
      {
        bulleted_list_item: { rich_text: [text("a")], children: [{ bulleted_list_item: { rich_text: [text("b")] } }] },
      },
      { to_do: { rich_text: [text("c")], checked: true } },
      { numbered_list_item: { rich_text: [text("d")] } },
    ])
    expect(blocks("```ts\nlet a\n```\n\n```brainfuck\n+\n```\n\n> q\n\n![alt](https://x.test/i.png)")).toMatchObject([
      { code: { language: "typescript", rich_text: [text("let a")] } },
      { code: { language: "plain text" } },
      { quote: { rich_text: [text("q")] } },
      { image: { external: { url: "https://x.test/i.png" }, caption: [text("alt")] } },
    ])
    expect(blocks("| a | b |\n|---|---|\n| 1 | **2** |")).toMatchObject([
      {
        table: {
          table_width: 2,
          children: [
            { table_row: { cells: [[text("a")], [text("b")]] } },
            { table_row: { cells: [[text("1")], [text("2")]] } },
          ],
        },
      },
    ])
  })

  it("stays within Notion's limits whatever it is given, and loses no word", async () => {
    const { tool, server } = await setUp()
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    const line = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "))
    const part = fc.oneof(
      line,
      line.map((text) => `## ${text}`),
      fc.array(line, { minLength: 1, maxLength: 140 }).map((lines) => lines.map((text) => `- ${text}`).join("\n")),
      line.map((text) => `- ${text}\n  - ${text}\n    - ${text}\n      - ${text}\n        - ${text}`),
      line.map((text) => `> ${text}\n>\n> - ${text}`),
      fc.integer({ min: 1, max: 230 }).map((rows) => `| a | b |\n|---|---|\n${"| one | two |\n".repeat(rows)}`),
      word.map((text) => `\`\`\`js\n${`${text} `.repeat(2000)}\n\`\`\``),
      word.map((text) => Array.from({ length: 150 }, () => `**${text}** plain`).join(" ")),
      word.map((text) => `${text}😀`.repeat(900)),
    )
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 12 }), async (parts) => {
        const markdown = parts.join("\n\n")
        const result = await callTool(tool, { title: `t${count++}`, content: markdown })
        expect(result.error).toBeUndefined()
        const published = JSON.stringify(server.pages.at(-1)?.children)
        for (const found of markdown.match(/[a-z]{3,}/g)?.slice(0, 200) ?? [])
          if (found !== "js") expect(published).toContain(found)
      }),
      { numRuns: 40 },
    )
  })
})
