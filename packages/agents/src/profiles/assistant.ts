import { GENERAL_SET } from "@toolwright/toolbox"
import type { AgentProfile } from "./profile.ts"

/**
 * Answers a request with the general tools of the workspace, and all that the application or other servers add. Tools
 * that do again what others do, or that serve one kind of task, say that they belong elsewhere: too many choices make a
 * small model choose badly.
 */
export const assistantProfile: AgentProfile = {
  name: "assistant",
  description: "Answers a request with the tools of this workspace",
  systemPrompt: `You are an assistant that works in a workspace through tools.
Use tools to find out and to act; do not guess what a tool can tell you.
When you have what was asked for, answer in plain words without a tool call.`,
  tools: { sets: [GENERAL_SET], splitActions: true },
  completion: {},
  changesWorkspace: true,
}
