import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { createScriptedBackend } from "@toolwright/backends"
import { startLoopback } from "@toolwright/host/testing/loopback-server"
import { createToolwright } from "@toolwright/runtime"
import { isPostgres } from "@toolwright/store"
import type { RunSummary } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { PARENT_PAGE, startNotion } from "../../../tools-blog/src/testing/notion-server.ts"
import { folderWith } from "../testing/run-cli.ts"
import { overTheWire, SURFACES, surface } from "../testing/surfaces.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

const FEED = `<?xml version="1.0"?><rss version="2.0"><channel><title>Mine</title><item><title>Contexts in Go</title>
<link>https://blog.test/1</link><guid>1</guid></item></channel></rss>`
const call = (name: string, args: object = {}) => ({ reply: { calls: [{ name, arguments: args }] } }) as Steps[number]
const says = (value: object | string) => ({ reply: typeof value === "string" ? value : JSON.stringify(value) })

/** A tool of one's own that has to be called. */
const PROOFREAD = `export const proofread = {
  name: "proofread",
  description: "Reads a text for mistakes",
  category: "orchestration",
  optionality: "required",
  sets: ["blog"],
  parameters: { type: "object", properties: {}, additionalProperties: false },
  effects: { readOnly: true },
  handler: async () => ({ success: true, output: "no mistake", modifiedFiles: [], metadata: {}, executionTimeMs: 0 }),
}
`

const { TOOLWRIGHT_WHOLE: WHOLE } = process.env

/** In PostgreSQL a program stands for all surfaces where the scenario is a part of another. */
function stoodFor(skip: (when: boolean, why: string) => void, way: string, database: string): void {
  const stands = !isPostgres(database) || way === "a program"
  skip(WHOLE === undefined && !stands, "TOOLWRIGHT_WHOLE=1 plays it on this surface too")
}

interface Blogging {
  feed?: string
  agent?: string
  writer?: "agent"
  /** Tools of one's own, as the text of a file. */
  own?: string
}

/** Runs the blog's agent with a feed, links and a place to publish; the texts are written by the same model. */
async function blog(
  [way, database]: [way: string, database: string],
  request: string,
  steps: Steps,
  { feed = FEED, agent = "blog", writer, own }: Blogging = {},
) {
  const cwd = folderWith()
  const web = await startLoopback((_, response) =>
    response.writeHead(feed === "" ? 500 : 200, { "content-type": "application/rss+xml" }).end(feed),
  )
  const notion = await startNotion("ntn_canary")
  onTestFinished(async () => {
    for (const server of [web, notion]) await server[Symbol.asyncDispose]()
  })
  const abilities = { nativeTools: true }
  const backend = createScriptedBackend({ model: "qwen2.5-7b-instruct", abilities, steps: overTheWire(steps) })
  if (own !== undefined) writeFileSync(join(cwd, "own.mjs"), own)
  const asked = await surface(way, {
    cwd,
    database,
    model: backend,
    env: { NOTION_TOKEN: "ntn_canary" },
    settings: {
      ...(own === undefined ? {} : { tools: [join(cwd, "own.mjs")] }),
      builtins: {
        kits: ["blog"],
        network: { allowOrigins: [web.origin] },
        blog: {
          ...(writer === undefined ? {} : { writer }),
          feeds: [{ name: "mine", url: `${web.origin}/feed.xml` }],
          links: { social: [{ name: "Mastodon", url: "https://social.test/@ada" }] },
          notion: { baseUrl: notion.origin, parentId: PARENT_PAGE },
        },
      },
    },
  })
  await asked.run(request, agent)
  const { events } = await asked.record()
  const { summary } = events.at(-1) as unknown as { summary: RunSummary }
  const ends = events.filter(({ type }) => type === "tool-end") as unknown as {
    name: string
    result: { success: boolean; data: unknown }
  }[]
  const called = events.flatMap(({ type, name }) => (type === "tool-start" ? [name as string] : []))
  const made = new Map(ends.filter(({ result }) => result.success).map(({ name, result }) => [name, result.data]))
  return { backend, summary, made, called, notion, web, events }
}

