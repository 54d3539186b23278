import { BLOCK, BLOCK_BYTES, F32, type GgufTensor } from "./gguf-file.ts"
import { fromHalf, roundToHalf } from "./half.ts"

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

/** @throws Error where the shape is another one */
export function matrixOf(tensor: GgufTensor | undefined, name: string, columns: number, rows: number): Matrix {
  if (tensor?.shape.length !== 2 || tensor.shape[0] !== columns || tensor.shape[1] !== rows)
    throw new Error(`${name} is not of ${columns} × ${rows}`)
  return tensor.type === F32 ? new Floats(tensor, rows, columns) : new Bytes(tensor, rows, columns)
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
  readonly #values: Int8Array
  readonly #scales: Float32Array

  constructor({ bytes }: GgufTensor, rows: number, columns: number) {
    this.rows = rows
    this.columns = columns
    const blocks = (rows * columns) / BLOCK
    this.#values = new Int8Array(rows * columns)
    this.#scales = new Float32Array(blocks)
    for (let block = 0; block < blocks; block++) {
      const from = block * BLOCK_BYTES
      this.#scales[block] = fromHalf(bytes[from]! | (bytes[from + 1]! << 8))
      this.#values.set(bytes.subarray(from + 2, from + BLOCK_BYTES), block * BLOCK)
    }
  }

  multiply(vectors: Float32Array, count: number): Float32Array {
    const { rows, columns } = this
    const rounded = new Int8Array(count * columns)
    const scales = new Float32Array((count * columns) / BLOCK)
    roundToBytes(vectors, rounded, scales)
    const product = new Float32Array(count * rows)
    for (let row = 0; row < rows; row++)
      for (let vector = 0; vector < count; vector++)
        product[vector * rows + row] = this.#product(row, rounded, scales, vector * columns)
    return product
  }

  /** Four products in a statement, and whole numbers throughout: this is where all the time goes. */
  #product(row: number, vector: Int8Array, vectorScales: Float32Array, start: number): number {
    const { columns } = this
    const values = this.#values
    const scales = this.#scales
    const from = row * columns
    let scale = from / BLOCK
    let vectorScale = start / BLOCK
    let product = 0
    for (let block = 0; block < columns; block += BLOCK) {
      let sum = 0
      for (let index = block; index < block + BLOCK; index += 4) {
        const [a, b] = [from + index, start + index]
        sum +=
          (values[a]! * vector[b]! +
            values[a + 1]! * vector[b + 1]! +
            values[a + 2]! * vector[b + 2]! +
            values[a + 3]! * vector[b + 3]!) |
          0
      }
      product += sum * scales[scale++]! * vectorScales[vectorScale++]!
    }
    return product
  }

  row(index: number, into: Float32Array, at: number): void {
    for (let column = 0; column < this.columns; column++) {
      const place = index * this.columns + column
      into[at + column] = this.#values[place]! * this.#scales[Math.floor(place / BLOCK)]!
    }
  }
}

function roundToBytes(vectors: Float32Array, into: Int8Array, scales: Float32Array): void {
  for (let block = 0; block < scales.length; block++) {
    const from = block * BLOCK
    let most = 0
    for (let index = from; index < from + BLOCK; index++) most = Math.max(most, Math.abs(vectors[index]!))
    const factor = most === 0 ? 0 : Math.fround(127 / most)
    scales[block] = roundToHalf(Math.fround(most / 127))
    for (let index = from; index < from + BLOCK; index++)
      into[index] = roundToEven(Math.fround(vectors[index]! * factor))
  }
}

/** Added to a number of moderate size and taken away again, it leaves a whole one, of two as near the even one. */
const WHOLE = 1.5 * 2 ** 52
const roundToEven = (value: number): number => value + WHOLE - WHOLE
