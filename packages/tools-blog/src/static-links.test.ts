import { describe, expect, it } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { createStaticLinksTool } from "./static-links.ts"

const social = [{ name: "Mastodon", url: "https://social.test/@ada" }]
const custom = [{ name: "Newsletter", url: "https://news.test/", description: "monthly" }]

describe("static_links", () => {
  const tool = createStaticLinksTool({ social, custom, youtubePlaceholder: "[video]" })

  it.each([
    ["get_all", { social, custom, youtube_placeholder: "[video]" }],
    ["get_social", { social }],
    ["get_custom", { custom }],
    ["get_youtube_placeholder", { youtube_placeholder: "[video]" }],
  ])("%s gives what is configured", async (action, data) => {
    expect((await callTool(tool, { action })).data).toEqual(data)
  })

  it("shows links as Markdown", async () => {
    expect((await callTool(tool, { action: "get_all" })).output).toContain(
      "- [Newsletter](https://news.test/) – monthly",
    )
  })

  it("says that nothing is configured instead of inventing links, and has a placeholder all the same", async () => {
    const empty = createStaticLinksTool()
    expect((await callTool(empty, { action: "get_social" })).error?.code).toBe("NOT_CONFIGURED")
    expect((await callTool(empty, { action: "get_youtube_placeholder" })).success).toBe(true)
  })

  it("names the actions when another is asked for, and runs its own examples", async () => {
    expect((await callTool(tool, { action: "get_links" })).error?.message).toContain("get_social")
    for (const { input } of tool.examples ?? []) expect((await callTool(tool, input)).success).toBe(true)
  })
})
