import type { Random } from "./random.ts"
import { draw, keepTopK, likeliest, softmax } from "./transforms.ts"

/**
 * Mirostat (Basu and others, 2020, https://arxiv.org/abs/2007.14966): keeps the surprise of the text near a target by
 * adjusting how many tokens may be chosen from. `mu`, the largest surprise allowed in bits, is the state that goes from
 * token to token; it begins at twice the target.
 */
export interface MirostatSettings {
  /** Wanted surprise in bits. */
  readonly tau: number
  /** How fast `mu` follows. */
  readonly eta: number
}

export interface MirostatChoice {
  /** -1 if every token is out. */
  readonly token: number
  readonly mu: number
}

/** How many of the likeliest tokens the first version estimates the distribution's shape from; the paper's value. */
const ESTIMATED_FROM = 100

export function firstMu({ tau }: MirostatSettings): number {
  return 2 * tau
}

/** Version 1: estimates the exponent of Zipf's law and from it how many tokens to keep. */
export function mirostatV1(
  logits: Float32Array,
  mu: number,
  settings: MirostatSettings,
  random: Random,
): MirostatChoice {
  const probabilities = softmax(logits).filter((probability) => probability > 0)
  const count = probabilities.length
  if (count === 0) return { token: -1, mu }
  const exponent = zipfExponent(probabilities.sort().slice(-ESTIMATED_FROM).reverse())
  const epsilon = exponent - 1
  const numerator = epsilon * 2 ** mu
  const estimate = (numerator / (1 - count ** -epsilon)) ** (1 / exponent)
  const keep = Number.isFinite(estimate) ? Math.min(count, Math.max(1, Math.round(estimate))) : count
  return choose(keepTopK(logits, keep), mu, settings, random)
}

/** Version 2: keeps the tokens whose own surprise is at most `mu`. */
export function mirostatV2(
  logits: Float32Array,
  mu: number,
  settings: MirostatSettings,
  random: Random,
): MirostatChoice {
  const best = likeliest(logits)
  if (best < 0) return { token: -1, mu }
  const probabilities = softmax(logits)
  const rest = logits.map((logit, token) =>
    token === best || -Math.log2(probabilities[token]!) <= mu ? logit : Number.NEGATIVE_INFINITY,
  )
  return choose(rest, mu, settings, random)
}

function choose(rest: Float32Array, mu: number, { tau, eta }: MirostatSettings, random: Random): MirostatChoice {
  const token = draw(rest, random)
  const surprise = -Math.log2(softmax(rest)[token]!)
  return { token, mu: mu - eta * (surprise - tau) }
}

/** Least squares of log p(i) - log p(i + 1) on log (i + 2)/(i + 1): the paper's estimator. */
function zipfExponent(probabilities: Float64Array): number {
  let above = 0
  let below = 0
  for (let rank = 0; rank + 1 < probabilities.length; rank++) {
    const step = Math.log((rank + 2) / (rank + 1))
    const fall = Math.log(probabilities[rank]! / probabilities[rank + 1]!)
    if (!Number.isFinite(fall)) break
    above += step * fall
    below += step * step
  }
  return below === 0 || above === 0 ? 1 + Number.EPSILON : above / below
}
