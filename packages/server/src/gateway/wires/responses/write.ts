import type { FinishReason, Usage } from "@toolwright/backends"
import type { AnswerNote } from "@toolwright/dialogue"
import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { GatewayEvent, GatewayFailure, ReplyHead, StreamWriter, WholeReply } from "../../wire.ts"
import { usageOr } from "../estimate.ts"
import type { ReadResponse } from "./read.ts"
import type { OfferedTools } from "./tools.ts"

/** What an answer is written from, beside its events. */
export interface ResponseReply extends ReadResponse {
  /** The fields of the request that an answer repeats. */
  fields: JsonObject
  /** Hears of the finished answer. */
  keep(response: JsonObject, output: readonly JsonObject[]): void
}

type ItemType = "message" | "reasoning"
/** A text that was cut off is not whole. */
type ItemStatus = "completed" | "incomplete"

/** The events of a streamed response. */
export function responseStream(head: ReplyHead, about: ResponseReply): StreamWriter {
  const writer = new EventWriter(head, about)
  return {
    contentType: "text/event-stream",
    begin: () => writer.begin(),
    event: (event) => writer.write(event),
    alive: () => ": the model is at work\n\n",
    fail: (failure) => writer.fail(failure),
  }
}

class EventWriter {
  readonly #head: ReplyHead
  readonly #about: ResponseReply
  readonly #output: JsonObject[] = []
  readonly #notes: AnswerNote[] = []
  #open: { type: ItemType; id: string; text: string } | undefined
  #sequence = 0
  #written = 0

  constructor(head: ReplyHead, about: ResponseReply) {
    this.#head = head
    this.#about = about
  }

