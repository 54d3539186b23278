import type { ToolDefinition } from "@toolwright/toolbox"
import type { NetworkHost } from "@toolwright/host/net"
import type { Workspace } from "@toolwright/host/paths"
import { createArtifactStore, rememberResearch, type ArtifactStore } from "./artifacts.ts"
import { createCalendarTool, type CalendarConfig } from "./calendar/calendar.ts"
import { createBlogNotionTool, type NotionConfig } from "./notion/blog-notion.ts"
import { createPhaseTools, type TextGenerator } from "./phases/index.ts"
import { createRssFeedTool, type RssFeedConfig } from "./rss-feed.ts"
import { createStaticLinksTool, type StaticLinksConfig } from "./static-links.ts"

export { createArtifactStore, rememberResearch, type ArtifactStore } from "./artifacts.ts"
export type { TextGenerator } from "./phases/index.ts"

/** Configuration of the tools for blogs. */
export interface BlogToolsConfig extends RssFeedConfig {
  links?: StaticLinksConfig
  calendar?: CalendarConfig
  notion?: NotionConfig
  /** Writes for the phases; without it the calling model passes its own texts. */
  generator?: TextGenerator
  /** What runs have made so far; a store in memory unless given. */
  artifacts?: ArtifactStore
}

/** The tools for blogs: research, the phases of writing, publishing. */
export function createBlogTools(
  host: NetworkHost,
  workspace: Workspace,
  config: BlogToolsConfig = {},
): ToolDefinition[] {
  const { artifacts = createArtifactStore(), generator } = config
  const research = [
    createRssFeedTool(host, config),
    createStaticLinksTool(config.links),
    createCalendarTool(host, workspace, config.calendar),
  ]
  return [
    ...research.map((tool) => rememberResearch(tool, artifacts)),
    ...createPhaseTools({ artifacts, ...(generator === undefined ? {} : { generator }) }),
    createBlogNotionTool(host, artifacts, config.notion),
  ]
}
