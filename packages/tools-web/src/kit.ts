import type { ToolKit } from "@toolwright/host"
import { createPullRequestTool, type GithubConfig } from "./github/pull-request.ts"
import { createWebSearchTool, type WebSearchConfig } from "./web-search.ts"
import { createWebscrapeTool, type WebscrapeConfig } from "./webscrape.ts"

/** Configuration of the tools that read from the web. */
export interface WebToolsConfig {
  github?: GithubConfig
  search?: WebSearchConfig
  webscrape?: WebscrapeConfig
}

/** The tools that read from the web: pull requests, search, pages. */
export function webKit(config: WebToolsConfig = {}): ToolKit {
  return {
    name: "web",
    tools: ({ network }) => [
      createPullRequestTool(network, config.github),
      createWebSearchTool(network, config.search),
      createWebscrapeTool(network, config.webscrape),
    ],
  }
}
