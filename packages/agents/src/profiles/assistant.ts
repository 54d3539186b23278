import type { AgentProfile } from "./profile.ts"

/**
 * Tools that do again what others of the set do, or that serve one kind of task: too many choices make a small model
 * choose badly.
 */
const LEFT_OUT = [
  "workspace",
  "validation",
  "git_operations",
  "echo",
  "logit",
  "read_text_file",
  "read_multiple_files",
  "write_file",
  "edit_file",
  "list_directory",
  "list_directory_with_sizes",
  "search_files",
  "get_file_info",
  "list_allowed_directories",
  "delete_directory",
  "get_directory_tree",
  "analyze_prompt",
  "generate_outline",
  "expand_section",
  "assemble_content",
  "newsletter",
  "generate_social_posts",
  "static_links",
  "db_migrate",
  "db_status",
] as const

/** Answers a request with the tools of the workspace, and all that the application or other servers add. */
export const assistantProfile: AgentProfile = {
  name: "assistant",
  description: "Answers a request with the tools of this workspace",
  systemPrompt: `You are an assistant that works in a workspace through tools.
Use tools to find out and to act; do not guess what a tool can tell you.
When you have what was asked for, answer in plain words without a tool call.`,
  tools: { without: LEFT_OUT, splitActions: true },
  completion: {},
  changesWorkspace: true,
}
