import type { JsonObject } from "@toolwright/toolbox"
import {
  toLlamaServer,
  validateSampler,
  type Preset,
  type PresetRegistry,
  type SamplerConfig,
} from "@toolwright/logits"
import type { LogitRequest } from "./generator.ts"

const NAMES: Readonly<Record<string, keyof SamplerConfig>> = {
  temperature: "temperature",
  top_k: "topK",
  top_p: "topP",
  min_p: "minP",
  repetition_penalty: "repetitionPenalty",
  repetition_window: "repetitionWindow",
  frequency_penalty: "frequencyPenalty",
  presence_penalty: "presencePenalty",
  mirostat: "mirostat",
  mirostat_tau: "mirostatTau",
  mirostat_eta: "mirostatEta",
  logit_bias: "logitBias",
  max_tokens: "maxTokens",
  seed: "seed",
  stop: "stop",
}

/** What a call runs with. */
export interface Settings {
  readonly preset: Preset | undefined
  readonly sampler: SamplerConfig
}

/**
 * The preset's settings with the call's own over them.
 *
 * @throws ToolwrightError `UNKNOWN_PRESET`, `INVALID_SAMPLER`
 */
export function settingsOf(args: JsonObject, presets: PresetRegistry, byDefault?: string): Settings {
  const name = (args["preset"] as string | undefined) ?? byDefault
  const preset = name === undefined ? undefined : presets.get(name)
  const own = Object.fromEntries(
    Object.entries((args["sampler"] ?? {}) as JsonObject).map(([key, value]) => [NAMES[key] ?? key, value]),
  )
  return { preset, sampler: validateSampler({ ...preset?.sampler, ...own }) }
}

/** The settings in a request. What only llama.cpp has goes into its body as it is. */
export function samplingOf(sampler: SamplerConfig): Pick<LogitRequest, "sampling" | "extraBody"> {
  const { repetitionWindow, mirostat, mirostatTau, mirostatEta, seed, maxTokens, ...common } = sampler
  const extra = toLlamaServer({
    ...(repetitionWindow !== undefined && { repetitionWindow }),
    ...(mirostat !== undefined && { mirostat }),
    ...(mirostatTau !== undefined && { mirostatTau }),
    ...(mirostatEta !== undefined && { mirostatEta }),
  })
  return {
    sampling: {
      ...common,
      ...(seed !== undefined && seed >= 0 && { seed }),
      ...(maxTokens !== undefined && maxTokens > 0 && { maxTokens }),
    },
    ...(Object.keys(extra).length > 0 && { extraBody: extra }),
  }
}

/** A sampler under the names that the tool's arguments have. */
export function shownSampler(sampler: SamplerConfig): JsonObject {
  const names = new Map(Object.entries(NAMES).map(([shown, name]) => [name as string, shown]))
  return Object.fromEntries(Object.entries(sampler).map(([name, value]) => [names.get(name) ?? name, value]))
}
