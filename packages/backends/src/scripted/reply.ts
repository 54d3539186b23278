import { ToolwrightError, type JsonObject, type ToolCall } from "@toolwright/toolbox"
import type { ToolFormatter } from "@toolwright/toolformat"
import { badReply, failureOfStatus, timedOut, unreachable, type FailureContext } from "../failures.ts"
import type { InferEvent, InferRequest } from "../model/backend.ts"
import { assertionError, type Place } from "./assertion.ts"
import type { Chunks, ScreenplayReply, ScriptedCall, ScriptedFailure } from "./screenplay.ts"

/** What a reply needs to know besides itself. */
export interface ReplySetting {
  chunks: Chunks | undefined
  modelName: string
  /** Writes calls as text where no tools were offered natively. */
  formatter: Pick<ToolFormatter, "printCalls"> | undefined
  place: Place
}

/** The events of a reply, before `end`; then throws if the reply is to fail. */
export function* replyEvents(
  reply: ScreenplayReply,
  request: InferRequest,
  setting: ReplySetting,
): Generator<InferEvent> {
  const chunks = reply.chunks ?? setting.chunks
  const { calls = [], text = "", reasoning = "", stream = [] } = reply
  const native = isNative(request)
  if (stream.length > 0) yield* streamEvents(reply)
  yield* deltas("reasoning-delta", reasoning, chunks)
  const written = calls.length === 0 || native ? text : text + writeCalls(calls, setting)
  yield* deltas("text-delta", written, chunks)
  if (native) for (const [index, call] of calls.entries()) yield* callDeltas(call, index, chunks, setting.place)
  if (reply.error !== undefined) throw failureOf(reply.error, setting.modelName)
}

/** Whether a reply ends in native calls. */
export function hasNativeCalls(reply: ScreenplayReply, request: InferRequest): boolean {
  return (isNative(request) && (reply.calls ?? []).length > 0) || (reply.stream ?? []).some((part) => "call" in part)
}

function isNative(request: InferRequest): boolean {
  return (request.tools ?? []).length > 0 && request.toolChoice !== "none"
}

function* streamEvents({ stream = [] }: ScreenplayReply): Generator<InferEvent> {
  for (const part of stream) {
    if ("call" in part) {
      const { call: index, ...rest } = part
      yield { type: "call-delta", index, ...rest }
    } else if ("retry" in part) {
      yield { type: "retry", attempt: part.retry, delayMs: part.delayMs, reason: part.reason }
    } else {
      const [type, pieces] =
        "text" in part ? (["text-delta", part.text] as const) : (["reasoning-delta", part.reasoning] as const)
      for (const text of [pieces].flat()) yield { type, text }
    }
  }
}

function* deltas(
  type: "text-delta" | "reasoning-delta",
  text: string,
  chunks: Chunks | undefined,
): Generator<InferEvent> {
  for (const piece of cut(text, chunks)) yield { type, text: piece }
}

function* callDeltas(
  call: ScriptedCall,
  index: number,
  chunks: Chunks | undefined,
  place: Place,
): Generator<InferEvent> {
  yield { type: "call-delta", index, id: call.id ?? `call_${place.inference}_${index}`, name: call.name }
  for (const piece of cut(argumentsText(call), chunks)) {
    yield { type: "call-delta", index, arguments: piece }
  }
}

const argumentsText = ({ arguments: args = {} }: ScriptedCall): string =>
  typeof args === "string" ? args : JSON.stringify(args)

function writeCalls(calls: readonly ScriptedCall[], { formatter, place }: ReplySetting): string {
  const broken = calls.find((call) => typeof call.arguments === "string")
  if (formatter === undefined || broken !== undefined) {
    const why = broken === undefined ? "" : " (raw arguments cannot be written in a text format)"
    throw assertionError(place, `native tools to be offered, since the reply holds calls${why}`, "no tools")
  }
  const written: ToolCall[] = calls.map(({ id, name, arguments: args }, index) => ({
    id: id ?? `call_${place.inference}_${index}`,
    name,
    arguments: (args as JsonObject | undefined) ?? {},
  }))
  return formatter.printCalls(written)
}

/** Cuts text into pieces, never inside a character. */
export function cut(text: string, chunks: Chunks | undefined): string[] {
  if (text === "") return []
  if (chunks === undefined) return [text]
  const characters = Array.from(text)
  const sizes = Array.isArray(chunks) ? chunks : undefined
  const fixed = chunks === "char" ? 1 : chunks
  const pieces: string[] = []
  for (let at = 0; at < characters.length;) {
    const size = sizes === undefined ? (fixed as number) : (sizes[pieces.length] ?? characters.length)
    pieces.push(characters.slice(at, at + size).join(""))
    at += size
  }
  return pieces
}

function failureOf(failed: ScriptedFailure, modelName: string): ToolwrightError {
  const { status, kind, code, message = "", hint } = failed
  const context: FailureContext = {
    url: "the screenplay",
    modelName,
    server: "a screenplay",
    keySetting: "the screenplay",
    urlSetting: "the screenplay",
  }
  if (code !== undefined)
    return new ToolwrightError(
      code,
      message || `The screenplay fails here with ${code}.`,
      hint === undefined ? {} : { hint },
    )
  if (status !== undefined) return failureOfStatus(status, { message, code: "", param: "" }, context)
  if (kind === "unreachable") return unreachable(context, message || "connection refused")
  if (kind === "timeout") return timedOut(message || "The model sent nothing for too long.")
  const reasons = {
    "invalid-utf8": "it is not UTF-8",
    "invalid-json": "it is not JSON",
    "cut-off": "it ends in the middle",
  }
  return badReply(context, message || reasons[kind ?? "invalid-json"])
}
