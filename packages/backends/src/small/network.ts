import type { GgufFile } from "./gguf-file.ts"
import { roundToHalf } from "./half.ts"
import { Kernel } from "./kernel.ts"
import { kernelBytes, type Matrix, matrixOf, vectorOf } from "./matrix.ts"

/** What a network is made of, as its file says. */
export interface NetworkShape {
  readonly vocabulary: number
  readonly width: number
  readonly inner: number
  readonly layers: number
  readonly heads: number
  /** Heads that keep keys and values; several of the others share one of them. */
  readonly keptHeads: number
  /** Numbers of a head that say where a token stands, in pairs. */
  readonly turned: number
  readonly turnBase: number
  readonly epsilon: number
  /** Tokens that it was trained with. */
  readonly window: number
}

interface Layer {
  readonly attentionNorm: Float32Array
  readonly query: Matrix
  readonly key: Matrix
  readonly value: Matrix
  readonly attentionOutput: Matrix
  readonly innerNorm: Float32Array
  readonly gate: Matrix
  readonly up: Matrix
  readonly down: Matrix
}

/** What was made of the tokens that were read, layer by layer; the next ones look at it. */
export interface Memory {
  readonly keys: readonly Float32Array[]
  readonly values: readonly Float32Array[]
}

/** A network of Llama's architecture, evaluated in this process without any binary. */
export interface Network {
  readonly shape: NetworkShape
  memory(tokens: number): Memory
  /**
   * Reads tokens that stand from `place` on, behind those that the memory holds.
   *
   * @returns what the network makes of each, from which `logits` tells what comes next
   */
  read(tokens: readonly number[], place: number, memory: Memory): Float32Array
  /** @param index of the token among those that were read last */
  logits(read: Float32Array, index: number): Float32Array
}

/** @throws Error that says which part of the file is missing or another one */
export function networkOf({ metadata, tensors }: GgufFile): Network {
  const shape = shapeOf(metadata)
  const { width, inner, vocabulary, heads, keptHeads } = shape
  const kept = (width / heads) * keptHeads
  const kernel = new Kernel([...tensors.values()].reduce((sum, tensor) => sum + kernelBytes(tensor), 0))
  const matrix = (name: string, columns: number, rows: number): Matrix =>
    matrixOf(tensors.get(`${name}.weight`), [columns, rows], kernel)
  const vector = (name: string): Float32Array => vectorOf(tensors.get(`${name}.weight`), name, width)
  const embedding = matrix("token_embd", width, vocabulary)
  const layers = Array.from({ length: shape.layers }, (_, index): Layer => {
    const part = `blk.${index}.`
    return {
      attentionNorm: vector(`${part}attn_norm`),
      query: matrix(`${part}attn_q`, width, width),
      key: matrix(`${part}attn_k`, width, kept),
      value: matrix(`${part}attn_v`, width, kept),
      attentionOutput: matrix(`${part}attn_output`, width, width),
      innerNorm: vector(`${part}ffn_norm`),
      gate: matrix(`${part}ffn_gate`, width, inner),
      up: matrix(`${part}ffn_up`, width, inner),
      down: matrix(`${part}ffn_down`, inner, width),
    }
  })
  const norm = vector("output_norm")
  const output = tensors.has("output.weight") ? matrix("output", width, vocabulary) : embedding
  return {
    shape,
    memory: (tokens) => ({
      keys: layers.map(() => new Float32Array(tokens * kept)),
      values: layers.map(() => new Float32Array(tokens * kept)),
    }),
    read(tokens, place, memory) {
      const state = new Float32Array(tokens.length * width)
      for (const [index, token] of tokens.entries()) embedding.row(token, state, index * width)
      for (const [index, layer] of layers.entries())
        throughLayer(layer, shape, state, { place, keys: memory.keys[index]!, values: memory.values[index]! })
      return state
    },
    logits: (read, index) =>
      output.multiply(normed(read.subarray(index * width, (index + 1) * width), norm, shape.epsilon), 1),
  }
}

function shapeOf(metadata: GgufFile["metadata"]): NetworkShape {
  const architecture = metadata.get("general.architecture")
  if (architecture !== "llama") throw new Error(`its architecture is ${String(architecture)}; llama alone is read`)
  const number = (key: string, otherwise?: number): number => {
    const value = metadata.get(`llama.${key}`) ?? otherwise
    if (typeof value !== "number" || !(value > 0)) throw new Error(`its metadata has no llama.${key}`)
    return value
  }
  const tokens = metadata.get("tokenizer.ggml.tokens")
  const [width, heads] = [number("embedding_length"), number("attention.head_count")]
  const shape = {
    vocabulary: Array.isArray(tokens) ? tokens.length : number("vocab_size"),
    width,
    inner: number("feed_forward_length"),
    layers: number("block_count"),
    heads,
    keptHeads: number("attention.head_count_kv", heads),
    turned: number("rope.dimension_count", width / heads),
    turnBase: number("rope.freq_base", 10_000),
    epsilon: number("attention.layer_norm_rms_epsilon"),
    window: number("context_length"),
  }
  const whole = [width / heads, heads / shape.keptHeads, shape.turned / 2, shape.layers]
  if (!whole.every(Number.isInteger) || shape.turned > width / heads) throw new Error("its sizes do not fit together")
  return shape
}

