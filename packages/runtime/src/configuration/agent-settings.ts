import { atMost } from "./free.ts"
import type { Setting } from "./setting.ts"

/** What holds for the runs of agents, and which agents there are beside those that come along. */
export const AGENT_SETTINGS = [
  {
    key: "agent.maxRounds",
    nature: "widens",
    free: atMost(100),
    type: "integer",
    minimum: 1,
    fallback: 20,
    description: "Inferences in one run; with the pocket model eight at most",
    env: ["TOOLWRIGHT_MAX_ROUNDS"],
    flag: "max-rounds",
  },
  {
    key: "agent.contextStrategy",
    nature: "harmless",
    type: "string",
    values: ["summary", "last", "priority"],
    fallback: "summary",
    description:
      "What is kept of a conversation that grows too long for the window: the last rounds and a summary, as many " +
      "of the last rounds as fit, or failures, changes and words before others; see docs/agents.md",
    env: ["TOOLWRIGHT_CONTEXT"],
    flag: "context-strategy",
  },
  {
    key: "agent.keepRounds",
    nature: "harmless",
    type: "integer",
    minimum: 1,
    description:
      "Rounds at the end of a long conversation that are kept whole: 3 unless given, with the strategy last " +
      "all that fit",
  },
  {
    key: "agent.maxNestingDepth",
    nature: "widens",
    free: atMost(5),
    type: "integer",
    minimum: 0,
    fallback: 3,
    description: "How deep agents may ask each other below the run that was begun; 0 lets none be asked",
  },
  {
    key: "agent.toolTimeoutSeconds",
    nature: "harmless",
    type: "number",
    minimum: 1,
    fallback: 120,
    description: "Time limit of tools that set none",
    flag: "tool-timeout",
  },
  {
    key: "agent.catalogue",
    nature: "harmless",
    type: "string",
    values: ["searched", "whole"],
    fallback: "searched",
    description:
      "What a model is told of tools: at most twelve at the front and the others by a search, or all of them",
    env: ["TOOLWRIGHT_CATALOGUE"],
    flag: "catalogue",
  },
  {
    key: "agent.toolBias",
    nature: "harmless",
    type: "boolean",
    fallback: false,
    description:
      "Whether a model is led to tools whose inputs are there, and away from those called more than twice or " +
      "denied, by the tokens of their names; of llama.cpp, vLLM, SGLang and models in this process",
    env: ["TOOLWRIGHT_TOOL_BIAS"],
    flag: "tool-bias",
  },
  {
    key: "agent.requiredTools",
    nature: "narrows",
    type: "string-list",
    description:
      "Tools that must have succeeded before a run counts as completed, beside what the agent itself promises",
  },
  {
    key: "agent.requiredArtifacts",
    nature: "narrows",
    type: "string-list",
    description:
      "Artifacts that must have been produced before a run counts as completed (what tools say that they produce)",
  },
  {
    key: "agents.files",
    nature: "programs",
    path: true,
    type: "string-list",
    description: "Agents of your own: YAML files, and folders of them, see docs/agents.md",
    env: ["TOOLWRIGHT_AGENTS"],
    flag: "agents",
  },
  {
    key: "agents.define",
    nature: "programs",
    type: "object",
    description: "Agents of your own by name: from, prompt, tools, mode, limits, done, see docs/agents.md",
  },
] as const satisfies readonly Setting[]