  begin(): string {
    const response = { ...headOf(this.#head, this.#about), status: "in_progress", output: [], usage: null }
    return this.#frame("response.created", { response }) + this.#frame("response.in_progress", { response })
  }

  write(event: GatewayEvent): string {
    switch (event.type) {
      case "text-delta":
        return this.#say("message", event.text)
      case "reasoning-delta":
        return this.#say("reasoning", event.text)
      case "call":
        return this.#call(event.call)
      case "note":
        this.#notes.push(event.note)
        return ""
      case "end":
        return this.#end(event.finishReason, event.usage)
      default:
        return ""
    }
  }

  fail({ code, message }: GatewayFailure): string {
    const error = { code: wireCode(code), message }
    const said = { output: this.#output, ...noted(this.#notes) }
    const response = { ...headOf(this.#head, this.#about), status: "failed", error, ...said }
    return this.#frame("error", { code, message, param: null }) + this.#frame("response.failed", { response })
  }

  #frame(type: string, body: JsonObject): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...body })}\n\n`
  }

  /** An event about the item that is open. */
  #inOpen(type: string, body: JsonObject): string {
    const place = this.#open!.type === "message" ? { content_index: 0 } : { summary_index: 0 }
    const item = { item_id: this.#open!.id, output_index: this.#output.length }
    return this.#frame(`response.${type}`, { ...item, ...place, ...body })
  }

  #beginItem(type: ItemType): string {
    const id = newId(type === "message" ? "msg" : "rs")
    this.#open = { type, id, text: "" }
    const item =
      type === "message"
        ? { id, type, status: "in_progress", role: "assistant", content: [] }
        : { id, type, summary: [] }
    const added = this.#frame("response.output_item.added", { output_index: this.#output.length, item })
    return type === "message"
      ? added + this.#inOpen("content_part.added", { part: textPart("") })
      : added + this.#inOpen("reasoning_summary_part.added", { part: { type: "summary_text", text: "" } })
  }

  #close(status: ItemStatus = "completed"): string {
    if (this.#open === undefined) return ""
    const { type, id, text } = this.#open
    const inner =
      type === "message"
        ? this.#inOpen("output_text.done", { text, logprobs: [] }) +
          this.#inOpen("content_part.done", { part: textPart(text) })
        : this.#inOpen("reasoning_summary_text.done", { text }) +
          this.#inOpen("reasoning_summary_part.done", { part: { type: "summary_text", text } })
    const item = type === "message" ? messageItem(id, text, status) : reasoningItem(id, text)
    const done = this.#frame("response.output_item.done", { output_index: this.#output.length, item })
    this.#output.push(item)
    this.#open = undefined
    return inner + done
  }

  #say(type: ItemType, text: string): string {
    const before = this.#open?.type === type ? "" : this.#close() + this.#beginItem(type)
    this.#open!.text += text
    this.#written += text.length
    const delta = type === "message" ? "output_text.delta" : "reasoning_summary_text.delta"
    return before + this.#inOpen(delta, type === "message" ? { delta: text, logprobs: [] } : { delta: text })
  }

  #call(given: ToolCall): string {
    const before = this.#close()
    const item = callItem(given, this.#about.offered)
    const custom = item.type === "custom_tool_call"
    const [field, kind] = custom ? ["input", "custom_tool_call_input"] : ["arguments", "function_call_arguments"]
    const text = String(item[field])
    this.#written += text.length
    const at = { output_index: this.#output.length }
    const place = { item_id: item.id, ...at }
    const begun = { ...item, [field]: "", status: "in_progress" }
    const texts = [
      before,
      this.#frame("response.output_item.added", { ...at, item: begun }),
      this.#frame(`response.${kind}.delta`, { ...place, delta: text }),
      this.#frame(`response.${kind}.done`, { ...place, [field]: text, ...(custom ? {} : { name: item.name }) }),
      this.#frame("response.output_item.done", { ...at, item }),
    ]
    this.#output.push(item)
    return texts.join("")
  }

  #end(finishReason: FinishReason, given: Usage | undefined): string {
    const closed = this.#close(cutBy(finishReason) === undefined ? "completed" : "incomplete")
    const usage = usageOr(given, this.#about.request, this.#written)
    const ended = { output: this.#output, finishReason, usage, notes: this.#notes }
    const response = responseOf(this.#head, this.#about, ended)
    this.#about.keep(response, this.#output)
    const type = response.status === "completed" ? "response.completed" : "response.incomplete"
    return closed + this.#frame(type, { response })
  }
}

/** The same as one body. */
export function wholeResponse(head: ReplyHead, reply: WholeReply, about: ResponseReply): JsonObject {
  const { text, reasoning, calls, notes, finishReason, usage } = reply
  const status = cutBy(finishReason) !== undefined && calls.length === 0 ? "incomplete" : "completed"
  const output = [
    ...(reasoning === "" ? [] : [reasoningItem(newId("rs"), reasoning)]),
    ...(text === "" ? [] : [messageItem(newId("msg"), text, status)]),
    ...calls.map((call) => callItem(call, about.offered)),
  ]
  const written = text.length + reasoning.length + JSON.stringify(calls).length
  const counted = usageOr(usage, about.request, written)
  const response = responseOf(head, about, { output, finishReason, usage: counted, notes })
  about.keep(response, output)
  return response
}

export function responseFailure({ status, code, message, param }: GatewayFailure): JsonObject {
  const type = status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error"
  return { error: { message, type, param: param ?? null, code } }
}

/** Codes that clients act on. */
function wireCode(code: string): string {
  return code === "MODEL_RATE_LIMITED"
    ? "rate_limit_exceeded"
    : code === "CONTEXT_EXCEEDED"
      ? "context_length_exceeded"
      : code
}

interface Ended {
  output: readonly JsonObject[]
  finishReason: FinishReason
  usage: Usage
  notes: readonly AnswerNote[]
}

function responseOf(head: ReplyHead, about: ResponseReply, { output, finishReason, usage, notes }: Ended): JsonObject {
  const cut = cutBy(finishReason)
  return {
    ...headOf(head, about),
    status: cut === undefined ? "completed" : "incomplete",
    incomplete_details: cut === undefined ? null : { reason: cut },
    output: [...output],
    usage: {
      input_tokens: usage.inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: usage.outputTokens,
      output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
    ...noted(notes),
  }
}

/** Why an answer is not whole. */
function cutBy(finishReason: FinishReason): string | undefined {
  if (finishReason === "length") return "max_output_tokens"
  return finishReason === "content-filter" ? "content_filter" : undefined
}

function headOf({ id, model, created }: ReplyHead, { fields }: ResponseReply): JsonObject {
  return {
    id: `resp_${id.replaceAll("-", "")}`,
    object: "response",
    created_at: created,
    model,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: fields.max_tool_calls ?? null,
    metadata: fields.metadata ?? {},
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: fields.previous_response_id ?? null,
    reasoning: fields.reasoning ?? { effort: null, summary: null },
    store: fields.store ?? true,
    temperature: fields.temperature ?? null,
    text: fields.text ?? { format: { type: "text" } },
    tool_choice: fields.tool_choice ?? "auto",
    tools: fields.tools ?? [],
    top_p: fields.top_p ?? null,
    truncation: "disabled",
  }
}

function noted(notes: readonly AnswerNote[]): JsonObject {
  return notes.length === 0 ? {} : { toolwright: { notes: [...notes] } }
}

function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`
}

function textPart(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] }
}

function messageItem(id: string, text: string, status: ItemStatus): JsonObject {
  return { id, type: "message", status, role: "assistant", content: [textPart(text)] }
}

function reasoningItem(id: string, text: string): JsonObject {
  return { id, type: "reasoning", summary: [{ type: "summary_text", text }] }
}

/** The input of a custom tool is the one text in its arguments. */
function callItem({ id, name: told, arguments: args }: ToolCall, offered: OfferedTools): JsonObject {
  const call = { call_id: id, ...offered.clientName(told), status: "completed" }
  if (offered.isCustom(told))
    return { id: newId("ctc"), type: "custom_tool_call", ...call, input: String(args.input ?? "") }
  return { id: newId("fc"), type: "function_call", ...call, arguments: JSON.stringify(args) }
}
