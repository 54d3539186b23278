import type { ToolDefinition } from "@toolwright/toolbox"

/**
 * Names by which clients and models of earlier programs call tools that have other names here. Nothing else knows them:
 * without this folder, and the line that applies it, every tool still answers to its own name.
 */
const FORMER: Readonly<Record<string, readonly string[]>> = {
  bash: ["shell", "run_command", "execute_command"],
  blog_notion: ["publish_to_notion", "notion_publish"],
  db_migrate: ["migrate"],
  db_status: ["migration_status"],
  generate_social_posts: ["social_posts"],
  get_directory_tree: ["directory_tree", "tree"],
  get_github_pull_request_info: ["github_pull_request", "get_pull_request"],
  git_operations: ["git_tool"],
  list_directory: ["ls"],
  move_file: ["rename_file"],
  read_text_file: ["read_file"],
  rss_feed: ["rss", "read_feed"],
  static_links: ["links", "get_static_links"],
  test: ["run_tests", "test_runner"],
  validation: ["validation_tool", "validate"],
  web_search: ["brave_search", "search_web", "brave_web_search"],
  webscrape: ["web_fetch", "fetch_url", "scrape_url", "read_webpage"],
  workspace: ["workspace_tool"],
}

/** Servers that these tools once came from stood before their names. */
const FORMER_SERVERS: readonly { server: string; tools: readonly string[] }[] = [
  { server: "file_operations", tools: ["delete_file", "delete_directory"] },
  {
    server: "filesystem",
    tools: [
      "read_text_file",
      "read_media_file",
      "read_multiple_files",
      "write_file",
      "append_file",
      "insert_lines",
      "edit_file",
      "create_directory",
      "list_directory",
      "list_directory_with_sizes",
      "search_files",
      "get_file_info",
      "list_allowed_directories",
      "move_file",
      "get_directory_tree",
    ],
  },
]

/** The tool, answering to its former names too. */
export function withFormerNames(tool: ToolDefinition): ToolDefinition {
  const names = [
    ...(FORMER[tool.name] ?? []),
    ...FORMER_SERVERS.filter(({ tools }) => tools.includes(tool.name)).map(({ server }) => `${server}__${tool.name}`),
  ]
  if (names.length === 0) return tool
  return { ...tool, aliases: { ...tool.aliases, names: [...(tool.aliases?.names ?? []), ...names] } }
}
