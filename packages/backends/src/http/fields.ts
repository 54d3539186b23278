import type { JsonObject } from "@toolwright/toolbox"
import { conflictingConstraints, constraintsOf } from "../failures.ts"
import type { InferRequest, SamplingOptions } from "../model/backend.ts"

type SamplingName = keyof SamplingOptions

/** What settings are called in requests of OpenAI's API, and in what local servers add to it. */
export const SAMPLING_NAMES: Readonly<Record<SamplingName, string>> = {
  temperature: "temperature",
  topK: "top_k",
  topP: "top_p",
  minP: "min_p",
  repetitionPenalty: "repetition_penalty",
  frequencyPenalty: "frequency_penalty",
  presencePenalty: "presence_penalty",
  maxTokens: "max_tokens",
  seed: "seed",
  stop: "stop",
  logitBias: "logit_bias",
}

/** What a server calls the sampler's settings; those that it does not have are not here. */
export type SamplingFields = Partial<Record<SamplingName, string>>

/** The sampler's settings in a server's words. */
export function samplingAs(sampling: SamplingOptions = {}, names: SamplingFields): JsonObject {
  return Object.fromEntries(
    given(sampling).flatMap(([name, value]) => (names[name] === undefined ? [] : [[names[name], value]])),
  )
}

/** What of a request a server does not take: settings of the sampler, fields of others' own, and pictures. */
export function leftOutBy(
  { messages, sampling = {}, extraBody = {} }: InferRequest,
  takes: { sampling: SamplingFields; extra: (name: string, value: unknown) => boolean; images?: boolean },
): string[] {
  const pictures = messages.some((message) => message.role === "user" && (message.media ?? []).length > 0)
  return [
    ...given(sampling).flatMap(([name]) => (takes.sampling[name] === undefined ? [SAMPLING_NAMES[name]] : [])),
    ...Object.entries(extraBody).flatMap(([name, value]) => (takes.extra(name, value) ? [] : [name])),
    ...(pictures && takes.images === false ? ["images"] : []),
  ]
}

function given(sampling: SamplingOptions): [SamplingName, unknown][] {
  return (Object.entries(sampling) as [SamplingName, unknown][]).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  )
}

/** @throws ToolwrightError `CONFLICTING_CONSTRAINTS` */
export function checkConstraints(request: InferRequest): void {
  const constraints = constraintsOf(request)
  if (constraints.length > 1) throw conflictingConstraints(constraints)
}

/** How hard the client wants the model to think, as OpenAI's API says it. */
export function effortOf({ reasoning_effort: effort }: JsonObject = {}): string | undefined {
  return typeof effort === "string" ? effort : undefined
}
