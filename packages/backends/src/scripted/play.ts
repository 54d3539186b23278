import type { ToolFormatter } from "@toolwright/toolformat"
import { conflictingConstraints, constraintsOf } from "../failures.ts"
import type { InferEvent, InferRequest } from "../model/backend.ts"
import { delay } from "../time.ts"
import type { Place } from "./assertion.ts"
import { interpolate, takeCapture } from "./capture.ts"
import { checkExpectations } from "./check.ts"
import { hasNativeCalls, replyEvents } from "./reply.ts"
import type { Chunks, ScreenplayReply, ScreenplayStep } from "./screenplay.ts"

/** What a step needs to know besides itself. */
export interface PlaySetting {
  /** Where errors say that they happened. */
  place: Place
  /** Captures of earlier steps; those of this step are added. */
  captured: Map<string, unknown>
  modelName: string
  /** How replies are cut, unless the reply says. */
  chunks?: Chunks | undefined
  /** Writes calls as text where no tools were offered natively. */
  formatter?: Pick<ToolFormatter, "printCalls"> | undefined
  signal?: AbortSignal | undefined
}

/** @throws ToolwrightError `CONFLICTING_CONSTRAINTS` for a request that no server would take */
export function checkConstraints(request: InferRequest): void {
  const constraints = constraintsOf(request)
  if (constraints.length > 1) throw conflictingConstraints(constraints)
}

/**
 * Plays one step of a screenplay: checks what was sent, captures values, replies.
 *
 * @throws ToolwrightError `SCREENPLAY_ASSERTION` when it was not sent what it expects, or the failure that it is
 *   written to end in;
 *   the signal's reason when cancelled
 */
export async function* playStep(
  step: ScreenplayStep,
  request: InferRequest,
  setting: PlaySetting,
): AsyncGenerator<InferEvent> {
  const { place, captured, modelName, chunks, formatter, signal } = setting
  checkExpectations([step.expect ?? []].flat(), request, place)
  for (const [name, capture] of Object.entries(step.capture ?? {}))
    captured.set(name, takeCapture(name, capture, request, place))
  const reply = replyOf(step, captured)
  if (reply.delayMs !== undefined) await delay(reply.delayMs, signal)
  for (const event of replyEvents(reply, request, { chunks, modelName, formatter, place })) {
    signal?.throwIfAborted()
    yield event
  }
  if (reply.hang === true) await delay(Infinity, signal)
  const finishReason = reply.finish ?? (hasNativeCalls(reply, request) ? "tool-calls" : "stop")
  yield { type: "end", finishReason, ...(reply.usage === undefined ? {} : { usage: reply.usage }) }
}

function replyOf(step: ScreenplayStep, captured: ReadonlyMap<string, unknown>): ScreenplayReply {
  const reply = typeof step.reply === "string" ? { text: step.reply } : step.reply
  if (reply.interpolate === false) return reply
  const filled = interpolate(reply, captured)
  // Text stays text, also where it is one placeholder for a number.
  for (const key of ["text", "reasoning"] as const) {
    const value: unknown = filled[key]
    if (value !== undefined && typeof value !== "string") filled[key] = JSON.stringify(value)
  }
  return filled
}
