/**
 * The classic samplers, each a pure function from logits to new logits; minus infinity marks a token that is out. None
 * of them ever removes the last candidate. Ties are decided for the lower token number.
 */

const OUT = Number.NEGATIVE_INFINITY

/** Divides by the temperature; 0 leaves only the likeliest token. */
export function withTemperature(logits: Float32Array, temperature: number): Float32Array {
  if (temperature > 0) return logits.map((logit) => logit / temperature)
  const best = likeliest(logits)
  return logits.map((logit, token) => (token === best ? logit : OUT))
}

/** Keeps the `count` likeliest; 0 keeps all. */
export function keepTopK(logits: Float32Array, count: number): Float32Array {
  if (count <= 0 || count >= logits.length) return logits.slice()
  return keepFrom(logits, largest(logits, count), count)
}

/** Keeps the smallest number of likeliest tokens that together have at least this probability. */
export function keepTopP(logits: Float32Array, share: number): Float32Array {
  if (share >= 1) return logits.slice()
  const sorted = logits.filter((logit) => logit > OUT).sort()
  const highest = sorted.at(-1)
  if (highest === undefined) return logits.slice()
  let total = 0
  for (const logit of sorted) total += Math.exp(logit - highest)
  let count = 0
  for (let sum = 0; count < sorted.length && sum < share * total; count++)
    sum += Math.exp(sorted[sorted.length - 1 - count]! - highest)
  return keepFrom(logits, sorted[sorted.length - count]!, count)
}

/** The logit of rank `count`, by a heap of the largest so far: far cheaper than sorting a whole vocabulary. */
function largest(logits: Float32Array, count: number): number {
  const heap = logits.slice(0, count).sort()
  for (let token = count; token < logits.length; token++) {
    const logit = logits[token]!
    if (logit <= heap[0]!) continue
    let at = 0
    for (let child = 1; child < count; child = 2 * at + 1) {
      if (child + 1 < count && heap[child + 1]! < heap[child]!) child++
      if (heap[child]! >= logit) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = logit
  }
  return heap[0]!
}

/**
 * Keeps the first `count` tokens among those with a logit of at least `least`, higher logits first; numbers sort faster
 * than tokens.
 */
function keepFrom(logits: Float32Array, least: number, count: number): Float32Array {
  let equal = count
  for (const logit of logits) if (logit > least) equal--
  return logits.map((logit) => (logit > least || (logit === least && equal-- > 0) ? logit : OUT))
}

/** Keeps tokens whose probability is at least this share of the likeliest one's. */
export function keepMinP(logits: Float32Array, share: number): Float32Array {
  if (share <= 0) return logits.slice()
  const best = likeliest(logits)
  const floor = logits[best]! + Math.log(share)
  return logits.map((logit, token) => (token === best || logit >= floor ? logit : OUT))
}

/** Strengths of the penalties; see `SamplerConfig`. */
export interface Penalties {
  readonly repetition?: number
  readonly frequency?: number
  readonly presence?: number
}

/**
 * Makes tokens of the history less likely: a positive logit is divided by the repetition penalty, a negative one
 * multiplied (Keskar and others, 2019); frequency and presence are subtracted, as in the OpenAI API.
 *
 * @param history the tokens that count, each as often as it came; tokens that a grammar forced should not be among them
 */
export function penalize(logits: Float32Array, history: Iterable<number>, penalties: Penalties): Float32Array {
  const { repetition = 1, frequency = 0, presence = 0 } = penalties
  const result = logits.slice()
  const counts = new Map<number, number>()
  for (const token of history) counts.set(token, (counts.get(token) ?? 0) + 1)
  for (const [token, count] of counts) {
    const logit = result[token]
    if (logit === undefined || logit === OUT) continue
    result[token] = (logit > 0 ? logit / repetition : logit * repetition) - count * frequency - presence
  }
  return result
}

/** Adds to single tokens' logits. Tokens that the vocabulary does not have are passed over. */
export function addBias(logits: Float32Array, bias: Readonly<Record<number, number>>): Float32Array {
  const result = logits.slice()
  for (const [token, value] of Object.entries(bias)) {
    const at = Number(token)
    if (at < result.length) result[at] = result[at]! + value
  }
  return result
}

/** Puts every token out whose bit is not set (bit `t & 31` of word `t >> 5`), as token masks have them. */
export function keepAllowed(logits: Float32Array, mask: Uint32Array): Float32Array {
  return logits.map((logit, token) => ((mask[token >> 5]! >>> (token & 31)) & 1 ? logit : OUT))
}

/** Probabilities of the logits, which sum to 1. */
export function softmax(logits: Float32Array): Float64Array {
  let highest = OUT
  for (const logit of logits) if (logit > highest) highest = logit
  const result = new Float64Array(logits.length)
  if (highest === OUT) return result
  let sum = 0
  for (let token = 0; token < logits.length; token++) sum += result[token] = Math.exp(logits[token]! - highest)
  for (let token = 0; token < logits.length; token++) result[token] = result[token]! / sum
  return result
}

/** The token with the highest logit; -1 if every one is out. */
export function likeliest(logits: Float32Array): number {
  let best = -1
  let highest = OUT
  for (let token = 0; token < logits.length; token++) {
    if (logits[token]! > highest) {
      highest = logits[token]!
      best = token
    }
  }
  return best
}

/** Draws a token by its probability; -1 if every one is out. */
export function draw(logits: Float32Array, random: () => number): number {
  const probabilities = softmax(logits)
  let rest = random()
  let last = -1
  for (let token = 0; token < probabilities.length; token++) {
    const probability = probabilities[token]!
    if (probability === 0) continue
    last = token
    rest -= probability
    if (rest < 0) return token
  }
  return last
}

/** The tokens that are not out, likeliest first. */
export function ranked(logits: Float32Array): number[] {
  const tokens: number[] = []
  for (let token = 0; token < logits.length; token++) if (logits[token]! > OUT) tokens.push(token)
  return tokens.sort((a, b) => logits[b]! - logits[a]! || a - b)
}
