import { validateSampler, type SamplerConfig } from "./config.ts"
import { firstMu, mirostatV1, mirostatV2 } from "./mirostat.ts"
import { createRandom } from "./random.ts"
import {
  addBias,
  draw,
  keepAllowed,
  keepMinP,
  keepTopK,
  keepTopP,
  likeliest,
  penalize,
  withTemperature,
} from "./transforms.ts"

/**
 * Chooses tokens one after another; it holds what goes from token to token: the history, the random source, mirostat's
 * state.
 */
export interface Sampler {
  /**
   * The next token, or -1 if the mask leaves none.
   *
   * @param logits are not changed
   * @param mask the tokens a grammar allows; it goes first, so that top-k and the like choose among allowed tokens
   */
  choose(logits: Float32Array, mask?: Uint32Array): number
  /** Notes a token for the penalties. One that a grammar forced (the only allowed one) does not count as repeated. */
  accept(token: number, options?: { forced?: boolean }): void
}

const DEFAULT_WINDOW = 64

/**
 * A sampler after a configuration. Order: mask, bias, penalties, then top-k, top-p, min-p and temperature, or mirostat
 * instead.
 *
 * @throws ToolwrightError `INVALID_SAMPLER`
 * @example
 * const sampler = createSampler({ temperature: 0.7, topP: 0.9, seed: 1 })
 * const token = sampler.choose(logits, mask)
 * sampler.accept(token)
 */
export function createSampler(settings: SamplerConfig = {}): Sampler {
  const config = validateSampler(settings)
  const { temperature = 1, topK = 0, topP = 1, minP = 0, repetitionWindow = DEFAULT_WINDOW, mirostat = 0 } = config
  const penalties = {
    repetition: config.repetitionPenalty ?? 1,
    frequency: config.frequencyPenalty ?? 0,
    presence: config.presencePenalty ?? 0,
  }
  const penalizes = penalties.repetition !== 1 || penalties.frequency !== 0 || penalties.presence !== 0
  const target = { tau: config.mirostatTau ?? 5, eta: config.mirostatEta ?? 0.1 }
  const random = createRandom(config.seed)
  const history: number[] = []
  let mu = firstMu(target)

  return {
    choose(logits, mask) {
      let rest = mask === undefined ? logits : keepAllowed(logits, mask)
      if (config.logitBias !== undefined) rest = addBias(rest, config.logitBias)
      if (penalizes && repetitionWindow !== 0) {
        rest = penalize(rest, repetitionWindow < 0 ? history : history.slice(-repetitionWindow), penalties)
      }
      if (temperature === 0) return likeliest(rest)
      if (mirostat !== 0) {
        const choice = (mirostat === 1 ? mirostatV1 : mirostatV2)(
          withTemperature(rest, temperature),
          mu,
          target,
          random,
        )
        ;({ mu } = choice)
        return choice.token
      }
      if (topK > 0) rest = keepTopK(rest, topK)
      if (topP < 1) rest = keepTopP(rest, topP)
      if (minP > 0) rest = keepMinP(rest, minP)
      return draw(withTemperature(rest, temperature), random)
    },
    accept(token, { forced = false } = {}) {
      if (!forced) history.push(token)
    },
  }
}
