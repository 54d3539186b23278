import { createGbnfMaskEngine, isAllowed, type GbnfTokenMatcher } from "@toolwright/logits"
import { messageOf, type TokenTrace } from "@toolwright/toolbox"
import { readPrompt, type LlamaEngine } from "./engine.ts"
import type { LlamaVocabulary } from "./vocabulary.ts"

/** What was written, and under what. */
export interface WrittenReply {
  readonly prompt: string
  readonly tokens: readonly number[]
  /** The model ended it itself. */
  readonly ended: boolean
  /** GBNF text. */
  readonly grammar: string | undefined
}

/** A chance of one. */
const ALL = 10_000
/** Others that are kept of each place, and how likely one has to be for it, in ten-thousandths. */
const MOST_OTHERS = 5
const LEAST_CHANCE = 10
/** Logits that are held at once: of a large vocabulary those of a few tokens. */
const MOST_LOGITS = 2_000_000
/** Longer grammars would take longer to follow than the reply took to write. */
const MOST_GRAMMAR = 4_000_000

/**
 * Looks again at a reply that was written: its tokens are evaluated after the prompt in one go, so that the decoding
 * itself is the same whether or not anybody wants to know. The grammar is followed by our own matcher.
 *
 * @throws the signal's reason when cancelled; anything else is said in the trace
 */
export async function traceReply(
  engine: LlamaEngine,
  reply: WrittenReply,
  signal: AbortSignal | undefined,
): Promise<TokenTrace> {
  const trace = new Trace(engine, reply)
  try {
    await evaluate(engine, reply, trace, signal)
  } catch (thrown) {
    signal?.throwIfAborted()
    trace.problem ??= messageOf(thrown)
  }
  return trace.result()
}

async function evaluate(
  engine: LlamaEngine,
  { prompt, tokens, ended }: WrittenReply,
  trace: Trace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const look = { generateNext: { logits: true as const } }
  const size = engine.vocabulary.texts.length
  const atOnce = Math.max(1, Math.floor(MOST_LOGITS / Math.max(1, size)))
  await engine.withSequence(async ({ sequence }) => {
    const before = await readPrompt(sequence, engine.tokenize(prompt), signal)
    const last = before.pop()!
    if (before.length > 0) await sequence.evaluateWithoutGeneratingNewTokens(before)
    // What stands before each token, and the token; an end has no number of its own here.
    const input = [last, ...tokens].slice(0, ended ? undefined : -1)
    for (let from = 0; from < input.length; from += atOnce) {
      signal?.throwIfAborted()
      const piece = input.slice(from, from + atOnce).map((token): [number, typeof look] => [token, look])
      const outputs = await sequence.controlledEvaluate(piece)
      for (const [index, output] of outputs.entries()) trace.add(tokens[from + index], output?.next.logits ?? new Map())
    }
  })
}

/** Puts a trace together, place by place. */
class Trace {
  problem: string | undefined
  readonly #vocabulary: LlamaVocabulary
  readonly #ends: ReadonlySet<number>
  readonly #places = new Map<string, number>()
  readonly #tokens: number[] = []
  readonly #doubts: number[] = []
  readonly #others: Record<number, number[]> = {}
  readonly #allowed: number[] = []
  readonly #removed: number[] = []
  #matcher: GbnfTokenMatcher | undefined
  #ended = false

  constructor(engine: LlamaEngine, { grammar }: WrittenReply) {
    this.#vocabulary = engine.vocabulary
    this.#ends = new Set(engine.vocabulary.endTokens)
    if (grammar !== undefined) this.#matcher = this.#follow(engine, grammar)
  }

  /** @param token undefined where the model ended the reply */
  add(token: number | undefined, logits: ReadonlyMap<number, number>): void {
    const written = token ?? this.#likeliestEnd(logits)
    const most = Math.max(...top(logits, 1).map(([, logit]) => logit))
    const weightOf = (logit: number): number => Math.exp(logit - most)
    let whole = 0
    for (const logit of logits.values()) whole += weightOf(logit)
    const chance = (id: number): number =>
      Math.round((ALL * weightOf(logits.get(id) ?? Number.NEGATIVE_INFINITY)) / whole)
    const mask = this.#matcher?.mask()
    if (mask !== undefined) {
      let [count, inside] = [0, 0]
      for (const [id, logit] of logits) {
        if (!isAllowed(mask, id)) continue
        count++
        inside += weightOf(logit)
      }
      this.#allowed.push(count)
      this.#removed.push(ALL - Math.round((ALL * inside) / whole))
    }
    const place = this.#tokens.push(this.#placeOf(written)) - 1
    this.#doubts.push(ALL - chance(written))
    const others = top(logits, MOST_OTHERS + 1)
      .map(([id]) => id)
      .filter((id) => id !== written && chance(id) >= LEAST_CHANCE)
      .slice(0, MOST_OTHERS)
    if (others.length > 0)
      this.#others[place] = others.flatMap((id) => {
        const text = this.#placeOf(id)
        return [mask === undefined || isAllowed(mask, id) ? text : ~text, chance(id)]
      })
    if (token === undefined) this.#ended = true
    else if (this.#matcher?.accept(token) === false) this.#lose("The grammar could not be followed to the end.")
  }

  result(): TokenTrace {
    return {
      texts: [...this.#places.keys()],
      tokens: this.#tokens,
      doubts: this.#doubts,
      ...(this.#allowed.length === 0 ? {} : { allowed: this.#allowed, removed: this.#removed }),
      others: this.#others,
      ...(this.#ended ? { ended: true } : {}),
      ...(this.problem === undefined ? {} : { problem: this.problem }),
    }
  }

  #follow(engine: LlamaEngine, grammar: string): GbnfTokenMatcher | undefined {
    try {
      if (grammar.length > MOST_GRAMMAR) this.problem = "The grammar is too long to be followed."
      else return createGbnfMaskEngine(grammar, engine.grammarTokenizer).matcher()
    } catch (thrown) {
      this.problem = `The grammar could not be followed: ${messageOf(thrown)}`
    }
    return undefined
  }

  #lose(problem: string): void {
    this.problem = problem
    this.#matcher = undefined
  }

  #likeliestEnd(logits: ReadonlyMap<number, number>): number {
    const ends = [...this.#ends]
    return ends.reduce(
      (best, id) => ((logits.get(id) ?? -Infinity) > (logits.get(best) ?? -Infinity) ? id : best),
      ends[0]!,
    )
  }

  #placeOf(token: number): number {
    const text = this.#textOf(token)
    const known = this.#places.get(text)
    if (known !== undefined) return known
    this.#places.set(text, this.#places.size)
    return this.#places.size - 1
  }

  /** A token that is a part of a character alone is shown by its bytes. */
  #textOf(token: number): string {
    const bytes = this.#vocabulary.bytes[token]
    if (bytes === undefined) return this.#vocabulary.texts[token] ?? `<[${token}]>`
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch {
      return `<${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")}>`
    }
  }
}

/** The highest, highest first. */
function top(logits: ReadonlyMap<number, number>, most: number): [id: number, logit: number][] {
  const best: [number, number][] = []
  for (const entry of logits) {
    if (best.length === most && entry[1] <= best[most - 1]![1]) continue
    const at = best.findIndex(([, logit]) => logit < entry[1])
    best.splice(at < 0 ? best.length : at, 0, entry)
    best.length = Math.min(best.length, most)
  }
  return best
}
