import {
  checkConstraints,
  excerpt,
  playStep,
  type InferEvent,
  type InferRequest,
  type ScreenplayStep,
} from "@toolwright/backends"
import { ToolwrightError } from "@toolwright/toolbox"
import type { TestModel } from "../model.ts"
import type { Origin } from "../origin.ts"
import { differenceOf, sameRequest, type RequestPart } from "./difference.ts"
import { nameOf, type Recording } from "./file.ts"
import { maskReply } from "./mask.ts"
import { HOW_TO_RECORD } from "./mode.ts"
import type { PlainRequest } from "./request.ts"

export interface ReplayOptions {
  ignore: readonly RequestPart[]
  /** A request as it would be recorded. */
  plain(request: InferRequest): PlainRequest
  /** Gives an error the line of the test. */
  placed: Origin
  /** Names in replies, back to what they stand for. */
  show(text: string, json?: boolean): string
}

/**
 * Plays a recording. A request gets the reply that was recorded for it; when several are asked at once, their order
 * does not matter.
 */
export function replay(
  file: string,
  { screenplay, requests }: Recording,
  { ignore, plain, placed, show }: ReplayOptions,
): TestModel & { readonly mode: "replay" } {
  const open = screenplay.steps.map((step, at) => ({ step, number: at + 1, request: requests[at] }))
  const total = open.length
  const captured = new Map<string, unknown>()
  const modelName = screenplay.model ?? "recorded"
  let asked = 0
  let violation: ToolwrightError | undefined

  function take(request: InferRequest): { step: ScreenplayStep; number: number } {
    const now = plain(request)
    const at = open.findIndex((each) => each.request === undefined || sameRequest(each.request, now, ignore))
    if (at !== -1) return open.splice(at, 1)[0]!
    const [next] = open
    if (next === undefined) throw exhausted(file, total, asked, request)
    throw changed(file, next.number, total, differenceOf(next.request!, now, ignore))
  }

  async function* infer(request: InferRequest, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<InferEvent> {
    signal?.throwIfAborted()
    checkConstraints(request)
    if (violation !== undefined) throw violation
    asked++
    let taken: { step: ScreenplayStep; number: number }
    try {
      taken = take(request)
    } catch (thrown) {
      throw (violation = placed(thrown as ToolwrightError))
    }
    const { step, number } = taken
    const reply = typeof step.reply === "string" ? step.reply : maskReply(step.reply, show)
    yield* playStep({ ...step, reply }, request, {
      place: { number, inference: asked },
      captured,
      modelName,
      chunks: screenplay.chunks,
      signal,
    })
  }

  return {
    kind: "recording",
    mode: "replay",
    abilities: { nativeTools: true, grammar: true, jsonSchema: true, ...screenplay.abilities },
    modelName: () => modelName,
    infer,
    done() {
      if (violation !== undefined) throw violation
      if (open.length > 0) throw placed(unplayed(file, total, open))
    },
  }
}

function changed(file: string, number: number, total: number, difference: string): ToolwrightError {
  return new ToolwrightError(
    "RECORDING_CHANGED",
    `The model is asked something else than in request ${number} of ${total} of ${nameOf(file)} (- recorded, + ` +
      `now):\n${difference}\nIf that is meant: ${HOW_TO_RECORD}`,
  )
}

function exhausted(file: string, total: number, asked: number, { messages }: InferRequest): ToolwrightError {
  return new ToolwrightError(
    "RECORDING_EXHAUSTED",
    `The model was asked ${asked} times, but ${nameOf(file)} has ${total} ` +
      `${total === 1 ? "request" : "requests"}. ${HOW_TO_RECORD}\n` +
      `It was shown last: ${excerpt(messages.at(-1)?.content ?? "", 600)}`,
  )
}

function unplayed(
  file: string,
  total: number,
  open: readonly { number: number; request: PlainRequest | undefined }[],
): ToolwrightError {
  const list = open
    .map(
      ({ number, request }) => `- request ${number}: ${excerpt(String(request?.messages.at(-1)?.content ?? ""), 100)}`,
    )
    .join("\n")
  return new ToolwrightError(
    "RECORDING_UNPLAYED",
    `${open.length} of ${total} requests of ${nameOf(file)} ${open.length === 1 ? "was" : "were"} not made:\n` +
      `${list}\n${HOW_TO_RECORD}`,
  )
}
