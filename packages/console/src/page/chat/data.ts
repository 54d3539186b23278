import { get, request, stream } from "../lib/api.ts"

export interface ConversationHead {
  id: string
  title: string
  created_at: string
  updated_at: string
}

/** A message as conversations are kept. */
export type KeptMessage =
  | { role: "system" | "user"; content: string }
  | {
      role: "assistant"
      content: string
      reasoning?: string
      toolCalls?: { id: string; name: string; arguments: unknown }[]
    }
  | { role: "tool"; content: string; callId: string; name: string; success: boolean }

export interface Conversation extends ConversationHead {
  messages: KeptMessage[]
}

/** A part of an answer, in the order in which it came. */
export type Part = { kind: "text"; text: string } | { kind: "reasoning"; text: string } | CallPart

export interface CallPart {
  kind: "call"
  id: string
  name: string
  args: string
  success?: boolean
  output?: string
  code?: string
}

/** Something that was said. */
export interface Said {
  by: "person" | "model"
  parts: Part[]
  /** The run in which it was answered. */
  run?: string
  /** Why it broke off, or what is to be known of its end. */
  problem?: { code: string; message: string; hint?: string }
}

export const conversation = (id: string, signal: AbortSignal): Promise<Conversation> =>
  get(`conversations/${encodeURIComponent(id)}`, signal)

export async function remove(id: string): Promise<void> {
  await request(`conversations/${encodeURIComponent(id)}`, { method: "DELETE" })
}

/** Kept messages as they are shown: replies with their calls, and each call with its result. */
export function saidIn(messages: readonly KeptMessage[]): Said[] {
  const said: Said[] = []
  const calls = new Map<string, CallPart>()
  for (const message of messages) {
    if (message.role === "user") said.push({ by: "person", parts: [{ kind: "text", text: message.content }] })
    else if (message.role === "assistant") {
      const last = said.at(-1)
      const turn: Said = last?.by === "model" ? last : { by: "model", parts: [] }
      if (turn !== last) said.push(turn)
      if (message.content !== "") turn.parts.push({ kind: "text", text: message.content })
      for (const { id, name, arguments: args } of message.toolCalls ?? []) {
        const part = { kind: "call" as const, id, name, args: JSON.stringify(args) }
        calls.set(id, part)
        turn.parts.push(part)
      }
    } else if (message.role === "tool") {
      const call = calls.get(message.callId)
      if (call !== undefined) Object.assign(call, { success: message.success, output: message.content })
    }
  }
  return said
}

/** Puts a message, and calls back with each change of the answer until it is whole. */
export async function ask(
  id: string,
  message: string,
  { signal, changed }: { signal: AbortSignal; changed: (answer: Said) => void },
): Promise<void> {
  let answer: Said = { by: "model", parts: [] }
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message, stream: "events" }),
    signal,
  }
  for await (const { event, data } of stream(`conversations/${encodeURIComponent(id)}/chat`, init)) {
    answer = withEvent(answer, event, JSON.parse(data) as Record<string, unknown>)
    changed(answer)
  }
}

/** An answer with one more thing that happened; the one before stays as it was. */
export function withEvent(answer: Said, event: string, data: Record<string, unknown>): Said {
  const { parts } = answer
  switch (event) {
    case "run":
      return { ...answer, run: String(data.run) }
    case "text":
    case "reasoning": {
      const last = parts.at(-1)
      const text = String(data.text)
      if (last?.kind === event)
        return { ...answer, parts: [...parts.slice(0, -1), { kind: event, text: last.text + text }] }
      return { ...answer, parts: [...parts, { kind: event, text }] }
    }
    case "call": {
      const { id, name, arguments: args } = data
      return {
        ...answer,
        parts: [...parts, { kind: "call", id: String(id), name: String(name), args: JSON.stringify(args) }],
      }
    }
    case "result":
      return { ...answer, parts: parts.map((part) => withResult(part, data)) }
    case "problem": {
      const { code, message, hint } = data
      const more = typeof hint === "string" ? { hint } : {}
      return { ...answer, problem: { code: String(code), message: String(message), ...more } }
    }
    case "end":
      return data.outcome === "completed" || parts.length === 0
        ? withMessage(answer, data)
        : { ...answer, problem: { code: String(data.outcome), message: String(data.message) } }
    default:
      return answer
  }
}

function withResult(part: Part, { id, success, output, code }: Record<string, unknown>): Part {
  if (part.kind !== "call" || part.id !== id || part.success !== undefined) return part
  return {
    ...part,
    success: success === true,
    output: String(output),
    ...(typeof code === "string" ? { code } : {}),
  }
}

/** An answer that came without any piece of text, as of a model that is not streamed. */
function withMessage(answer: Said, { message }: Record<string, unknown>): Said {
  const isThere = answer.parts.some(({ kind }) => kind === "text")
  if (isThere || typeof message !== "string" || message === "") return answer
  return { ...answer, parts: [...answer.parts, { kind: "text", text: message }] }
}
