import type { ToolCall, ToolDefinition, ToolResult } from "@toolwright/toolbox"
import { ABOUT, renderConversation, type ChatMessage, type MediaPart } from "@toolwright/toolformat"
import type { ContextManager, ContextUse } from "./context/manager.ts"
import { overviewOf } from "./context/summary.ts"
import type { DeliveryPlan } from "./delivery.ts"
import { shownOutput } from "./feedback.ts"
import { saidIn, textsOf } from "./grounding.ts"
import { callsInOrder, resultsInOrder, unreadCallsOf, unreadResult, type Reply } from "./reply/reply.ts"

/** Where the whole text of a result goes that the model is shown in part. */
export interface KeptResults {
  keep(callId: string, text: string): void
  /** In words for the model: how the text that stands under a handle is read. */
  howToRead?(handle: string): string
}

/** Under which handle everything that was left out is listed. */
const OVERVIEW = "earlier"

/** A call with what came of it. */
export interface Executed {
  call: ToolCall
  result: ToolResult
}

/** What a conversation begins with. */
export interface ConversationStart {
  system: string
  task: string
  /** Belongs to the task. */
  media?: readonly MediaPart[]
  /** What was said before the task. */
  history?: readonly ChatMessage[]
  /** What was said and done about the task already. */
  since?: readonly ChatMessage[]
  results: KeptResults
}

/**
 * The messages of a run, in neutral form. They are written as a delivery has them (native calls and tool messages, or
 * the family's text) when they are sent. Neither reasoning nor results that a model made up itself are among them.
 */
export class Conversation {
  readonly #messages: ChatMessage[]
  readonly #results: KeptResults
  readonly #said: string[]
  readonly #task: string
  /** Files that calls changed, those changed last at the end. */
  readonly #changed = new Set<string>()
  readonly #written = new WrittenMessages()
  /** Up to which message what was left out can be read again. */
  #recalled = 0
  #use: ContextUse | undefined

  constructor({ system, task, media, history = [], since = [], results }: ConversationStart) {
    const said = ({ role }: ChatMessage): boolean => role !== "system"
    const before = history.filter(said)
    const after = since.filter(said)
    const asked = { role: "user", content: task, ...(media === undefined ? {} : { media }) } as const
    this.#messages = [{ role: "system", content: system }, ...before, asked, ...after]
    this.#results = results
    this.#said = saidIn([...before, ...after])
    this.#task = task
  }

