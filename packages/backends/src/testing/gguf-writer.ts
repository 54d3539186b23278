/** A metadata value of a GGUF file, with the type it is written as. */
export type GgufValue =
  | { type: "u32"; value: number }
  | { type: "f32"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string }
  | { type: "strings"; value: readonly string[] }
  | { type: "f32s"; value: readonly number[] }
  | { type: "i32s"; value: readonly number[] }

/** A tensor of 32-bit floats. `shape` has the fastest dimension first, as GGUF has it. */
export interface GgufTensor {
  name: string
  shape: readonly number[]
  data: Float32Array
}

const MAGIC = 0x46554747
const VERSION = 3
const ALIGNMENT = 32
const KINDS = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 }

/** Writes a GGUF file, version 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). */
export function writeGguf(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly GgufTensor[]): Uint8Array {
  const head = new ByteWriter()
  head.u32(MAGIC)
  head.u32(VERSION)
  head.u64(tensors.length)
  head.u64(Object.keys(metadata).length)
  for (const [key, value] of Object.entries(metadata)) {
    head.string(key)
    writeValue(head, value)
  }
  let offset = 0
  for (const { name, shape, data } of tensors) {
    head.string(name)
    head.u32(shape.length)
    for (const size of shape) head.u64(size)
    head.u32(0)
    head.u64(offset)
    offset = aligned(offset + data.byteLength)
  }
  const start = aligned(head.length)
  const file = new Uint8Array(start + offset)
  file.set(head.bytes())
  let at = start
  for (const { data } of tensors) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at)
    at = aligned(at + data.byteLength)
  }
  return file
}

function writeValue(out: ByteWriter, value: GgufValue): void {
  switch (value.type) {
    case "u32":
    case "f32":
      out.u32(KINDS[value.type])
      return value.type === "u32" ? out.u32(value.value) : out.f32(value.value)
    case "bool":
      out.u32(KINDS.bool)
      return out.u8(value.value ? 1 : 0)
    case "string":
      out.u32(KINDS.string)
      return out.string(value.value)
    case "strings":
    case "f32s":
    case "i32s": {
      out.u32(KINDS.array)
      out.u32(value.type === "strings" ? KINDS.string : value.type === "f32s" ? KINDS.f32 : KINDS.i32)
      out.u64(value.value.length)
      for (const item of value.value) {
        if (typeof item === "string") out.string(item)
        else if (value.type === "f32s") out.f32(item)
        else out.u32(item)
      }
    }
  }
}

function aligned(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT
}

/** Little-endian bytes that grow. */
class ByteWriter {
  #buffer = new Uint8Array(1024)
  #view = new DataView(this.#buffer.buffer)
  length = 0

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length)
  }

  u8(value: number): void {
    const at = this.#grow(1)
    this.#buffer[at] = value
  }

  u32(value: number): void {
    const at = this.#grow(4)
    this.#view.setUint32(at, value >>> 0, true)
  }

  u64(value: number): void {
    const at = this.#grow(8)
    this.#view.setBigUint64(at, BigInt(value), true)
  }

  f32(value: number): void {
    const at = this.#grow(4)
    this.#view.setFloat32(at, value, true)
  }

  string(value: string): void {
    const bytes = new TextEncoder().encode(value)
    this.u64(bytes.length)
    const at = this.#grow(bytes.length)
    this.#buffer.set(bytes, at)
  }

  #grow(count: number): number {
    const at = this.length
    this.length += count
    if (this.length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(this.length, this.#buffer.length * 2))
      larger.set(this.#buffer)
      this.#buffer = larger
      this.#view = new DataView(larger.buffer)
    }
    return at
  }
}
