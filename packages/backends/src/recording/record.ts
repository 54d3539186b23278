import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import type { Backend, InferEvent, InferRequest } from "../model/backend.ts"
import { wrapBackend } from "../wrap.ts"
import type { ScreenplayReply, Screenplay, ScreenplayStep, StreamPart } from "../scripted/screenplay.ts"

/** A backend that keeps what passes through it. */
export interface RecordingBackend extends Backend {
  /** What was played so far, as a screenplay that `createScriptedBackend` replays event by event. */
  screenplay(): Screenplay
  /** The same as YAML, to be saved. */
  toYaml(): Promise<string>
}

/**
 * Records what a backend is asked and what it replies. An inference that its caller cancelled is kept as one that
 * hangs.
 *
 * @param options.name the screenplay's name
 * @param options.expectations whether each step shall expect the same number of messages and the same tools; true
 *   unless given
 * @param options.sent what each step shall keep of its request, if anything
 */
export function recordBackend(
  backend: Backend,
  options: { name?: string; expectations?: boolean; sent?: (request: InferRequest) => JsonObject } = {},
): RecordingBackend {
  const { name, expectations = true, sent } = options
  const steps: ScreenplayStep[] = []

  async function* infer(request: InferRequest, inferOptions?: { signal?: AbortSignal }): AsyncGenerator<InferEvent> {
    const reply: ScreenplayReply = { interpolate: false }
    const step: ScreenplayStep = {
      ...(expectations ? { expect: expectationsOf(request) } : {}),
      reply,
      ...(sent === undefined ? {} : { sent: sent(request) }),
    }
    let ended = false
    try {
      for await (const event of backend.infer(request, inferOptions)) {
        ended = keep(event, reply) || ended
        yield event
      }
    } catch (thrown) {
      ended = true
      if (!ToolwrightError.isInstance(thrown)) reply.hang = true
      else {
        const { code, message, hint } = thrown
        reply.error = { code, message, ...(hint === undefined ? {} : { hint }) }
      }
      throw thrown
    } finally {
      if (!ended) reply.hang = true
      steps.push(step)
    }
  }

  const screenplay = (): Screenplay => ({
    ...(name === undefined ? {} : { name }),
    model: backend.modelName(),
    abilities: playedAbilities(backend),
    steps: structuredClone(steps),
  })
  return wrapBackend(backend, {
    infer,
    screenplay,
    async toYaml() {
      const { stringify } = await import("yaml")
      return stringify(screenplay(), { lineWidth: 0 })
    },
  })
}

/** A screenplay has no tokens to tell of, whatever it was recorded from. */
function playedAbilities({ abilities: { tokens: _tokens, ...played } }: Backend): NonNullable<Screenplay["abilities"]> {
  return played
}

function expectationsOf({ messages, tools = [], grammar, jsonSchema }: InferRequest): ScreenplayStep["expect"] {
  return {
    messages: messages.length,
    tools: tools.length === 0 ? false : { exactly: tools.map((tool) => tool.function.name) },
    grammar: grammar !== undefined,
    jsonSchema: jsonSchema !== undefined,
  }
}

/** Adds an event to a reply; neighbouring deltas of one kind share a part. Returns whether it was the end. */
function keep(event: InferEvent, reply: ScreenplayReply): boolean {
  if (event.type === "end") {
    reply.finish = event.finishReason
    if (event.usage !== undefined) reply.usage = event.usage
    return true
  }
  // A screenplay says what is replied, not how a model came to it.
  if (event.type === "tokens") return false
  const stream = (reply.stream ??= [])
  if (event.type === "call-delta") {
    const { type: _, index, ...rest } = event
    stream.push({ call: index, ...rest })
  } else if (event.type === "retry") {
    stream.push({ retry: event.attempt, delayMs: event.delayMs, reason: event.reason })
  } else {
    const key = event.type === "text-delta" ? "text" : "reasoning"
    const pieces = (stream.at(-1) as Partial<Record<string, string[]>> | undefined)?.[key]
    if (pieces === undefined) stream.push({ [key]: [event.text] } as StreamPart)
    else pieces.push(event.text)
  }
  return false
}
