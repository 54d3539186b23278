import type { ToolBundle } from "../model/tool.ts"

/** The predefined bundles, by what an agent is for. */
export const PREDEFINED_BUNDLES: readonly ToolBundle[] = [
  {
    name: "coding",
    description: "Read, change, search, run, test and commit code",
    tools: ["file", "code_edit", "search", "navigate", "git", "bash", "test"],
  },
  {
    name: "blog",
    description: "Research and publish posts",
    tools: ["rss_feed", "static_links", "calendar", "blog_notion", "webscrape"],
  },
  {
    name: "db-migrations",
    description: "Write and run database migrations",
    tools: ["file", "bash", "git", "db_migrate", "db_status"],
  },
]
