import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { SamplingOptions } from "../model/backend.ts"

/** What a caller is told of a failure: that it gave up, what we said ourselves, or that the engine failed. */
export function engineFailure(thrown: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason
  if (ToolwrightError.isInstance(thrown)) return thrown
  return new ToolwrightError("MODEL_SERVER_ERROR", `The engine failed: ${messageOf(thrown)}`, { cause: thrown })
}

/** The penalties that are asked for; undefined where none is. */
export function penaltiesOf({ repetitionPenalty: penalty, frequencyPenalty, presencePenalty }: SamplingOptions) {
  if (penalty === undefined && frequencyPenalty === undefined && presencePenalty === undefined) return undefined
  return {
    ...(penalty !== undefined && { penalty }),
    ...(frequencyPenalty !== undefined && { frequencyPenalty }),
    ...(presencePenalty !== undefined && { presencePenalty }),
  }
}
