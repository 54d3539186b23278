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
  const writer = new PartWriter(settings)
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
  const writer = new PartWriter(settings)
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
class PartWriter {
  readonly #settings: ReplySettings
  readonly #spoken = new SpokenParts()
  readonly #ids = new Map<number, string>()
  #calls = 0

  constructor(settings: ReplySettings) {
    this.#settings = settings
  }

  push(text: string): Promise<StreamPart[]> {
    return this.#writeAll(this.#settings.parser.push(text))
  }

  async end(): Promise<StreamPart[]> {
    const parts = [...(await this.#writeAll(this.#settings.parser.end())), ...this.#spoken.close()]
    // A call that began and came to nothing still has its input open.
    for (const id of this.#ids.values()) parts.push({ type: "tool-input-end", id })
    return parts
  }

  hasCalls(): boolean {
    return this.#calls > 0
  }

  async #writeAll(events: readonly ParseEvent[]): Promise<StreamPart[]> {
    const parts: StreamPart[] = []
    for (const event of events) parts.push(...(await this.#write(event)))
    return parts
  }

  async #write(event: ParseEvent): Promise<StreamPart[]> {
    switch (event.type) {
      case "text-delta":
        return this.#spoken.say("text", event.text)
      case "reasoning-delta":
        return this.#spoken.say("reasoning", event.text)
      case WAS_REASONING:
        return [...this.#spoken.close(), { type: WAS_REASONING }]
      case "call-start": {
        const id = freeId(event.id, this.#settings.taken)
        this.#ids.set(event.index, id)
        return [...this.#spoken.close(), { type: "tool-input-start", id, toolName: event.name } as StreamPart]
      }
      case "args-delta":
        return [{ type: "tool-input-delta", id: this.#ids.get(event.index) ?? "", delta: event.text }]
      case "call-end":
        return this.#endCall(event)
      case "problem":
        return this.#problem(event.problem)
    }
  }

  async #endCall({ index, call }: Extract<ParseEvent, { type: "call-end" }>): Promise<StreamPart[]> {
    const id = this.#ids.get(index) ?? freeId(call.id, this.#settings.taken)
    this.#ids.delete(index)
    this.#calls += 1
    const input = JSON.stringify(await argumentsOf(call, this.#settings.tools))
    const part = { type: "tool-call", toolCallId: id, toolName: call.name, input }
    return [{ type: "tool-input-end", id }, part]
  }

  #problem(problem: ParseProblem): StreamPart[] {
    const { repaired, shown, text } = problem
    this.#settings.onProblem?.(problem)
    // What could not be read as a call is what the model said.
    return repaired || shown === true || text === "" ? [] : this.#spoken.say("text", text)
  }
}

/** Text and thoughts, each in numbered blocks with a beginning and an end. */
class SpokenParts {
  #open: { type: "text" | "reasoning"; id: string } | undefined
  #blocks = 0

  say(type: "text" | "reasoning", text: string): StreamPart[] {
    const parts: StreamPart[] = []
    let open = this.#open
    if (open?.type !== type) {
      parts.push(...this.close())
      open = { type, id: `toolwright-${this.#blocks}` }
      this.#open = open
      this.#blocks += 1
      parts.push({ type: `${type}-start`, id: open.id })
    }
    return [...parts, { type: `${type}-delta`, id: open.id, delta: text }]
  }

  close(): StreamPart[] {
    const parts = this.#open === undefined ? [] : [{ type: `${this.#open.type}-end`, id: this.#open.id }]
    this.#open = undefined
    return parts
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