  /**
   * What the user said, tools returned and calls gave to them, as it was before it took a format's form; the task last.
   */
  get said(): readonly string[] {
    return [...this.#said, this.#task]
  }

  /** All messages, in neutral form. A message that stays is the same object. */
  get messages(): readonly ChatMessage[] {
    return this.#messages
  }

  /** Goes on from messages of an earlier process, which begin with the same task. */
  restore(messages: readonly ChatMessage[]): void {
    const given = this.#messages.length
    this.#messages.splice(0, given, ...messages)
    for (const message of messages.slice(given)) {
      if (message.role !== "tool") continue
      const about = message[ABOUT]
      const [executed] = about?.kind === "results" ? about.results : []
      if (executed === undefined) continue
      if (executed.result.output !== message.content) this.#results.keep(message.callId, executed.result.output)
      this.#hear(executed, message.content)
    }
  }

  /**
   * The messages to send: those that the window has room for, as the plan has them written.
   *
   * @param besideTokens what the request holds beside them
   */
  writtenFor(
    { delivery, formatter }: DeliveryPlan,
    context: ContextManager,
    besideTokens: number,
  ): readonly ChatMessage[] {
    const recall = this.#results.howToRead?.(OVERVIEW)
    const messages = context.prepare(this.#messages, {
      task: this.#task,
      changedFiles: [...this.#changed],
      besideTokens,
      ...(recall === undefined ? {} : { recall: `${recall} lists them with the ids of their calls` }),
      report: (use) => (this.#use = use),
    })
    if (recall !== undefined && messages !== this.#messages) this.#keepLeftOut(messages)
    if (delivery === "native") return messages
    return messages === this.#messages
      ? this.#written.of(messages, formatter)
      : renderConversation(formatter, messages, [], PARTS)
  }

  /** What the last request took of the window; undefined where nobody counts. */
  get use(): ContextUse | undefined {
    return this.#use
  }

  /** Results that are not sent any more can be read again, and there is a list of them. */
  #keepLeftOut(sent: readonly ChatMessage[]): void {
    const kept = new Set(sent)
    const gone = this.#messages.findLastIndex((message) => message.role === "tool" && !kept.has(message)) + 1
    if (gone <= this.#recalled) return
    for (const message of this.#messages.slice(this.#recalled, gone)) {
      if (message.role !== "tool" || kept.has(message)) continue
      const about = message[ABOUT]
      const [executed] = about?.kind === "results" ? about.results : []
      this.#results.keep(message.callId, executed?.result.output ?? message.content)
    }
    this.#recalled = gone
    this.#results.keep(OVERVIEW, overviewOf(this.#messages.slice(0, gone)))
  }

  /** The system prompt may change, with the tools that it describes. */
  setSystem(content: string): void {
    if (this.#messages[0]?.content !== content) this.#messages[0] = { role: "system", content }
  }

  addReply({ said, calls: read, problems }: Reply): void {
    const calls = callsInOrder(read, unreadCallsOf(problems))
    const content = calls.length === 0 ? said : said.trimEnd()
    this.#messages.push({ role: "assistant", content, ...(calls.length === 0 ? {} : { toolCalls: calls }) })
  }

  addResults(executed: readonly Executed[], toolOf: (name: string) => ToolDefinition | undefined): void {
    for (const { call, result } of executed) {
      const { text, cut } = shownOutput(result, toolOf(call.name), call.id)
      if (cut) this.#results.keep(call.id, result.output)
      this.#hear({ call, result }, text)
      const { id: callId, name } = call
      const about = { kind: "results", results: [{ call, result }] } as const
      this.#messages.push({
        role: "tool",
        content: text,
        callId,
        name,
        success: result.success,
        [ABOUT]: about,
      })
    }
  }

  #hear({ call, result }: Executed, text: string): void {
    this.#said.push(...textsOf(call.arguments), text)
    for (const file of result.modifiedFiles ?? []) {
      this.#changed.delete(file)
      this.#changed.add(file)
    }
  }

  /** Calls that came from a server and could not be read are answered as those that could, each in its place. */
  addUnread({ problems }: Reply): void {
    const unread = unreadCallsOf(problems).map((each) => ({ call: each.call, result: unreadResult(each) }))
    if (unread.length === 0) return
    this.addResults(unread, () => undefined)
    const at = this.#messages.findLastIndex(({ role }) => role === "assistant")
    const reply = this.#messages[at]
    if (reply?.role !== "assistant") return
    const results = this.#messages.splice(at + 1)
    this.#messages.push(...resultsInOrder(reply.toolCalls ?? [], results))
  }

  /** A note to the model: a nudge, a refusal, guidance. */
  addNote(text: string): void {
    const last = this.#messages.at(-1)
    if (last?.role === "user" && this.#messages.length > 2)
      this.#messages[this.#messages.length - 1] = { ...last, content: `${last.content}\n\n${text}` }
    else this.#messages.push({ role: "user", content: text, [ABOUT]: { kind: "note" } })
  }
}

/** The system prompt has its tools already. */
const PARTS = { tools: false, calls: true, results: true }

/**
 * Messages in a family's text, written once each: from one round to the next only what was added is written. A reply
 * begins a new message in every form, so what stands before one stays as it is.
 */
class WrittenMessages {
  #format = ""
  #system: ChatMessage | undefined
  /** What is written for good, and of how many messages. */
  readonly #written: ChatMessage[] = []
  #count = 0
  /** What was written last, up to which message: it is good when a reply follows. */
  #tail: ChatMessage[] = []
  #end = 0

  of(messages: readonly ChatMessage[], formatter: DeliveryPlan["formatter"]): readonly ChatMessage[] {
    if (formatter.id !== this.#format || messages[0] !== this.#system) {
      this.#format = formatter.id
      this.#system = messages[0]
      this.#written.length = this.#count = this.#end = 0
      this.#tail = []
    }
    if (messages[this.#end]?.role === "assistant") {
      this.#written.push(...this.#tail)
      this.#count = this.#end
    }
    this.#tail = renderConversation(formatter, messages.slice(this.#count), [], PARTS)
    this.#end = messages.length
    return [...this.#written, ...this.#tail]
  }
}
