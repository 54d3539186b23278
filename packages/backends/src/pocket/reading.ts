import { allowedTokens, createMaskEngine, type Grammar } from "@toolwright/logits"
import { readPrompt, type LlamaEngine } from "../llama/engine.ts"
import { generateMasked } from "../llama/masked.ts"
import { createTokenText } from "../llama/token-text.ts"
import { callIn } from "./call.ts"

/** How sure the model was of one token of its reply. */
export interface Choice {
  /** Where in the reply its text begins. */
  readonly at: number
  /** Of the token, among those that the grammar lets through here. */
  readonly probability: number
  /** What the model gave, of all that it could have written, to what the grammar lets through. */
  readonly room: number
  /** The next best token that the grammar lets through. */
  readonly other?: { readonly token: number; readonly probability: number }
}

/**
 * Measures a reply: one evaluation of its tokens after the prompt, each against what the grammar would have let
 * through.
 *
 * @returns nothing where the grammar does not let the reply through
 */
export async function measureReply(
  engine: LlamaEngine,
  prompt: string,
  reply: string,
  grammar: Grammar,
): Promise<Choice[] | undefined> {
  const prefix = engine.tokenize(prompt)
  const tokens = engine.tokenize(prompt + reply).slice(prefix.length)
  if (tokens.length === 0) return undefined
  const outputs = await engine.withSequence(async ({ sequence }) => {
    const rest = await readPrompt(sequence, prefix)
    const look = { generateNext: { logits: true as const } }
    const input = [...rest, ...tokens.slice(0, -1)]
    const all = await sequence.controlledEvaluate(
      input.map((token, index) => (index < rest.length - 1 ? token : ([token, look] as [number, typeof look]))),
    )
    return all.slice(rest.length - 1)
  })
  const matcher = createMaskEngine(grammar, engine.tokenizer).matcher()
  const text = createTokenText(engine.vocabulary)
  const choices: Choice[] = []
  let at = 0
  for (const [index, token] of tokens.entries()) {
    const choice = chosen(outputs[index]?.next.logits ?? new Map(), allowedTokens(matcher.mask()), token, at)
    if (choice === undefined) return undefined
    choices.push(choice)
    matcher.accept(token)
    at += text.push(token).length
  }
  return choices
}

function chosen(
  logits: ReadonlyMap<number, number>,
  allowed: readonly number[],
  token: number,
  at: number,
): Choice | undefined {
  if (!allowed.includes(token)) return undefined
  const most = Math.max(...logits.values())
  const weight = (id: number): number => Math.exp((logits.get(id) ?? Number.NEGATIVE_INFINITY) - most)
  let whole = 0
  for (const id of logits.keys()) whole += weight(id)
  let inside = 0
  let other: { token: number; weight: number } | undefined
  for (const id of allowed) {
    const own = weight(id)
    inside += own
    if (id !== token && own > (other?.weight ?? 0)) other = { token: id, weight: own }
  }
  return {
    at,
    probability: inside === 0 ? 0 : weight(token) / inside,
    room: inside / whole,
    ...(other === undefined ? {} : { other: { token: other.token, probability: other.weight / inside } }),
  }
}

/** How many of the closest choices are tried for a second reading. */
const MOST_TRIES = 3

/**
 * The next best call: the reply up to its closest choice, the other token there, and what follows from it.
 *
 * @returns nothing where the next best is words, or the same call
 */
export async function secondReading(
  engine: LlamaEngine,
  prompt: string,
  reply: string,
  choices: readonly Choice[],
  grammar: Grammar,
): Promise<string | undefined> {
  const first = JSON.stringify(callIn(reply))
  const closest = choices
    .filter(({ other }) => other !== undefined)
    .toSorted((a, b) => b.other!.probability - a.other!.probability)
    .slice(0, MOST_TRIES)
  for (const { at, other } of closest) {
    const begin = reply.slice(0, at) + createTokenText(engine.vocabulary).push(other!.token)
    const constraint = createMaskEngine(grammar, engine.tokenizer).matcher()
    const tokens = engine.tokenize(prompt + begin).slice(engine.tokenize(prompt).length)
    if (!tokens.every((token) => constraint.accept(token) !== false)) continue
    const { text } = await generateMasked(engine, prompt + begin, {
      constraint,
      sampler: { temperature: 0 },
      maxTokens: 160,
    })
    const call = callIn(begin + text)
    if (call !== undefined && JSON.stringify(call) !== first) return begin + text
  }
  return undefined
}

/** What a reply's choices are about, each with the product of its tokens' probabilities. */
export interface Parts {
  /** That it is a call at all. */
  readonly call: number
  readonly tool: number
  /** The least sure of the arguments' values. */
  readonly argument: number
  /** Which arguments there are. */
  readonly shape: number
  /** The least that the model gave to what the grammar lets through. */
  readonly room: number
}

export function partsOf(reply: string, choices: readonly Choice[]): Parts {
  const open = reply.indexOf('{"name": "') + 10
  const named = reply.indexOf('"', open)
  const values = valueRanges(reply, named)
  const within = (from: number, to: number): number =>
    choices.reduce((product, { at, probability }) => (at >= from && at < to ? product * probability : product), 1)
  const all = within(named, Infinity)
  const ofValues = values.map(([from, to]) => within(from, to))
  const shape = choices.reduce(
    (product, { at, probability }) =>
      at >= named && !values.some(([from, to]) => at >= from && at < to) ? product * probability : product,
    1,
  )
  return {
    call: within(0, open),
    tool: within(open, named),
    argument: Math.min(1, ...ofValues),
    shape: all === 0 ? 0 : shape,
    room: Math.min(1, ...choices.map(({ room }) => room)),
  }
}

/** Where the values of the arguments stand: from behind a name's colon to the next name, or the end. */
function valueRanges(reply: string, from: number): [number, number][] {
  const begin = reply.indexOf('"arguments": {', from) + 14
  const names = [...reply.slice(begin).matchAll(/"\w+": /g)].map(({ index, 0: name }) => ({
    name: begin + index,
    value: begin + index + name.length,
  }))
  const end = reply.lastIndexOf("}", reply.lastIndexOf("}") - 1)
  return names.map(({ value }, index) => [value, names[index + 1]?.name ?? end])
}
