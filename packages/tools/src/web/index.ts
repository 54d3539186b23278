import type { ToolDefinition } from "@toolwright/toolbox"
import { createPullRequestTool, type GithubConfig } from "../github/pull-request.ts"
import type { NetworkHost } from "@toolwright/host/net"
import { createWebSearchTool, type WebSearchConfig } from "./web-search.ts"
import { createWebscrapeTool, type WebscrapeConfig } from "./webscrape.ts"

/** Configuration of the tools that read from the web. */
export interface WebToolsConfig {
  github?: GithubConfig
  search?: WebSearchConfig
  webscrape?: WebscrapeConfig
}

/** The tools that read from the web: pull requests, search, pages. */
export function createWebTools(host: NetworkHost, config: WebToolsConfig = {}): ToolDefinition[] {
  return [
    createPullRequestTool(host, config.github),
    createWebSearchTool(host, config.search),
    createWebscrapeTool(host, config.webscrape),
  ]
}