onBothDatabases("the blog's agent chooses its steps", (address) => {
  test.for(SURFACES)(
    "A, over %s: a short note is written at once: no research, nothing published",
    async (way, { skip }) => {
      const database = address()
      stoodFor(skip, way, database)
      const { summary, called, made, notion, web } = await blog([way, database], "150-word note on Go contexts", [
        call("assemble_content", { title: "Go contexts", content: "A context carries a deadline." }),
        { expect: { success: true }, reply: "Now I look whether it reads well." },
        { expect: { last: "Please use tools to complete the task." }, reply: "The note is there.\nCONTENT_COMPLETE" },
      ])
      expect(summary).toMatchObject({ success: true, message: "The note is there." })
      expect(called).toEqual(["assemble_content"])
      expect(made.get("assemble_content")).toMatchObject({ content: expect.stringContaining("carries a deadline") })
      expect({ pages: notion.pages, feeds: web.requests }).toEqual({ pages: [], feeds: [] })
    },
  )

  test.each(SURFACES)(
    "B, over %s: a year in review takes every step, each text asked of the model by itself, and is published",
    async (way) => {
      const section = (text: string) => [says(text)]
      const posts = { twitter: "A year.", linkedin: "A year in review.", bluesky: "Review." }
      const { summary, made, backend, notion, called } = await blog(
        [way, address()],
        "A year in review with newsletter, my last posts, publish it",
        [
          call("blog_notion"),
          {
            expect: { success: false, result: "content" },
            ...call("analyze_prompt", { prompt: "A year in review with newsletter, my last posts, publish it" }),
          },
          says({ topic: "The year", key_points: ["posts"], newsletter: true, social: true, publish: true }),
          {
            expect: { result: "Artifacts so far: analysis" },
            reply: {
              calls: [
                { name: "rss_feed", arguments: { action: "get_configured" } },
                { name: "static_links", arguments: { action: "get_all" } },
              ],
            },
          },
          { expect: { success: true }, ...call("generate_outline") },
          says({
            title: "The year",
            sections: [
              { heading: "Posts", points: [] },
              { heading: "Thanks", points: [] },
            ],
          }),
          { expect: { result: "outline" }, ...call("expand_section", { section: 1 }) },
          ...section("I wrote on [contexts](https://blog.test/1)."),
          call("expand_section", { section: 2 }),
          ...section("Thank you for reading."),
          call("assemble_content", { closing: "[Mastodon](https://social.test/@ada)" }),
          { expect: { result: "Tools whose inputs are there:" }, ...call("newsletter") },
          says("# News\n\nThe year in review is out."),
          call("generate_social_posts", { networks: ["twitter", "linkedin", "bluesky"] }),
          says(posts),
          call("blog_notion"),
          { expect: { success: true }, reply: "Published. CONTENT_COMPLETE" },
        ],
      )
      expect(summary.message).toBe("Published.")
      expect(backend.remaining).toBe(0)
      expect(called.filter((name) => name !== "blog_notion")).toEqual([
        "analyze_prompt",
        "rss_feed",
        "static_links",
        "generate_outline",
        "expand_section",
        "expand_section",
        "assemble_content",
        "newsletter",
        "generate_social_posts",
      ])
      for (const name of ["analyze_prompt", "generate_outline", "newsletter", "generate_social_posts"])
        expect(made.get(name), name).toBeDefined()
      expect(made.get("blog_notion")).toMatchObject({ url: expect.stringContaining("notion.so") })
      expect(notion.pages).toHaveLength(1)
      const first = backend.requests[0]!
      expect(first.tools!.map((tool) => tool.function.name)).not.toContain("calendar")
      expect(JSON.stringify(first.messages)).toContain("calendar")
    },
  )

  test.for(SURFACES)("C, over %s: research that fails keeps no post from being written", async (way, { skip }) => {
    const database = address()
    stoodFor(skip, way, database)
    const { summary, called } = await blog(
      [way, database],
      "A post with my last posts",
      [
        call("rss_feed", { action: "get_configured" }),
        { expect: { result: "feed" }, ...call("assemble_content", { title: "Short", content: "Without the feed." }) },
        { expect: { success: true }, reply: "Written, without the feed. CONTENT_COMPLETE" },
      ],
      { feed: "" },
    )
    expect(called).toEqual(["rss_feed", "assemble_content"])
    expect(summary.message).toBe("Written, without the feed.")
    expect(["completed", "completed-with-failures"]).toContain(summary.outcome)
  })

  test.for(SURFACES)(
    "D, over %s: a tool that is required has to be called before the run is done",
    async (way, { skip }) => {
      const database = address()
      stoodFor(skip, way, database)
      const { summary, called } = await blog(
        [way, database],
        "A short note",
        [
          call("assemble_content", { title: "Note", content: "A note." }),
          { expect: { success: true }, reply: "It is there. CONTENT_COMPLETE" },
          { expect: { result: "the required tool 'proofread' has not succeeded yet" }, ...call("proofread") },
          { expect: { success: true }, reply: "Read and there. CONTENT_COMPLETE" },
        ],
        { own: PROOFREAD },
      )
      expect(summary).toMatchObject({ success: true, message: "Read and there." })
      expect(called).toEqual(["assemble_content", "proofread"])
    },
  )

  test.each(SURFACES)(
    "E, over %s: in phases it makes the seven in their order, each with its own tools and what the others handed over",
    async (way) => {
      const done = (summary: string) => ({ ...call("hand_over", { summary }), expect: { success: true } })
      const { summary, called, events, backend, notion, made } = await blog(
        [way, address()],
        "A year in review with newsletter, my last posts, publish it",
        [
          call("analyze_prompt", {
            prompt: "A year in review",
            analysis: { topic: "The year", key_points: ["posts"] },
          }),
          done("A year in review, with newsletter and posts, to be published."),
          call("rss_feed", { action: "get_configured" }),
          done("One earlier post: Contexts in Go, https://blog.test/1"),
          call("generate_outline", { outline: "# The year\n\n## Posts\n- what I wrote" }),
          done("One section: Posts."),
          call("hand_over", { summary: "written" }),
          {
            expect: { success: false, result: "the artifact 'content' has not been produced yet" },
            ...call("expand_section", { section: 1, content: "I wrote on [contexts](https://blog.test/1)." }),
          },
          { expect: { success: true }, ...call("assemble_content") },
          done("The post is there: 'The year'."),
          call("newsletter", { newsletter: "# News\n\nThe year in review is out." }),
          done("The newsletter is there."),
          call("generate_social_posts", { posts: { twitter: "A year." } }),
          done("A post for Twitter."),
          call("blog_notion"),
          { expect: { success: true }, ...call("hand_over", { summary: "Published." }) },
        ],
        { agent: "phased-blog", writer: "agent" },
      )
      expect({ outcome: summary.outcome, message: summary.message }).toMatchObject({ message: "Published." })
      const phases = events.flatMap((event) => (event.type === "phase-end" ? [event.phase] : []))
      expect(phases).toEqual(["analyse", "research", "outline", "write", "newsletter", "social", "publish"])
      expect(called.filter((name) => name !== "hand_over")).toEqual([
        "analyze_prompt",
        "rss_feed",
        "generate_outline",
        "expand_section",
        "assemble_content",
        "newsletter",
        "generate_social_posts",
        "blog_notion",
      ])
      expect(made.get("blog_notion")).toMatchObject({ url: expect.stringContaining("notion.so") })
      expect(notion.pages).toHaveLength(1)
      const tools = backend.requests.map((request) => request.tools!.map((tool) => tool.function.name))
      expect(tools[0]).toEqual(["analyze_prompt", "hand_over"])
      expect(tools.at(-1)).toEqual(["blog_notion", "hand_over", "read_result"])
      expect(JSON.stringify(backend.requests.at(-1)!.messages)).toContain("The newsletter is there.")
    },
  )
})

test("without its tools the blog's agent says which to choose", async () => {
  const backend = createScriptedBackend({ model: "m", steps: [] })
  await using toolwright = await createToolwright({ cwd: folderWith(), backend, builtins: { kits: [] } })
  await expect(toolwright.complete("A note", { agent: "blog" })).rejects.toMatchObject({ code: "MISSING_TOOLS" })
})
