import { isDeepStrictEqual } from "node:util"
import type { FinishReason } from "@toolwright/backends"
import type { OpenAITool } from "@toolwright/toolformat"
import type { Wire } from "../wire.ts"
import { anthropicMessages } from "../wires/anthropic/wire.ts"
import { ollama } from "../wires/ollama/wire.ts"
import { openAIChat } from "../wires/openai-chat/wire.ts"
import { openAIResponses } from "../wires/responses/wire.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- the answers of four wires are read, each in its form
export type Body = Record<string, any>

/** What a client makes of an answer; `pieces` is the text as it came, `text` what the end says of it, where it does. */
export interface Seen {
  pieces: string
  text: string
  reasoning: string
  calls: { id: string; name: string; arguments: unknown }[]
  finish: string
  /** Tokens of the answer, where they are told. */
  tokens?: number
  notes: { code: string; tool?: string }[]
  /** The answer broke off: what is said of that. */
  failed?: string
}

/** What a client wants, in no wire's words. */
export interface Asked {
  tools: readonly OpenAITool[]
  choice?: "none" | "required" | { named: string } | { allowed: string }
  schema?: object
  stop?: string
}

/** A client of one wire, as strict as any: it takes nothing in another order or form than its own. */
export interface WireClient {
  wire: Wire
  path: string
  /** Whether it can say which tools are to be called, and at which text to stop. */
  chooses: boolean
  stops: boolean
  body(asked: Asked): Body
  reasons: Partial<Record<FinishReason, string>>
  /** Of the text of an answer that came with status 200. */
  read(raw: string, stream: boolean): Seen
  /** What is said of a failure, in a body that has this wire's form. */
  failure(body: Body): string
}

/** Asserts as `toEqual` does, at a hundredth of its cost: answers have many pieces, and the tests many answers. */
function same(given: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(given, wanted)) return
  throw new Error(`${JSON.stringify(given)} in place of ${JSON.stringify(wanted)}`)
}

const user = { role: "user", content: "Weather?" }

/** The frames of an event stream, each whole and nothing between them; comments keep it alive. */
function frames(raw: string): { event: string; data: string }[] {
  same(raw.slice(-2), "\n\n")
  return raw
    .slice(0, -2)
    .split("\n\n")
    .filter((frame) => !frame.startsWith(":"))
    .map((frame) => {
      const found = /^(?:event: (.*)\n)?data: (.*)$/.exec(frame)
      if (found === null) throw new Error(`no frame: ${frame}`)
      return { event: found[1] ?? "", data: found[2]! }
    })
}

const joined = (texts: readonly unknown[]): string => texts.map((text) => text ?? "").join("")
const notesOf = (parts: readonly Body[]): Seen["notes"] => parts.flatMap(({ toolwright }) => toolwright?.notes ?? [])
const oneOf = (list: readonly unknown[]): void => same(new Set(list).size, 1)

function chatFailure({ error }: Body): string {
  same(Object.keys(error), ["message", "type", "param", "code"])
  same([typeof error.message, typeof error.type, typeof error.code], ["string", "string", "string"])
  return String(error.message)
}

function readChat(raw: string, stream: boolean): Seen {
  const texts = stream ? frames(raw).map(({ data }) => data) : [raw]
  if (stream) same(texts.pop(), "[DONE]")
  const parts = texts.map((text) => JSON.parse(text) as Body)
  const notes = notesOf(parts)
  const failed = parts.at(-1)!.error === undefined ? {} : { failed: chatFailure(parts.pop()!) }
  oneOf(parts.map(({ id }) => id))
  oneOf([stream ? "chat.completion.chunk" : "chat.completion", ...parts.map(({ object }) => object)])
  const choices = parts.flatMap((part) => part.choices as Body[])
  const said = choices.map((choice) => (choice.delta ?? choice.message) as Body)
  same(said[0]!.role, "assistant")
  const text = joined(said.map(({ content }) => content))
  const calls = said.flatMap(({ tool_calls: called = [] }) => called as Body[])
  if (stream)
    same(
      calls.map(({ index }) => index),
      calls.map((_, at) => at),
    )
  const reasons = choices.map(({ finish_reason: reason }) => reason)
  if (!("failed" in failed))
    same(
      reasons.filter((one) => one !== null),
      [reasons.at(-1)],
    )
  const usage = parts.at(-1)?.usage
  return {
    pieces: text,
    text,
    reasoning: joined(said.map(({ reasoning_content: thought }) => thought)),
    calls: calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: JSON.parse(args) })),
    finish: joined(reasons),
    ...(usage ? { tokens: usage.completion_tokens } : {}),
    notes,
    ...failed,
  }
}

