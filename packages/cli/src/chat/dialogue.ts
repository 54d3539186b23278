import type { RunEvent } from "@toolwright/toolbox"
import type { ChatMessage, MediaPart } from "@toolwright/toolformat"

/** Characters of a result that later turns still see. */
const KEPT_CHARS = 1000

/**
 * What has been said, over the turns of a conversation, as the history of the next one. A round counts once its calls
 * have their results, so that a turn cut short leaves no call unanswered.
 */
export class Dialogue {
  readonly #messages: ChatMessage[] = []
  #turn = 0
  #round: ChatMessage[] = []
  #unanswered = new Set<string>()

  get messages(): readonly ChatMessage[] {
    return this.#messages
  }

  begin(request: string, media: readonly MediaPart[] = []): void {
    this.#turn++
    this.#round = [{ role: "user", content: request, ...(media.length === 0 ? {} : { media }) }]
    this.#unanswered.clear()
  }

  see(event: RunEvent): void {
    switch (event.type) {
      case "reply": {
        const toolCalls = event.calls.map((call) => ({ ...call, id: this.#idOf(call.id) }))
        for (const { id } of toolCalls) this.#unanswered.add(id)
        this.#round.push({
          role: "assistant",
          content: event.content,
          ...(toolCalls.length === 0 ? {} : { toolCalls }),
        })
        break
      }
      case "tool-end": {
        const { name, result } = event
        const callId = this.#idOf(event.callId)
        this.#unanswered.delete(callId)
        this.#round.push({
          role: "tool",
          content: cut(result.output),
          callId,
          name: name,
          success: result.success,
        })
        break
      }
      case "nudge":
      case "completion-refused":
        this.#round.push({ role: "user", content: event.text })
        break
      case "round-end":
        if (this.#unanswered.size === 0) this.#messages.push(...this.#round)
        this.#round = []
    }
  }

  clear(): void {
    this.#messages.length = 0
  }

  /** Ids are unique in a run; here they have to be over all of them. */
  #idOf(callId: string): string {
    return `t${this.#turn}_${callId}`
  }
}

function cut(text: string): string {
  return text.length <= KEPT_CHARS ? text : `${text.slice(0, KEPT_CHARS)}\n[shortened]`
}
