import type { ToolKit } from "@toolwright/host"
import { createCalendarTool, type CalendarConfig } from "./calendar/calendar.ts"
import { createBlogNotionTool, type NotionConfig } from "./notion/blog-notion.ts"
import { createPhaseTools, type TextGenerator } from "./phases/index.ts"
import { createRssFeedTool, type RssFeedConfig } from "./rss-feed.ts"
import { createStaticLinksTool, type StaticLinksConfig } from "./static-links.ts"

/** Configuration of the tools for blogs. */
export interface BlogToolsConfig extends RssFeedConfig {
  links?: StaticLinksConfig
  calendar?: CalendarConfig
  notion?: NotionConfig
  /**
   * Who writes the texts of the phases: a model that is asked for each (`model`), or the calling one, which passes them
   * in.
   */
  writer?: "model" | "agent"
  /** The model that is asked; without it the calling model passes its own texts. */
  generator?: TextGenerator
}

/** The tools for blogs: research, the phases of writing, publishing. */
export function blogKit(config: BlogToolsConfig = {}): ToolKit {
  const generator = config.writer === "agent" ? undefined : config.generator
  return {
    name: "blog",
    tools: ({ network, workspace, artifacts }) => [
      createRssFeedTool(network, config),
      createStaticLinksTool(config.links),
      createCalendarTool(network, workspace, config.calendar),
      ...createPhaseTools({ artifacts, ...(generator === undefined ? {} : { generator }) }),
      createBlogNotionTool(network, artifacts, config.notion),
    ],
  }
}