/** Items begin, grow and end one after the other, each under its own id and number. */
function checkItems(parts: readonly Body[], output: readonly Body[]): void {
  let open: Body | undefined
  let done = 0
  for (const { type, item, item_id: id, output_index: at, delta, text, arguments: args } of parts) {
    if (type === "response.output_item.added") {
      same([open, at], [undefined, done])
      open = { id: item.id, said: "" }
    } else if (type === "response.output_item.done") {
      same([item.id, at], [open?.id, done])
      same(item, output[done++])
      open = undefined
    } else if (id !== undefined) {
      same([id, at], [open?.id, done])
      if (typeof delta === "string") open!.said += delta
      if (type.endsWith(".done") && !type.includes("part")) same(text ?? args ?? open!.said, open!.said)
    }
  }
  same(open, undefined)
  same(done, output.length)
}

/** The events of a stream, each of which says its own name. */
function namedBodies(raw: string): Body[] {
  return frames(raw).map(({ event, data }) => {
    const body = JSON.parse(data) as Body
    same(body.type, event)
    return body
  })
}

function readResponses(raw: string, stream: boolean): Seen {
  const parts = stream ? namedBodies(raw) : [{ response: JSON.parse(raw) as Body } as Body]
  const whole = parts.at(-1)!.response as Body
  const fails = whole.status === "failed"
  if (stream) {
    same(
      parts.map(({ sequence_number: number }) => number),
      parts.map((_, at) => at),
    )
    same(
      parts.slice(0, 2).map(({ type }) => type),
      ["response.created", "response.in_progress"],
    )
    same(parts.at(-1)!.type, `response.${whole.status}`)
    if (!fails) checkItems(parts, whole.output)
  }
  oneOf(parts.flatMap(({ response }) => (response === undefined ? [] : [response.id])))
  const items = whole.output as Body[]
  same(new Set(items.map(({ id }) => id)).size, items.length)
  const contents = items.flatMap(({ type, content }) => (type === "message" ? (content as Body[]) : []))
  const thoughts = items.flatMap(({ type, summary }) => (type === "reasoning" ? (summary as Body[]) : []))
  const deltas = (type: string) => joined(parts.filter((part) => part.type === type).map(({ delta }) => delta))
  const text = joined(contents.map((part) => part.text))
  const said = stream ? deltas("response.output_text.delta") : text
  const calls = items.filter(({ type }) => type === "function_call")
  return {
    pieces: said,
    text: fails ? said : text,
    reasoning: fails ? deltas("response.reasoning_summary_text.delta") : joined(thoughts.map((part) => part.text)),
    calls: calls.map(({ call_id: id, name, arguments: args }) => ({ id, name, arguments: JSON.parse(args) })),
    finish: whole.incomplete_details?.reason ?? whole.status,
    ...(whole.usage ? { tokens: whole.usage.output_tokens } : {}),
    notes: whole.toolwright?.notes ?? [],
    ...(fails ? { failed: String(whole.error.message) } : {}),
  }
}

function anthropicFailure({ type, error }: Body): string {
  same([type, typeof error.type], ["error", "string"])
  return String(error.message)
}

/** The blocks of a streamed message, each whole before the next one begins. */
function blocksOf(parts: readonly Body[]): Body[] {
  const blocks: Body[] = []
  let open = 0
  for (const { type, index, content_block: block, delta } of parts) {
    if (type === "content_block_start") {
      same([index, open++], [blocks.length, 0])
      blocks.push({ ...block })
    } else if (type.startsWith("content_block")) same([index, open], [blocks.length - 1, 1])
    if (type === "content_block_stop") open--
    if (type === "message_delta") same(open, 0)
    if (delta?.type === "text_delta") blocks.at(-1)!.text += delta.text
    if (delta?.type === "thinking_delta") blocks.at(-1)!.thinking += delta.thinking
    if (delta?.type === "input_json_delta") blocks.at(-1)!.input = JSON.parse(delta.partial_json)
  }
  return blocks
}

function readMessages(raw: string, stream: boolean): Seen {
  const parts = stream ? namedBodies(raw) : [JSON.parse(raw) as Body]
  const notes = notesOf(parts)
  const failed = parts.at(-1)!.type === "error" ? { failed: anthropicFailure(parts.pop()!) } : {}
  if (stream) {
    same(parts[0]!.type, "message_start")
    const ends = parts.slice("failed" in failed ? parts.length : -2).map(({ type }) => type)
    same(ends, "failed" in failed ? [] : ["message_delta", "message_stop"])
    same(parts.filter(({ type }) => type === "message_start").length, 1)
  }
  const blocks: Body[] = stream ? blocksOf(parts) : parts[0]!.content
  const text = joined(blocks.map((block) => block.text))
  const usage = parts.findLast((part) => part.usage !== undefined)?.usage
  return {
    pieces: text,
    text,
    reasoning: joined(blocks.map((block) => block.thinking)),
    calls: blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id, name, arguments: input })),
    finish: joined(parts.map((part) => part.stop_reason ?? part.delta?.stop_reason)),
    ...(usage ? { tokens: usage.output_tokens } : {}),
    notes,
    ...failed,
  }
}

