/** A value of a file's metadata; numbers of 64 bits lose what a double cannot hold. */
export type GgufValue = string | number | boolean | readonly GgufValue[]

/** Numbers as they stand in the file. `shape` has the fastest dimension first. */
export interface GgufTensor {
  readonly shape: readonly number[]
  readonly type: number
  readonly bytes: Uint8Array
}

export interface GgufFile {
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly tensors: ReadonlyMap<string, GgufTensor>
}

export const F32 = 0
export const Q8_0 = 8
/** Numbers that share a scale in Q8_0, and the bytes that they take with it. */
export const BLOCK = 32
export const BLOCK_BYTES = 34

const MAGIC = 0x46554747
const TEXT = 8
const LIST = 9

/**
 * Reads a whole GGUF file, version 2 or 3, whose numbers are floats or Q8_0.
 *
 * @throws Error that says what is wrong with it
 */
export function parseGguf(file: Uint8Array): GgufFile {
  const reader = new Reader(file)
  if (reader.u32() !== MAGIC) throw new Error("it is no GGUF file")
  const version = reader.u32()
  if (version !== 2 && version !== 3) throw new Error(`version ${version} of GGUF is not read`)
  const [tensorCount, valueCount] = [reader.count(), reader.count()]
  const metadata = new Map<string, GgufValue>()
  for (let index = 0; index < valueCount; index++) metadata.set(reader.text(), reader.value(reader.u32()))
  const places = Array.from({ length: tensorCount }, () => ({
    name: reader.text(),
    shape: Array.from({ length: reader.u32() }, () => reader.count()),
    type: reader.u32(),
    offset: reader.u64(),
  }))
  const alignment = metadata.get("general.alignment") ?? 32
  const start = Math.ceil(reader.at / Number(alignment)) * Number(alignment)
  const tensors = new Map<string, GgufTensor>()
  for (const { name, shape, type, offset } of places) {
    const size = bytesOf(type, shape, name)
    const from = start + offset
    const bytes = file.subarray(from, from + size)
    if (bytes.length < size) throw new Error("it breaks off")
    tensors.set(name, { shape, type, bytes })
  }
  return { metadata, tensors }
}

function bytesOf(type: number, shape: readonly number[], name: string): number {
  const count = shape.reduce((product, size) => product * size, 1)
  if (type === F32) return count * 4
  if (type === Q8_0 && shape[0]! % BLOCK === 0) return (count / BLOCK) * BLOCK_BYTES
  throw new Error(`${name} is of type ${type}; F32 (0) and Q8_0 (8) are read`)
}

/** Reads on from a place; whatever would lead behind the end is a file that breaks off. */
class Reader {
  at = 0
  readonly #file: Uint8Array
  readonly #view: DataView

  constructor(file: Uint8Array) {
    this.#file = file
    this.#view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  u64(): number {
    return Number(this.#view.getBigUint64(this.#take(8), true))
  }

  /** How many of something follow: no more than bytes are left, so that a damaged file asks for no memory. */
  count(): number {
    const count = this.u64()
    if (count > this.#file.length) throw new Error("it breaks off")
    return count
  }

  text(): string {
    const length = this.count()
    const from = this.#take(length)
    return Buffer.from(this.#file.buffer, this.#file.byteOffset + from, length).toString("utf8")
  }

  value(type: number): GgufValue {
    const view = this.#view
    if (type === TEXT) return this.text()
    if (type === LIST) {
      const of = this.u32()
      if (of === LIST) throw new Error("its metadata has lists of lists, which are not read")
      return Array.from({ length: this.count() }, () => this.value(of))
    }
    switch (type) {
      case 0:
        return view.getUint8(this.#take(1))
      case 1:
        return view.getInt8(this.#take(1))
      case 2:
        return view.getUint16(this.#take(2), true)
      case 3:
        return view.getInt16(this.#take(2), true)
      case 4:
        return this.u32()
      case 5:
        return view.getInt32(this.#take(4), true)
      case 6:
        return view.getFloat32(this.#take(4), true)
      case 7:
        return view.getUint8(this.#take(1)) !== 0
      case 10:
        return this.u64()
      case 11:
        return Number(view.getBigInt64(this.#take(8), true))
      case 12:
        return view.getFloat64(this.#take(8), true)
      default:
        throw new Error(`its metadata has a value of type ${type}, which there is not`)
    }
  }

  #take(bytes: number): number {
    const from = this.at
    if (from + bytes > this.#file.length) throw new Error("it breaks off")
    this.at += bytes
    return from
  }
}
