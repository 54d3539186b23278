import { validateSampler, type SamplerConfig } from "./config.ts"

/**
 * The settings as llama-server's endpoints name them (llama.cpp, `tools/server/README.md`). A seed of -1 and no token
 * limit are its own defaults and stay out.
 *
 * @throws ToolwrightError `INVALID_SAMPLER`
 */
export function toLlamaServer(settings: SamplerConfig): Record<string, unknown> {
  const config = validateSampler(settings)
  const body: Record<string, unknown> = {
    temperature: config.temperature,
    top_k: config.topK,
    top_p: config.topP,
    min_p: config.minP,
    repeat_penalty: config.repetitionPenalty,
    repeat_last_n: config.repetitionWindow,
    frequency_penalty: config.frequencyPenalty,
    presence_penalty: config.presencePenalty,
    mirostat: config.mirostat,
    mirostat_tau: config.mirostatTau,
    mirostat_eta: config.mirostatEta,
    logit_bias: biasPairs(config.logitBias),
    n_predict: config.maxTokens === -1 ? undefined : config.maxTokens,
    seed: config.seed === -1 ? undefined : config.seed,
    stop: config.stop,
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** llama-server takes pairs, and `false` for a token that must not come. */
function biasPairs(bias: SamplerConfig["logitBias"]): [number, number | false][] | undefined {
  if (bias === undefined) return undefined
  return Object.entries(bias).map(([token, value]) => [
    Number(token),
    value === Number.NEGATIVE_INFINITY ? false : value,
  ])
}
