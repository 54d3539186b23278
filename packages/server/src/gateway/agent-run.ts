import type { FinishReason } from "@toolwright/backends"
import type { AnswerEvent } from "@toolwright/dialogue"
import { ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"

/** What a model that would go on for ever is stopped with. */
export const TOO_MANY_STEPS = "Sorry, this query requires too many steps."

/** A step of a run as clients may show it, beside the text. */
export interface ReasoningEvent {
  type:
    | "iteration_start"
    | "tool_execution_start"
    | "tool_result"
    | "iteration_complete"
    | "reasoning_complete"
    | "error"
  step_iteration: number
  metadata: Record<string, unknown>
}

/** What a run gives to a chat: text as a model gives it, and its steps. */
export type ChatStep =
  | Extract<AnswerEvent, { type: "text-delta" | "reasoning-delta" | "end" }>
  | { type: "step"; event: ReasoningEvent }

/**
 * A run of an agent as a chat reply: text of all rounds in order, steps as events beside it, one end. No call and no
 * result shows
 * as text.
 *
 * @param inForm the answer has a form: it is told once it has it, and nothing that was said before
 * @throws ToolwrightError what ended the run, when the model could not be asked
 */
export async function* runAsChat(
  events: AsyncGenerator<RunEvent, RunSummary>,
  inForm = false,
): AsyncGenerator<ChatStep, void> {
  let round = 0
  let said = ""
  let finishReason: FinishReason = "stop"
  const step = (type: ReasoningEvent["type"], metadata: Record<string, unknown> = {}): ChatStep => ({
    type: "step",
    event: { type, step_iteration: round, metadata },
  })
  for await (const event of events) {
    switch (event.type) {
      case "round-start":
        round = event.round
        yield step("iteration_start", { tools: event.tools.length })
        break
      case "text-delta":
        said += event.text
        // Of an answer in a form only the last is one.
        if (!inForm) yield event
        break
      case "reasoning-delta":
        yield event
        break
      case "reply":
        // An answer that was cut off is told as one.
        finishReason = event.finishReason === "length" ? "length" : "stop"
        break
      case "tool-start":
        yield step("tool_execution_start", { tool: event.name, call_id: event.callId, arguments: event.arguments })
        break
      case "tool-end":
        yield step("tool_result", {
          tool: event.name,
          call_id: event.callId,
          success: event.result.success,
          duration_ms: event.result.executionTimeMs,
          ...(event.result.error === undefined ? {} : { error: event.result.error.message }),
        })
        break
      case "round-end":
        yield step("iteration_complete")
        break
      case "run-end": {
        const { summary, error } = event
        if (summary.outcome === "failed")
          throw new ToolwrightError(
            error?.code ?? "RUN_FAILED",
            summary.message,
            error?.hint === undefined ? {} : { hint: error.hint },
          )
        if (inForm && summary.output !== undefined) yield { type: "text-delta", text: JSON.stringify(summary.output) }
        if (summary.outcome === "max-rounds")
          yield { type: "text-delta", text: said === "" ? TOO_MANY_STEPS : `\n\n${TOO_MANY_STEPS}` }
        yield step("reasoning_complete", { outcome: summary.outcome, rounds: summary.rounds, calls: summary.calls })
        yield {
          type: "end",
          finishReason,
          usage: { inputTokens: summary.inputTokens, outputTokens: summary.outputTokens },
        }
        break
      }
      default:
    }
  }
}
