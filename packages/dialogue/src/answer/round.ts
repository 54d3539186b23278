import type { FinishReason, InferRequest } from "@toolwright/backends"
import type { ToolCall, ToolDefinition } from "@toolwright/toolbox"
import type { AnswerEvent, AnswerNote } from "./answer.ts"
import { checkCall } from "./check-call.ts"
import { hear, type Heard } from "./held-calls.ts"
import { schemaFault } from "./schema-check.ts"
import type { Finished, SourceEvent } from "./sources.ts"

/** How a reply is told. */
export interface RoundSettings {
  tools: readonly ToolDefinition[]
  /** What becomes of calls of tools that are not on offer. */
  unknownTools: "text" | "pass"
  request: Pick<InferRequest, "toolChoice" | "parallelToolCalls" | "jsonSchema">
  /** What is wrong is kept back, since the model may be asked again. */
  mayAskAgain: boolean
  /** `live` tells text as it comes; `held` once there is a call, or at the end; `spare` only where there is no call. */
  text: "live" | "held" | "spare"
}

/** One reply of the model on its way to the client: what can be told is told, what is wrong is gathered. */
export class Round {
  /** What was wrong, in words for the model. */
  readonly faults: string[] = []
  /** Calls that were told. */
  calls = 0
  /** Text was told. */
  spoke = false
  readonly #settings: RoundSettings
  readonly #kept: AnswerEvent[] = []
  #heldText = ""
  #text = ""

  constructor(settings: RoundSettings) {
    this.#settings = settings
  }

  /** What an event comes to; a promise only of a call, which is held against its schema. */
  read(event: SourceEvent): AnswerEvent[] | Promise<AnswerEvent[]> {
    const heard = hear(event)
    return heard === undefined ? [] : this.#heard(heard)
  }

  #heard(heard: Heard): AnswerEvent[] | Promise<AnswerEvent[]> {
    switch (heard.type) {
      case "text-delta":
        return this.#say(heard.text)
      case "called":
        return this.#called(heard.call)
      case "unread":
        return this.#fault(heard.note.message, heard.text, heard.note)
      case "slip":
        return [{ type: "note", note: heard.note }]
      default:
        return [heard]
    }
  }

  #say(text: string): AnswerEvent[] {
    this.#text += text
    if (this.#settings.text === "live" || this.calls > 0) return this.#told(text)
    this.#heldText += text
    return [{ type: "waiting" }]
  }

  #told(text: string): AnswerEvent[] {
    if (text === "") return []
    this.spoke = true
    return [{ type: "text-delta", text }]
  }

  async #called(given: ToolCall): Promise<AnswerEvent[]> {
    const { tools, request, unknownTools } = this.#settings
    const text = JSON.stringify({ name: given.name, arguments: given.arguments })
    if (request.toolChoice === "none")
      return [...this.#told(text), note("tools-not-wanted", "The client wants no calls.", given.name)]
    const { call, notes, wrong } = await checkCall(given, tools)
    if (wrong?.code === "unknown-tool" && unknownTools === "text")
      return this.#fault(wrong.message, text, { ...wrong, tool: call.name })
    if (request.parallelToolCalls === false && this.calls > 0)
      return [note("extra-call", "The client takes one call at a time.", call.name, text)]
    const told = notes.map((one): AnswerEvent => ({ type: "note", note: one }))
    if (wrong === undefined) return [...told, ...this.#tell(call)]
    const wrongNote: AnswerEvent = { type: "note", note: { ...wrong, tool: call.name } }
    if (!this.#settings.mayAskAgain || this.calls > 0) return [...told, wrongNote, ...this.#tell(call)]
    this.faults.push(wrong.message)
    this.#kept.push(...told, wrongNote, { type: "call", call })
    return [{ type: "waiting" }]
  }

  #tell(call: ToolCall): AnswerEvent[] {
    const said = this.#settings.text === "spare" ? [] : this.#told(this.#heldText)
    this.#heldText = ""
    this.calls++
    return [...said, { type: "call", call }]
  }

  /** Text that should have been a call. */
  #fault(message: string, text: string, about: AnswerNote): AnswerEvent[] {
    if (!this.#settings.mayAskAgain || this.calls > 0) return [...this.#told(text), { type: "note", note: about }]
    this.faults.push(message)
    if (text !== "") this.#kept.push({ type: "text-delta", text })
    this.#kept.push({ type: "note", note: about })
    return [{ type: "waiting" }]
  }

  /** After the last event: what of the whole reply is not as the client wants it. */
  async end(finishReason: FinishReason): Promise<AnswerEvent[]> {
    const { request, mayAskAgain } = this.#settings
    if (this.calls > 0 || finishReason === "length") return []
    const about = await this.#missing(request)
    if (about === undefined) return []
    if (!mayAskAgain) return [{ type: "note", note: about }]
    this.faults.push(about.message)
    this.#kept.push({ type: "note", note: about })
    return []
  }

  async #missing({ toolChoice, jsonSchema }: RoundSettings["request"]): Promise<AnswerNote | undefined> {
    if (this.faults.length > 0) return undefined
    if (toolChoice === "required") return { code: "no-call", message: "The answer has to be a tool call, and is none." }
    if (jsonSchema === undefined) return undefined
    const fault = await schemaFault(this.#text, jsonSchema)
    return fault === undefined ? undefined : { code: "schema-mismatch", message: fault }
  }

  /** What was kept back, where nobody asks again. */
  release(): AnswerEvent[] {
    const held = this.#told(this.#heldText)
    this.#heldText = ""
    const kept = this.#kept.splice(0)
    this.calls += kept.filter(({ type }) => type === "call").length
    this.spoke ||= kept.some(({ type }) => type === "text-delta")
    return [...held, ...kept]
  }

  /** What was kept back and is given up for another answer: as notes, with the text. */
  giveUp(): AnswerEvent[] {
    const texts = this.#kept.flatMap((event) =>
      event.type === "text-delta" ? [event.text] : event.type === "call" ? [JSON.stringify(event.call)] : [],
    )
    const text = [this.#heldText, ...texts].filter((one) => one !== "").join("\n")
    const message = `The model was asked again: ${this.faults.join(" ")}`
    return [note("asked-again", message, undefined, text)]
  }
}

function note(code: string, message: string, tool?: string, text?: string): AnswerEvent {
  const known = { ...(tool === undefined ? {} : { tool }), ...(text === undefined || text === "" ? {} : { text }) }
  return { type: "note", note: { code, message, ...known } }
}

/**
 * How an answer ended. The model's reason stays where it was cut off; calls that were told are the reason otherwise.
 */
export function endOf(reply: Omit<Finished, "said">, calls: number): AnswerEvent {
  const { finishReason, selfKnowledge, usage, stoppedAt } = reply
  return {
    type: "end",
    finishReason: reasonOf(finishReason, calls),
    ...(usage === undefined ? {} : { usage }),
    ...(stoppedAt === undefined ? {} : { stoppedAt }),
    ...selfKnowledge,
  }
}

function reasonOf(given: FinishReason, calls: number): FinishReason {
  if (given === "length" || given === "content-filter" || given === "error") return given
  if (calls > 0) return "tool-calls"
  return given === "tool-calls" ? "stop" : given
}
