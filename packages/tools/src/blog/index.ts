import type { ToolDefinition } from "@toolwright/toolbox"
import type { NetworkHost } from "../net/network-host.ts"
import type { Workspace } from "../paths/workspace.ts"
import { createCalendarTool, type CalendarConfig } from "./calendar/calendar.ts"
import { createRssFeedTool, type RssFeedConfig } from "./rss-feed.ts"
import { createStaticLinksTool, type StaticLinksConfig } from "./static-links.ts"

/** Configuration of the tools for blogs. */
export interface BlogToolsConfig extends RssFeedConfig {
  links?: StaticLinksConfig
  calendar?: CalendarConfig
}

/** The tools for blogs: research, phases of writing, publishing. */
export function createBlogTools(host: NetworkHost, workspace: Workspace, config: BlogToolsConfig = {}): ToolDefinition[] {
  return [createRssFeedTool(host, config), createStaticLinksTool(config.links), createCalendarTool(host, workspace, config.calendar)]
}