interface Reading {
  readonly place: number
  readonly keys: Float32Array
  readonly values: Float32Array
}

/** Adds to the state of each token what a layer makes of it. */
function throughLayer(layer: Layer, shape: NetworkShape, state: Float32Array, reading: Reading): void {
  const { width, epsilon, heads, keptHeads } = shape
  const count = state.length / width
  const seen = normed(state, layer.attentionNorm, epsilon)
  const query = turned(layer.query.multiply(seen, count), heads, shape, reading.place)
  const kept = layer.key.rows
  keep(turned(layer.key.multiply(seen, count), keptHeads, shape, reading.place), reading.keys, reading.place * kept)
  keep(layer.value.multiply(seen, count), reading.values, reading.place * kept)
  add(state, layer.attentionOutput.multiply(attended(query, shape, kept, reading), count))
  const inside = normed(state, layer.innerNorm, epsilon)
  const gate = layer.gate.multiply(inside, count)
  const up = layer.up.multiply(inside, count)
  for (let index = 0; index < gate.length; index++) {
    const value = gate[index]!
    gate[index] = (value / (1 + Math.exp(-value))) * up[index]!
  }
  add(state, layer.down.multiply(gate, count))
}

/** Each vector by its root mean square, times the weights. */
function normed(vectors: Float32Array, weights: Float32Array, epsilon: number): Float32Array {
  const width = weights.length
  const result = new Float32Array(vectors.length)
  for (let from = 0; from < vectors.length; from += width) {
    let sum = 0
    for (let index = from; index < from + width; index++) sum += vectors[index]! * vectors[index]!
    const factor = Math.fround(1 / Math.sqrt(sum / width + epsilon))
    for (let index = 0; index < width; index++)
      result[from + index] = Math.fround(vectors[from + index]! * factor) * weights[index]!
  }
  return result
}

/** Turns pairs of numbers of each head by an angle that says where the token stands. */
function turned(vectors: Float32Array, heads: number, shape: NetworkShape, place: number): Float32Array {
  const size = shape.width / shape.heads
  const count = vectors.length / (heads * size)
  for (let pair = 0; pair < shape.turned / 2; pair++) {
    const speed = shape.turnBase ** ((-2 * pair) / shape.turned)
    for (let token = 0; token < count; token++) {
      const [cosine, sine] = [Math.cos((place + token) * speed), Math.sin((place + token) * speed)]
      for (let head = 0; head < heads; head++) {
        const at = (token * heads + head) * size + 2 * pair
        const [first, second] = [vectors[at]!, vectors[at + 1]!]
        vectors[at] = first * cosine - second * sine
        vectors[at + 1] = first * sine + second * cosine
      }
    }
  }
  return vectors
}

/** Keys and values are kept in 16 bits each. */
function keep(vectors: Float32Array, memory: Float32Array, at: number): void {
  for (let index = 0; index < vectors.length; index++) memory[at + index] = roundToHalf(vectors[index]!)
}

/**
 * What each head finds at the tokens up to its own, by how well their keys answer its query: a mean of their values,
 * made on the way and in 16 bits, as llama.cpp's flash attention has it.
 */
function attended(query: Float32Array, shape: NetworkShape, kept: number, reading: Reading): Float32Array {
  const { heads, keptHeads, width } = shape
  const size = width / heads
  const found = new Float32Array(query.length)
  for (let at = 0; at < query.length; at += size) {
    const head = (at / size) % heads
    const own = Math.floor(at / width) + reading.place
    const shared = Math.floor((head * keptHeads) / heads) * size
    for (let index = at; index < at + size; index++) query[index] = roundToHalf(query[index]!)
    let [most, whole] = [Number.NEGATIVE_INFINITY, 0]
    for (let other = 0; other <= own; other++) {
      const from = other * kept + shared
      let answer = 0
      for (let index = 0; index < size; index++) answer += query[at + index]! * reading.keys[from + index]!
      answer /= Math.sqrt(size)
      const before = most
      most = Math.max(most, answer)
      const weight = Math.fround(Math.exp(answer - most))
      if (answer > before) {
        const lowered = Math.fround(Math.exp(before - answer))
        for (let index = at; index < at + size; index++) found[index] = roundToHalf(found[index]! * lowered)
        whole *= lowered
      }
      whole += weight
      for (let index = 0; index < size; index++)
        found[at + index] = roundToHalf(found[at + index]! + weight * reading.values[from + index]!)
    }
    for (let index = at; index < at + size; index++) found[index]! /= whole
  }
  return found
}

function add(state: Float32Array, more: Float32Array): void {
  for (let index = 0; index < state.length; index++) state[index]! += more[index]!
}
