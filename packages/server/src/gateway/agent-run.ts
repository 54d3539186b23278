import type { FinishReason } from "@toolwright/backends"
import type { AnswerEvent } from "@toolwright/dialogue"
import { ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import { Spoken } from "./spoken.ts"

/** What a model that would go on for ever is stopped with. */
export const TOO_MANY_STEPS = "Sorry, this query requires too many steps."

/** A step of a run as clients may show it, beside the text. */
export interface ReasoningEvent {
  type:
    | "iteration_start"
    | "planning"
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
  | Extract<AnswerEvent, { type: "text-delta" | "reasoning-delta" | "note" | "end" }>
  | { type: "step"; event: ReasoningEvent }

/**
 * A run of an agent as a chat reply: text of all rounds in order, steps as events beside it, one end. No call and no
 * result shows as text. Where the run did not end well the last paragraph says so, whatever the model said of it.
 *
 * @param inForm the answer has a form: it is told once it has it, and nothing that was said before
 * @throws ToolwrightError what ended the run, when the model could not be asked
 */
export async function* runAsChat(
  events: AsyncGenerator<RunEvent, RunSummary>,
  inForm = false,
): AsyncGenerator<ChatStep, void> {
  const chat = new ChatOfRun(inForm)
  for await (const event of events) yield* chat.stepsOf(event)
}

/** What of a run was told to a chat so far. */
class ChatOfRun {
  readonly #inForm: boolean
  #round = 0
  readonly #spoken = new Spoken()
  #finishReason: FinishReason = "stop"

  constructor(inForm: boolean) {
    this.#inForm = inForm
  }

  *stepsOf(event: RunEvent): Generator<ChatStep, void> {
    switch (event.type) {
      case "round-start":
        this.#round = event.round
        yield this.#step("iteration_start", { tools: event.tools.length })
        break
      case "text-delta":
        yield* this.#text(this.#spoken.hear(event.text))
        break
      case "reasoning-delta":
        yield event
        break
      case "reply":
        yield* this.#text(this.#spoken.endRound())
        // An answer that was cut off is told as one.
        this.#finishReason = event.finishReason === "length" ? "length" : "stop"
        if (event.calls.length > 0) yield this.#step("planning", planOf(event))
        break
      case "tool-start":
        yield this.#step("tool_execution_start", startOf(event))
        break
      case "tool-end":
        yield this.#step("tool_result", resultOf(event))
        break
      case "round-end":
        yield this.#step("iteration_complete")
        break
      case "run-end":
        yield* this.#end(event)
        break
      default:
    }
  }

  *#end({ summary, error }: Extract<RunEvent, { type: "run-end" }>): Generator<ChatStep, void> {
    const { outcome, message, output, rounds, calls, inputTokens, outputTokens } = summary
    yield* this.#text(this.#spoken.endRound())
    if (outcome === "failed") {
      // Before the first round nothing was told yet, and the status of the answer still says it.
      if (this.#round > 0) yield this.#step("error", { code: error?.code ?? "RUN_FAILED", message })
      throw new ToolwrightError(
        error?.code ?? "RUN_FAILED",
        message,
        error?.hint === undefined ? {} : { hint: error.hint },
      )
    }
    if (this.#inForm && output !== undefined) yield { type: "text-delta", text: JSON.stringify(output) }
    if (outcome === "max-rounds")
      yield { type: "text-delta", text: this.#spoken.told === "" ? TOO_MANY_STEPS : `\n\n${TOO_MANY_STEPS}` }
    yield* this.#notDone(summary)
    yield this.#step("reasoning_complete", { outcome, rounds, calls })
    yield { type: "end", finishReason: this.#finishReason, usage: { inputTokens, outputTokens } }
  }

  /** What of the work was not done, as text and as notes. */
  *#notDone(summary: RunSummary): Generator<ChatStep, void> {
    const said = this.#spoken.told
    const ending = endingOf(summary, said)
    if (ending !== undefined) {
      if (!this.#inForm) yield { type: "text-delta", text: said === "" ? ending : `\n\n${ending}` }
      yield { type: "note", note: { code: summary.outcome, message: ending } }
    }
    for (const { code, message } of summary.notes ?? []) yield { type: "note", note: { code, message } }
  }

  /** Of an answer in a form only the last is one. */
  *#text(text: string): Generator<ChatStep, void> {
    if (text !== "" && !this.#inForm) yield { type: "text-delta", text }
  }

  #step(type: ReasoningEvent["type"], metadata: Record<string, unknown> = {}): ChatStep {
    return { type: "step", event: { type, step_iteration: this.#round, metadata } }
  }
}

/** How a run ended, where it did not end well and the model's words do not say so; a client sees those words alone. */
export function endingOf({ success, outcome, message, notes = [] }: RunSummary, said: string): string | undefined {
  if (success || outcome === "max-rounds" || outcome === "cancelled") return undefined
  if (outcome === "nothing-done" && said.trimEnd().endsWith(message.trim())) return undefined
  const why = outcome === "completed-with-failures" ? notes.map((note) => note.message).join(" ") : message
  return `[${outcome}: ${why}]`
}

/** What the model wants to do next; its words are told as text. */
function planOf({ calls }: Extract<RunEvent, { type: "reply" }>): Record<string, unknown> {
  return { calls: calls.map(({ id, name }) => ({ tool: name, call_id: id })) }
}

function startOf({
  name,
  callId,
  arguments: args,
}: Extract<RunEvent, { type: "tool-start" }>): Record<string, unknown> {
  return { tool: name, call_id: callId, arguments: args }
}

function resultOf({ name, callId, result }: Extract<RunEvent, { type: "tool-end" }>): Record<string, unknown> {
  return {
    tool: name,
    call_id: callId,
    success: result.success,
    duration_ms: result.executionTimeMs,
    ...(result.error === undefined ? {} : { error: result.error.message }),
  }
}
