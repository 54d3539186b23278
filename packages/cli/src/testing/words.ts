import type { RunEvent } from "@toolwright/toolbox"

/** A reply of a model in words alone, after a round of calls. */
export const words = (content: string): RunEvent => ({
  type: "reply",
  round: 2,
  raw: content,
  content,
  reasoning: "",
  calls: [],
  finishReason: "stop",
  modelMs: 1,
})
