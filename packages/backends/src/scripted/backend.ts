import { ToolwrightError } from "@toolwright/toolbox"
import type { ToolFormatter } from "@toolwright/toolformat"
import type { Backend, BackendAbilities, InferEvent, InferRequest } from "../model/backend.ts"
import { excerpt, type Place } from "./assertion.ts"
import { checkConstraints, playStep } from "./play.ts"
import type { Screenplay, ScreenplayStep } from "./screenplay.ts"

/** Settings of a scripted backend. What is given here goes before what the screenplay says. */
export interface ScriptedOptions {
  modelName?: string
  abilities?: Partial<BackendAbilities>
  /**
   * Writes a reply's `calls` as text when no tools were offered natively, so that one screenplay plays in every format.
   */
  formatter?: Pick<ToolFormatter, "printCalls">
}

/** A backend that plays a screenplay and keeps every request. */
export interface ScriptedBackend extends Backend {
  readonly kind: "scripted"
  /** Every request, in order, as it was sent. */
  readonly requests: readonly InferRequest[]
  /** Values captured so far. */
  readonly captured: ReadonlyMap<string, unknown>
  /**
   * How many steps have not been played to their end; a step that is repeated always counts until it was played once.
   */
  readonly remaining: number
}

/**
 * A model that follows a screenplay. Each inference plays the next step: it checks what was sent, captures values,
 * replies.
 *
 * `infer` throws `SCREENPLAY_ASSERTION` when a step was not sent what it expects, `SCREENPLAY_EXHAUSTED` after the last
 * step, and whatever error a step is written to fail with.
 *
 * @param screenplay see `parseScreenplay` and `loadScreenplay` for YAML
 */
export function createScriptedBackend(screenplay: Screenplay, options: ScriptedOptions = {}): ScriptedBackend {
  const modelName = options.modelName ?? screenplay.model ?? "screenplay"
  const requests: InferRequest[] = []
  const captured = new Map<string, unknown>()
  let index = 0
  let played = 0

  function nextStep(): { step: ScreenplayStep; place: Place } {
    const step = screenplay.steps[index]
    if (step === undefined) throw exhausted(screenplay, requests)
    const place: Place = { number: index + 1, inference: requests.length, name: step.name }
    played++
    if (step.repeat !== "always" && played >= (step.repeat ?? 1)) {
      index++
      played = 0
    }
    return { step, place }
  }

  async function* infer(request: InferRequest, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<InferEvent> {
    signal?.throwIfAborted()
    checkConstraints(request)
    requests.push(structuredClone(request))
    const { step, place } = nextStep()
    yield* playStep(step, request, {
      place,
      captured,
      modelName,
      chunks: screenplay.chunks,
      formatter: options.formatter,
      signal,
    })
  }

  return {
    kind: "scripted",
    abilities: { nativeTools: true, grammar: true, jsonSchema: true, ...screenplay.abilities, ...options.abilities },
    modelName: () => modelName,
    // It looks at the messages themselves.
    leavesOut: () => [],
    infer,
    requests,
    captured,
    get remaining() {
      const left = screenplay.steps.length - index
      return screenplay.steps[index]?.repeat === "always" && played > 0 ? left - 1 : left
    },
  }
}

function exhausted(screenplay: Screenplay, requests: readonly InferRequest[]): ToolwrightError {
  const last = requests.at(-1)?.messages.at(-1)?.content ?? ""
  return new ToolwrightError(
    "SCREENPLAY_EXHAUSTED",
    `The screenplay has ${screenplay.steps.length} steps, but the model was asked once more (inference ` +
      `${requests.length}). ` +
      `The last message was: ${excerpt(last)}`,
    { hint: "Add a step, or end the last one with 'repeat: always'." },
  )
}
