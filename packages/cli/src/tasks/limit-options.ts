import type { OptionDeclarations } from "../options.ts"

/**
 * What a task may cost and when it may begin: of `tasks add`, and told with the common options, since they are many.
 */
export const TASK_LIMITS = {
  in: { type: "string", value: "seconds", common: true, description: "Not before so many seconds from now" },
  tries: { type: "string", value: "n", common: true, description: "How often it may be started, crashes included (3)" },
  key: { type: "string", value: "text", common: true, description: "The same key given twice is one task" },
  rounds: { type: "string", value: "n", common: true, description: "Inferences at most" },
  tokens: { type: "string", value: "n", common: true, description: "Tokens at most, of requests and replies together" },
  money: {
    type: "string",
    value: "n",
    common: true,
    description: "What it may cost at most, in the unit of the setting model.prices",
  },
  seconds: { type: "string", value: "n", common: true, description: "Seconds at most, from its first start" },
} as const satisfies OptionDeclarations
