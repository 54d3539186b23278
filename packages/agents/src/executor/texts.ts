/** What the executor says, word for word: models, logs and tests rely on it. */
export const TEXTS = {
  useTools: "Please use tools to complete the task.",
  maxRounds: "max rounds reached",
  tokensUsed: (most: number, used: number): string => `its limit of ${most} tokens is used up (${used})`,
  secondsUsed: (most: number): string => `its limit of ${most} s is used up`,
  noToolUse: "LLM did not use tools as expected",
  onlyReasoning: "Your reply held only reasoning. Please act now: make a tool call, or give your answer.",
  cutOff: "Your reply was cut off before it was complete. Please go on with a shorter reply: one tool call at a time.",
  noTools:
    "This run has no tools at all: the agent's tool list selects none of those that are registered. Tools of " +
    "services and of MCP servers are for agents that take sets where their setting 'sets' says so.",
  handOver: "Your reply holds no call. Go on with the tools; when this phase is done, call hand_over.",
  phaseRounds: (rounds: number): string => `it did not end within its ${rounds} rounds`,
  moreTools: "From now on you may also call:",
  moreToolsThrough: "From now on you may also call, through call_tool:",
  fewerTools: "No longer available:",
  answer: "Please give your answer.",
  noAnswer: "The model gave no answer.",
  outputAlone: "Answer once more, with the JSON alone.",
  badOutput: "The answer does not have the form that was asked for.",
  cancelled: "The run was cancelled.",
  waiting: ({ tool, approval }: { tool: string; approval: string }, run: string): string =>
    `'${tool}' needs approval. Answer with 'toolwright approvals allow ${approval}' (or deny), then 'toolwright ` +
    `resume ${run}'.`,
} as const

/** Replies without a call in a row after which a run gives up. */
export const MAX_NUDGES = 3
