import { aiSdk } from "./ai-sdk.ts"
import type { Contestant } from "./contestant.ts"

/** The peers, as they are installed. pi's later versions ask for a package that the registry does not have. */
export const PEERS = {
  "ai-6": "npm:ai@6.0.322",
  "ai-7": "npm:ai@7.0.173",
  "@mastra/core": "1.71.0",
  langchain: "1.5.14",
  "@langchain/core": "1.4.0",
  "@openai/agents": "0.20.0",
  "@earendil-works/pi-agent-core": "0.87.1",
  zod: "4.6.7",
} as const

/** Who takes part, by the name that its ratio has. Each is loaded in a process of its own. */
export const CONTESTANTS: Readonly<Record<string, () => Promise<Contestant>>> = {
  toolwright: async () => (await import("./toolwright.ts")).contestant,
  "toolwright with its log": async () => (await import("./toolwright.ts")).recorded,
  "ai@6": async () => aiSdk("ai-6", "v3"),
  "ai@7": async () => aiSdk("ai-7", "v4"),
  "@mastra/core": async () => (await import("./mastra.ts")).contestant,
  langchain: async () => (await import("./langchain.ts")).contestant,
  "@openai/agents": async () => (await import("./openai-agents.ts")).contestant,
  "@earendil-works/pi-agent-core": async () => (await import("./pi.ts")).contestant,
}
