import { BLOCK, BLOCK_BYTES, F32, type GgufTensor } from "./gguf-file.ts"
import { fromHalf, roundToHalf } from "./half.ts"
import type { Blocks, Kernel } from "./kernel.ts"

/**
 * Weights by which vectors are multiplied, and read row by row. Vectors stand behind each other in one array. It is
 * calculated as llama.cpp does on a processor, up to the order of sums, so that both write the same.
 */
export interface Matrix {
  readonly rows: number
  readonly columns: number
  /** @returns `count` vectors of `rows` numbers */
  multiply(vectors: Float32Array, count: number): Float32Array
  row(index: number, into: Float32Array, at: number): void
}

/** How long a row is, and how many there are. */
type Size = readonly [columns: number, rows: number]

/** @throws Error where the shape is another one */
export function matrixOf(tensor: GgufTensor | undefined, [columns, rows]: Size, kernel: Kernel): Matrix {
  if (tensor?.shape.length !== 2 || tensor.shape[0] !== columns || tensor.shape[1] !== rows)
    throw new Error(`its tensors do not fit together: one of ${columns} × ${rows} is missing`)
  return tensor.type === F32 ? new Floats(tensor, rows, columns) : new Bytes(tensor, rows, columns, kernel)
}

/** @throws Error where the shape or the type is another one */
export function vectorOf(tensor: GgufTensor | undefined, name: string, size: number): Float32Array {
  if (tensor?.shape.length !== 1 || tensor.shape[0] !== size || tensor.type !== F32)
    throw new Error(`${name} is not of ${size} floats`)
  return floatsOf(tensor)
}

/** A copy: a file's numbers need not lie where an array of floats may begin. */
function floatsOf({ bytes }: GgufTensor): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer)
}

class Floats implements Matrix {
  readonly rows: number
  readonly columns: number
  readonly #values: Float32Array

  constructor(tensor: GgufTensor, rows: number, columns: number) {
    this.rows = rows
    this.columns = columns
    this.#values = floatsOf(tensor)
  }

  multiply(vectors: Float32Array, count: number): Float32Array {
    const { rows, columns } = this
    const values = this.#values
    const product = new Float32Array(count * rows)
    for (let row = 0; row < rows; row++) {
      const from = row * columns
      for (let vector = 0; vector < count; vector++) {
        const start = vector * columns
        let sum = 0
        for (let index = 0; index < columns; index++) sum += values[from + index]! * vectors[start + index]!
        product[vector * rows + row] = sum
      }
    }
    return product
  }

  row(index: number, into: Float32Array, at: number): void {
    into.set(this.#values.subarray(index * this.columns, (index + 1) * this.columns), at)
  }
}

/** Q8_0: blocks of 32 whole numbers with a scale each. What they are multiplied by is rounded to the same form. */
class Bytes implements Matrix {
  readonly rows: number
  readonly columns: number
  readonly #kernel: Kernel
  readonly #weights: Blocks
  readonly #vector: Blocks
  readonly #product: Float32Array

  constructor({ bytes }: GgufTensor, rows: number, columns: number, kernel: Kernel) {
    this.rows = rows
    this.columns = columns
    this.#kernel = kernel
    const blocks = (rows * columns) / BLOCK
    this.#weights = { values: kernel.bytes(rows * columns), scales: kernel.floats(blocks) }
    this.#vector = { values: kernel.bytes(columns), scales: kernel.floats(columns / BLOCK) }
    this.#product = kernel.floats(rows)
    for (let block = 0; block < blocks; block++) {
      const from = block * BLOCK_BYTES
      this.#weights.scales[block] = fromHalf(bytes[from]! | (bytes[from + 1]! << 8))
      this.#weights.values.set(bytes.subarray(from + 2, from + BLOCK_BYTES), block * BLOCK)
    }
  }

  multiply(vectors: Float32Array, count: number): Float32Array {
    const product = new Float32Array(count * this.rows)
    for (let vector = 0; vector < count; vector++) {
      roundToBytes(vectors.subarray(vector * this.columns, (vector + 1) * this.columns), this.#vector)
      this.#kernel.multiply(this.#weights, this.#vector, this.#product)
      product.set(this.#product, vector * this.rows)
    }
    return product
  }

  row(index: number, into: Float32Array, at: number): void {
    const { values, scales } = this.#weights
    for (let column = 0; column < this.columns; column++) {
      const place = index * this.columns + column
      into[at + column] = values[place]! * scales[Math.floor(place / BLOCK)]!
    }
  }
}

/** What a matrix takes of a kernel's memory at most. */
export function kernelBytes({ type, shape, bytes }: GgufTensor): number {
  const [columns = 0, rows = 0] = shape
  return type === F32 ? 0 : bytes.length * 1.1 + columns * 2 + rows * 4 + 256
}

function roundToBytes(vector: Float32Array, { values, scales }: Blocks): void {
  for (let block = 0; block < scales.length; block++) {
    const from = block * BLOCK
    let most = 0
    for (let index = from; index < from + BLOCK; index++) most = Math.max(most, Math.abs(vector[index]!))
    const factor = most === 0 ? 0 : Math.fround(127 / most)
    scales[block] = roundToHalf(Math.fround(most / 127))
    for (let index = from; index < from + BLOCK; index++)
      values[index] = roundToEven(Math.fround(vector[index]! * factor))
  }
}

/** Added to a number of moderate size and taken away again, it leaves a whole one, of two as near the even one. */
const WHOLE = 1.5 * 2 ** 52
const roundToEven = (value: number): number => value + WHOLE - WHOLE
