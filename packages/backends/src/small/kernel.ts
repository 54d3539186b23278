/**
 * The one loop in which all the time goes, as WebAssembly with 128-bit registers: rows of whole numbers in blocks of
 * 32, each block with its scale, times a vector of the same form. Assembled here, since it is short: the text beside
 * the bytes is what they say.
 */

const [W, WS, X, XS, OUT, ROWS, BLOCKS, LEFT, XP, XSP] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
const [SUM, PART, MINE, YOURS] = [10, 11, 12, 13]
const I32 = 0x7f
const V128 = 0x7b
const END = 0x0b
const LOOP = [0x03, 0x40]

const code = (...parts: readonly (readonly number[])[]): number[] => parts.flat()
const get = (local: number): number[] => [0x20, local]
const set = (local: number): number[] => [0x21, local]
const simd = (...bytes: number[]): number[] => [0xfd, ...bytes]
const loadFloat = [0x2a, 2, 0]
const multiplyFloats = [0x94]
const addFloats = [0x92]
const zeros = simd(0x0c, ...new Uint8Array(16))
const loadBytes = (offset: number): number[] => simd(0x00, 0, offset)
const addLane = (index: number): number[] => code(get(SUM), simd(0x1f, index), index === 0 ? [] : addFloats)
const step = (local: number, by: number): number[] => code(get(local), [0x41, by, 0x6a], set(local))
/** One less; the loop goes on while any are left. */
const again = (local: number): number[] => code(get(local), [0x41, 1, 0x6b, 0x22, local, 0x0d, 0, END])
/** `i16x8.extmul_{low,high}_i8x16_s`, then `i32x4.extadd_pairwise_i16x8_s` and `i32x4.add` to the part. */
const addProducts = (half: number): number[] =>
  code(get(PART), get(MINE), get(YOURS), simd(half, 0x01), simd(0x7e), simd(0xae, 0x01), set(PART))
const sixteen = (offset: number): number[] =>
  code(
    code(get(W), loadBytes(offset), set(MINE)),
    code(get(XP), loadBytes(offset), set(YOURS)),
    code(addProducts(0x9c), addProducts(0x9d)),
  )

const block = code(
  code(zeros, set(PART), sixteen(0), sixteen(16)),
  // sum += float(part) × (scale of the weights × scale of the vector)
  code(get(SUM), get(PART), simd(0xfa, 0x01)),
  code(get(WS), loadFloat, get(XSP), loadFloat, multiplyFloats, simd(0x13)),
  code(simd(0xe6, 0x01), simd(0xe4, 0x01), set(SUM)),
  code(step(W, 32), step(XP, 32), step(WS, 4), step(XSP, 4)),
)
const row = code(
  code(zeros, set(SUM), get(BLOCKS), set(LEFT), get(X), set(XP), get(XS), set(XSP)),
  code(LOOP, block, again(LEFT)),
  code(get(OUT), addLane(0), addLane(1), addLane(2), addLane(3), [0x38, 2, 0], step(OUT, 4)),
)
const body = code([2, 3, I32, 4, V128], LOOP, row, again(ROWS), [END])

const section = (id: number, ...parts: readonly (readonly number[])[]): number[] => {
  const content = code(...parts)
  return code([id], unsigned(content.length), content)
}
const text = (word: string): number[] => [word.length, ...Buffer.from(word)]
const MODULE = Uint8Array.from(
  code(
    [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    section(1, [1, 0x60, 7, I32, I32, I32, I32, I32, I32, I32, 0]),
    section(2, [1], text("of"), text("memory"), [2, 0, 1]),
    section(3, [1, 0]),
    section(7, [1], text("multiply"), [0, 0]),
    section(10, [1], unsigned(body.length), body),
  ),
)

function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >> 7)]
}

const PAGE = 65_536

/** What is used of the engine's own interface, of which there are types for browsers alone. */
interface Assembly {
  Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer }
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> }
}

/** Memory that is handed out piece by piece, and the loop over it. */
export class Kernel {
  readonly #memory: { readonly buffer: ArrayBuffer }
  readonly #multiply: (...places: number[]) => void
  #used = 0

  /** @param bytes of all that will be asked for */
  constructor(bytes: number) {
    const { WebAssembly: assembly } = globalThis as unknown as { WebAssembly?: Assembly }
    if (assembly === undefined) throw new Error("WebAssembly is switched off in this process")
    this.#memory = new assembly.Memory({ initial: Math.ceil((bytes + PAGE) / PAGE) })
    const instance = new assembly.Instance(new assembly.Module(MODULE), { of: { memory: this.#memory } })
    this.#multiply = instance.exports["multiply"] as (...places: number[]) => void
  }

  bytes(count: number): Int8Array {
    return new Int8Array(this.#memory.buffer, this.#take(count), count)
  }

  floats(count: number): Float32Array {
    return new Float32Array(this.#memory.buffer, this.#take(count * 4), count)
  }

  /** Each row of weights times the vector; all parts are of this memory. */
  multiply(weights: Blocks, vector: Blocks, into: Float32Array): void {
    const { values, scales } = weights
    const places = [values, scales, vector.values, vector.scales, into].map(({ byteOffset }) => byteOffset)
    this.#multiply(...places, into.length, vector.scales.length)
  }

  #take(bytes: number): number {
    const from = this.#used
    this.#used = Math.ceil((from + bytes) / 16) * 16
    if (this.#used > this.#memory.buffer.byteLength) throw new Error("its parts take more than they should")
    return from
  }
}

/** Whole numbers in blocks of 32, and the scale of each block. */
export interface Blocks {
  readonly values: Int8Array
  readonly scales: Float32Array
}
