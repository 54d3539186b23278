import type { ToolCall, ToolDefinition, ToolResult } from "@toolwright/toolbox"
import { renderConversation, type ChatMessage, type ToolFormatter } from "@toolwright/toolformat"
import { shownOutput } from "./feedback.ts"
import type { Delivery } from "./delivery.ts"
import { saidIn, textsOf } from "./grounding.ts"
import type { Reply } from "./reply.ts"

/** Where the whole text of a result goes that the model is shown in part. */
export interface KeptResults {
  keep(callId: string, text: string): void
}

/** A call with what came of it. */
export interface Executed {
  call: ToolCall
  result: ToolResult
}

/**
 * The messages of a run. Replies and results stand in it as the model's own format has them: as native calls and tool
 * messages, or as the text that the model wrote and the family's form of a result. Reasoning is not sent back.
 */
export class Conversation {
  readonly #messages: ChatMessage[]
  readonly #results: KeptResults
  readonly #said: string[]
  readonly #task: string
  #delivery: Delivery
  #formatter: ToolFormatter

  constructor(
    system: string,
    task: string,
    history: readonly ChatMessage[],
    results: KeptResults,
    form: { delivery: Delivery; formatter: ToolFormatter },
  ) {
    const before = history.filter(({ role }) => role !== "system")
    const told =
      form.delivery === "native"
        ? before
        : renderConversation(form.formatter, before, [], { tools: false, calls: true, results: true })
    this.#messages = [{ role: "system", content: system }, ...told, { role: "user", content: task }]
    this.#results = results
    this.#said = saidIn(before)
    this.#task = task
    this.#delivery = form.delivery
    this.#formatter = form.formatter
  }

  /**
   * What the user said, tools returned and calls gave to them, as it was before it took a format's form; the task last.
   */
  get said(): readonly string[] {
    return [...this.#said, this.#task]
  }

  get messages(): readonly ChatMessage[] {
    return this.#messages
  }

  /** The system prompt may change, with the tools that it describes. */
  setSystem(content: string): void {
    this.#messages[0] = { role: "system", content }
  }

  /** From here on replies and results are written in another form; what stands there stays. */
  useForm(form: { delivery: Delivery; formatter: ToolFormatter }): void {
    this.#delivery = form.delivery
    this.#formatter = form.formatter
  }

  addReply(reply: Reply): void {
    if (this.#delivery === "native") {
      const calls = reply.calls.length === 0 ? {} : { toolCalls: reply.calls }
      this.#messages.push({ role: "assistant", content: reply.content, ...calls })
    } else {
      this.#messages.push({ role: "assistant", content: reply.raw })
    }
  }

  addResults(executed: readonly Executed[], toolOf: (name: string) => ToolDefinition | undefined): void {
    const texts: string[] = []
    for (const { call, result } of executed) {
      const { text, cut } = shownOutput(result, toolOf(call.name), call.id)
      if (cut) this.#results.keep(call.id, result.output)
      this.#said.push(...textsOf(call.args), text)
      if (this.#delivery === "native") {
        this.#messages.push({
          role: "tool",
          content: text,
          toolCallId: call.id,
          toolName: call.name,
          success: result.success,
        })
      } else {
        texts.push(this.#formatter.formatToolResult(call, { ...result, output: text }))
      }
    }
    if (texts.length > 0) this.#messages.push({ role: "user", content: texts.join("\n") })
  }

  /** A note to the model: a nudge, a refusal, guidance. */
  addNote(text: string): void {
    const last = this.#messages.at(-1)
    if (last?.role === "user" && this.#messages.length > 2)
      this.#messages[this.#messages.length - 1] = { ...last, content: `${last.content}\n\n${text}` }
    else this.#messages.push({ role: "user", content: text })
  }
}
