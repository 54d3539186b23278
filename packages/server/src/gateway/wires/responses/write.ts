import type { FinishReason, Usage } from "@toolwright/backends"
import type { AnswerNote } from "@toolwright/dialogue"
import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { GatewayEvent, GatewayFailure, ReplyHead, StreamWriter, WholeReply } from "../../wire.ts"
import { usageOr } from "../estimate.ts"
import type { ReadResponse } from "./read.ts"

/** What an answer is written from, beside its events. */
export interface ResponseReply extends ReadResponse {
  /** The fields of the request that an answer repeats. */
  fields: JsonObject
  /** Hears of the finished answer. */
  keep(id: string, output: readonly JsonObject[]): void
}

type ItemType = "message" | "reasoning"

/** The events of a streamed response. */
export function responseStream(head: ReplyHead, about: ResponseReply): StreamWriter {
  const output: JsonObject[] = []
  const notes: AnswerNote[] = []
  let open: { type: ItemType; id: string; text: string } | undefined
  let sequence = 0
  let written = 0

  const frame = (type: string, body: JsonObject): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...body })}\n\n`

  /** An event about the item that is open. */
  const inOpen = (type: string, body: JsonObject): string => {
    const place = open!.type === "message" ? { content_index: 0 } : { summary_index: 0 }
    return frame(`response.${type}`, { item_id: open!.id, output_index: output.length, ...place, ...body })
  }

  function begin(type: ItemType): string {
    open = { type, id: newId(type === "message" ? "msg" : "rs"), text: "" }
    const item =
      type === "message"
        ? { id: open.id, type, status: "in_progress", role: "assistant", content: [] }
        : { id: open.id, type, summary: [] }
    const added = frame("response.output_item.added", { output_index: output.length, item })
    return type === "message"
      ? added + inOpen("content_part.added", { part: textPart("") })
      : added + inOpen("reasoning_summary_part.added", { part: { type: "summary_text", text: "" } })
  }

  function close(): string {
    if (open === undefined) return ""
    const { type, id, text } = open
    const inner =
      type === "message"
        ? inOpen("output_text.done", { text, logprobs: [] }) + inOpen("content_part.done", { part: textPart(text) })
        : inOpen("reasoning_summary_text.done", { text }) +
          inOpen("reasoning_summary_part.done", { part: { type: "summary_text", text } })
    const item = type === "message" ? messageItem(id, text) : reasoningItem(id, text)
    const done = frame("response.output_item.done", { output_index: output.length, item })
    output.push(item)
    open = undefined
    return inner + done
  }

  function say(type: ItemType, text: string): string {
    const before = open?.type === type ? "" : close() + begin(type)
    open!.text += text
    written += text.length
    const delta = type === "message" ? "output_text.delta" : "reasoning_summary_text.delta"
    return before + inOpen(delta, type === "message" ? { delta: text, logprobs: [] } : { delta: text })
  }

  function call(given: ToolCall): string {
    const before = close()
    const item = callItem(given, about.custom)
    const custom = item.type === "custom_tool_call"
    const [field, kind] = custom ? ["input", "custom_tool_call_input"] : ["arguments", "function_call_arguments"]
    const text = String(item[field])
    written += text.length
    const place = { item_id: item.id, output_index: output.length }
    const begun = { ...item, [field]: "", status: "in_progress" }
    const texts = [
      before,
      frame("response.output_item.added", { output_index: output.length, item: begun }),
      frame(`response.${kind}.delta`, { ...place, delta: text }),
      frame(`response.${kind}.done`, { ...place, [field]: text, ...(custom ? {} : { name: item.name }) }),
      frame("response.output_item.done", { output_index: output.length, item }),
    ]
    output.push(item)
    return texts.join("")
  }

  function write(event: GatewayEvent): string {
    switch (event.type) {
      case "text-delta":
        return say("message", event.text)
      case "reasoning-delta":
        return say("reasoning", event.text)
      case "call":
        return call(event.call)
      case "note":
        notes.push(event.note)
        return ""
      case "end": {
        const closed = close()
        const usage = usageOr(event.usage, about.request, written)
        const response = responseOf(head, about, { output, finishReason: event.finishReason, usage, notes })
        about.keep(String(response.id), output)
        return (
          closed + frame(response.status === "completed" ? "response.completed" : "response.incomplete", { response })
        )
      }
      default:
        return ""
    }
  }

  return {
    contentType: "text/event-stream",
    begin: () => {
      const response = { ...headOf(head, about), status: "in_progress", output: [], usage: null }
      return frame("response.created", { response }) + frame("response.in_progress", { response })
    },
    event: write,
    alive: () => ": the model is at work\n\n",
    fail: ({ code, message }) => {
      const response = { ...headOf(head, about), status: "failed", error: { code: wireCode(code), message }, output }
      return frame("error", { code, message, param: null }) + frame("response.failed", { response })
    },
  }
}

/** The same as one body. */
export function wholeResponse(head: ReplyHead, reply: WholeReply, about: ResponseReply): JsonObject {
  const { text, reasoning, calls, notes, finishReason, usage } = reply
  const output = [
    ...(reasoning === "" ? [] : [reasoningItem(newId("rs"), reasoning)]),
    ...(text === "" ? [] : [messageItem(newId("msg"), text)]),
    ...calls.map((call) => callItem(call, about.custom)),
  ]
  const written = text.length + reasoning.length + JSON.stringify(calls).length
  const counted = usageOr(usage, about.request, written)
  const response = responseOf(head, about, { output, finishReason, usage: counted, notes })
  about.keep(String(response.id), output)
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
  const cut =
    finishReason === "length" ? "max_output_tokens" : finishReason === "content-filter" ? "content_filter" : undefined
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
    ...(notes.length === 0 ? {} : { toolwright: { notes: [...notes] } }),
  }
}

function headOf({ id, model, created }: ReplyHead, { fields }: ResponseReply): JsonObject {
  return {
    id: `resp_${id.replaceAll("-", "")}`,
    object: "response",
    created_at: created,
    model,
    error: null,
    incomplete_details: null,
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
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

function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`
}

function textPart(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] }
}

function messageItem(id: string, text: string): JsonObject {
  return { id, type: "message", status: "completed", role: "assistant", content: [textPart(text)] }
}

function reasoningItem(id: string, text: string): JsonObject {
  return { id, type: "reasoning", summary: [{ type: "summary_text", text }] }
}

/** The input of a custom tool is the one text in its arguments. */
function callItem({ id, name, arguments: args }: ToolCall, custom: ReadonlySet<string>): JsonObject {
  const call = { call_id: id, name, status: "completed" }
  if (custom.has(name)) return { id: newId("ctc"), type: "custom_tool_call", ...call, input: String(args.input ?? "") }
  return { id: newId("fc"), type: "function_call", ...call, arguments: JSON.stringify(args) }
}
