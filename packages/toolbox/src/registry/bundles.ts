import type { ToolBundle } from "../model/tool.ts"

/** The predefined bundles, by what an agent is for; which tools they hold is said by the tools. */
export const PREDEFINED_BUNDLES: readonly ToolBundle[] = [
  { name: "coding", description: "Read, change, search, run, test and commit code" },
  { name: "blog", description: "Research and publish posts" },
  { name: "db-migrations", description: "Write and run database migrations" },
]