function ollamaFailure(body: Body): string {
  same([Object.keys(body).filter((name) => name !== "toolwright"), typeof body.error], [["error"], "string"])
  return String(body.error)
}

function readOllama(raw: string, stream: boolean): Seen {
  if (stream) same(raw.at(-1), "\n")
  const lines = stream ? raw.slice(0, -1).split("\n") : [raw]
  const parts = lines.map((line) => JSON.parse(line) as Body)
  const notes = notesOf(parts)
  const failed = "error" in parts.at(-1)! ? { failed: ollamaFailure(parts.pop()!) } : {}
  const ends = parts.map(({ done }) => done)
  same(
    ends,
    parts.map((_, at) => at === parts.length - 1 && !("failed" in failed)),
  )
  const text = joined(parts.map(({ message }) => message.content))
  const calls = parts.flatMap(({ message }) => (message.tool_calls ?? []) as Body[])
  return {
    pieces: text,
    text,
    reasoning: joined(parts.map(({ message }) => message.thinking)),
    calls: calls.map(({ id, function: { name, arguments: args } }) => ({ id, name, arguments: args })),
    finish: joined(parts.map(({ done_reason: reason }) => reason)),
    ...("failed" in failed ? {} : { tokens: parts.at(-1)!.eval_count }),
    notes,
    ...failed,
  }
}

function choiceOf(choice: Asked["choice"], flat: boolean): Body {
  if (choice === undefined) return {}
  if (typeof choice === "string") return { tool_choice: choice }
  const tool = (name: string): Body => ({ type: "function", ...(flat ? { name } : { function: { name } }) })
  if ("named" in choice) return { tool_choice: tool(choice.named) }
  const allowed = { mode: "auto", tools: [tool(choice.allowed)] }
  return { tool_choice: { type: "allowed_tools", ...(flat ? allowed : { allowed_tools: allowed }) } }
}

function anthropicChoice(choice: Asked["choice"]): Body {
  if (choice === undefined || (typeof choice === "object" && "allowed" in choice)) return {}
  if (typeof choice === "object") return { tool_choice: { type: "tool", name: choice.named } }
  return { tool_choice: { type: choice === "required" ? "any" : choice } }
}

export const WIRES: Readonly<Record<"Chat" | "Responses" | "Messages" | "Ollama", WireClient>> = {
  Chat: {
    wire: openAIChat,
    path: "/v1/chat/completions",
    chooses: true,
    stops: true,
    body: ({ tools, choice, schema, stop }) => ({
      messages: [user],
      tools,
      stream_options: { include_usage: true },
      ...choiceOf(choice, false),
      ...(schema ? { response_format: { type: "json_schema", json_schema: { name: "reply", schema } } } : {}),
      ...(stop === undefined ? {} : { stop: [stop] }),
    }),
    reasons: { length: "length", "tool-calls": "tool_calls", stop: "stop" },
    read: readChat,
    failure: chatFailure,
  },
  Responses: {
    wire: openAIResponses(),
    path: "/v1/responses",
    chooses: true,
    stops: false,
    body: ({ tools, choice, schema }) => ({
      input: [user],
      tools: tools.map(({ function: one }) => ({ type: "function", ...one })),
      ...choiceOf(choice, true),
      ...(schema ? { text: { format: { type: "json_schema", name: "reply", schema } } } : {}),
    }),
    reasons: { length: "max_output_tokens", "tool-calls": "completed", stop: "completed" },
    read: readResponses,
    failure: chatFailure,
  },
  Messages: {
    wire: anthropicMessages,
    path: "/v1/messages",
    chooses: true,
    stops: true,
    body: ({ tools, choice, schema, stop }) => ({
      max_tokens: 5000,
      messages: [user],
      thinking: { type: "enabled", budget_tokens: 1024 },
      tools: tools.map(({ function: { parameters: input_schema, ...one } }) => ({ ...one, input_schema })),
      ...anthropicChoice(choice),
      ...(schema ? { output_config: { format: { type: "json_schema", schema } } } : {}),
      ...(stop === undefined ? {} : { stop_sequences: [stop] }),
    }),
    reasons: { length: "max_tokens", "tool-calls": "tool_use", stop: "end_turn" },
    read: readMessages,
    failure: anthropicFailure,
  },
  Ollama: {
    wire: ollama,
    path: "/api/chat",
    chooses: false,
    stops: true,
    body: ({ tools, schema, stop }) => ({
      messages: [user],
      tools,
      ...(schema ? { format: schema } : {}),
      ...(stop === undefined ? {} : { options: { stop: [stop] } }),
    }),
    reasons: { length: "length", "tool-calls": "stop", stop: "stop" },
    read: readOllama,
    failure: ollamaFailure,
  },
}
