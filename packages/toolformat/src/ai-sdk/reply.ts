import { checkArguments, type ToolCall, type ToolDefinition } from "@toolwright/toolbox"
import type { ParseEvent, ParseProblem, ToolCallParser } from "../model/formatter.ts"
import type { ContentPart, StreamPart } from "./types.ts"

/** What a call's text becomes for the AI SDK. */
export interface ReplySettings {
  parser: ToolCallParser
  /** Calls are held against these, and arguments of another type put right, as where tools are run here. */
  tools: readonly ToolDefinition[]
  /** Ids that the conversation has already. */
  taken: Set<string>
  onProblem: ((problem: ParseProblem) => void) | undefined
}

/** The content of a whole answer, its text parsed; parts of other kinds stay where they are. */
export async function readContent(
  content: readonly ContentPart[],
  settings: ReplySettings,
): Promise<{ content: ContentPart[]; hasCalls: boolean }> {
  const writer = createPartWriter(settings)
  const parts: ContentPart[] = []
  let open: { type: "text" | "reasoning"; text: string } | undefined
  const written = new Set<ContentPart>()
  const add = (streamed: readonly StreamPart[]): void => {
    for (const part of streamed) {
      if (part.type === "text-start" || part.type === "reasoning-start") {
        open = { type: part.type === "text-start" ? "text" : "reasoning", text: "" }
        parts.push(open)
        written.add(open)
      } else if ((part.type === "text-delta" || part.type === "reasoning-delta") && open !== undefined)
        open.text += part.delta ?? ""
      else if (part.type === WAS_REASONING) {
        for (const each of written) if (each.type === "text") each.type = "reasoning"
      } else if (part.type === "tool-call") parts.push(part as ContentPart)
    }
  }
  for (const part of content) {
    if (part.type === "text") add(await writer.push(part.text ?? ""))
    else parts.push(part)
  }
  add(await writer.end())
  return { content: parts, hasCalls: writer.hasCalls() }
}

/** The stream of an answer, its text parsed. */
export function readStream(settings: ReplySettings): TransformStream<unknown, unknown> {
  const writer = createPartWriter(settings)
  let isDone = false
  return new TransformStream<unknown, unknown>({
    async transform(chunk, controller) {
      const part = chunk as StreamPart
      const send = (parts: readonly StreamPart[]): void => {
        for (const each of parts) if (each.type !== WAS_REASONING) controller.enqueue(each)
      }
      if (part.type === "text-start" || part.type === "text-end") return
      if (part.type === "text-delta") send(await writer.push(part.delta ?? ""))
      else if (part.type === "finish") {
        send(await writer.end())
        isDone = true
        controller.enqueue(writer.hasCalls() ? { ...part, finishReason: toolCallsReason(part.finishReason) } : part)
      } else controller.enqueue(part)
    },
    async flush(controller) {
      if (isDone) return
      for (const part of await writer.end()) if (part.type !== WAS_REASONING) controller.enqueue(part)
    },
  })
}

/** The reason for an end with calls, in the form of the one given: v2 has a word, v3 and v4 an object. */
export function toolCallsReason(given: unknown): unknown {
  return typeof given === "object" && given !== null ? { ...given, unified: "tool-calls" } : "tool-calls"
}

/** What only who gathers a whole answer can act on, since a stream cannot take text back. */
const WAS_REASONING = "text-was-reasoning"

/** Turns events of our parser into stream parts: what is open is closed before something else begins. */
function createPartWriter({ parser, tools, taken, onProblem }: ReplySettings) {
  const ids = new Map<number, string>()
  let open: { type: "text" | "reasoning"; id: string } | undefined
  let blocks = 0
  let calls = 0

  function close(): StreamPart[] {
    const parts = open === undefined ? [] : [{ type: `${open.type}-end`, id: open.id }]
    open = undefined
    return parts
  }

  function say(type: "text" | "reasoning", text: string): StreamPart[] {
    const parts: StreamPart[] = []
    if (open?.type !== type) {
      parts.push(...close())
      open = { type, id: `toolwright-${blocks}` }
      blocks += 1
      parts.push({ type: `${type}-start`, id: open.id })
    }
    return [...parts, { type: `${type}-delta`, id: open.id, delta: text }]
  }

  async function write(event: ParseEvent): Promise<StreamPart[]> {
    switch (event.type) {
      case "text-delta":
        return say("text", event.text)
      case "reasoning-delta":
        return say("reasoning", event.text)
      case WAS_REASONING:
        return [...close(), { type: WAS_REASONING }]
      case "call-start": {
        const id = freeId(event.id, taken)
        ids.set(event.index, id)
        return [...close(), { type: "tool-input-start", id, toolName: event.name } as StreamPart]
      }
      case "args-delta":
        return [{ type: "tool-input-delta", id: ids.get(event.index) ?? "", delta: event.text }]
      case "call-end": {
        const id = ids.get(event.index) ?? freeId(event.call.id, taken)
        ids.delete(event.index)
        calls += 1
        const call = {
          type: "tool-call",
          toolCallId: id,
          toolName: event.call.name,
          input: JSON.stringify(await argumentsOf(event.call, tools)),
        }
        return [{ type: "tool-input-end", id }, call]
      }
      case "problem": {
        const { repaired, shown, text } = event.problem
        onProblem?.(event.problem)
        // What could not be read as a call is what the model said.
        return repaired || shown === true || text === "" ? [] : say("text", text)
      }
    }
  }

  async function writeAll(events: readonly ParseEvent[]): Promise<StreamPart[]> {
    const parts: StreamPart[] = []
    for (const event of events) parts.push(...(await write(event)))
    return parts
  }

  return {
    push: (text: string): Promise<StreamPart[]> => writeAll(parser.push(text)),
    end: async (): Promise<StreamPart[]> => {
      const parts = [...(await writeAll(parser.end())), ...close()]
      // A call that began and came to nothing still has its input open.
      for (const id of ids.values()) parts.push({ type: "tool-input-end", id })
      return parts
    },
    hasCalls: () => calls > 0,
  }
}

/** The id, or the next one of its kind that the conversation does not have: `call_0` becomes `call_1`. */
function freeId(id: string, taken: Set<string>): string {
  const digits = /\d+$/.exec(id)?.[0] ?? ""
  const stem = id.slice(0, id.length - digits.length)
  let free = id
  for (let next = Number(digits || "1") + 1; taken.has(free); next += 1)
    free = stem + String(next).padStart(digits.length, "0")
  taken.add(free)
  return free
}

/** The arguments as the tool takes them, where only one meaning is possible. */
async function argumentsOf(call: ToolCall, tools: readonly ToolDefinition[]): Promise<ToolCall["arguments"]> {
  const tool = tools.find(({ name }) => name === call.name)
  if (tool === undefined) return call.arguments
  const checked = await checkArguments(tool, call.arguments)
  return "refused" in checked ? call.arguments : checked.args
}
