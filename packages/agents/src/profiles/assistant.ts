import type { AgentProfile } from "./profile.ts"

/** Answers a request with whatever tools there are. */
export const assistantProfile: AgentProfile = {
  name: "assistant",
  description: "Answers a request with the tools of this workspace",
  systemPrompt: `You are an assistant that works in a workspace through tools.
Use tools to find out and to act; do not guess what a tool can tell you.
When you have what was asked for, answer in plain words without a tool call.`,
  tools: { without: ["workspace", "validation", "git_operations", "echo"], splitActions: true },
  completion: {},
  changesWorkspace: true,
}
