import { open, type FileHandle } from "node:fs/promises"
import { ToolwrightError } from "@toolwright/toolbox"

/** What the header of a GGUF file says of its model. */
export interface GgufHeader {
  name?: string
  chatTemplate?: string
  /** Tokens that the model was trained with. */
  contextTokens?: number
  bosText?: string
  eosText?: string
}

const MAGIC = 0x46554747
/** No header is longer: vocabularies take a few megabytes. */
const LONGEST_HEADER = 128 * 1024 * 1024
const PIECE = 1024 * 1024
const MOST_KEYS = 100_000
/** Sizes of the numbers by GGUF's type ids; 8 is a text, 9 a list. */
const SIZES: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 }
const TEXT = 8
const LIST = 9

/**
 * Reads a GGUF file's metadata, and nothing behind it.
 *
 * @throws ToolwrightError `NO_TEMPLATE` where the file is none, or breaks off
 */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  const file = await open(path, "r")
  try {
    return await headerOf(new Bytes(file, path))
  } finally {
    await file.close()
  }
}

async function headerOf(bytes: Bytes): Promise<GgufHeader> {
  if ((await bytes.u32()) !== MAGIC) throw bytes.wrong("is no GGUF file")
  if ((await bytes.u32()) < 2) throw bytes.wrong("is a GGUF file of version 1, which is not read")
  await bytes.u64()
  const count = await bytes.u64()
  if (count > MOST_KEYS) throw bytes.wrong("has a damaged header")
  const values = new Map<string, string | number>()
  let tokens: Tokens | undefined
  for (let index = 0; index < count; index++) {
    const key = await bytes.text()
    const type = await bytes.u32()
    if (type === LIST) tokens = (await list(bytes, key)) ?? tokens
    else values.set(key, type === TEXT ? await bytes.text() : await bytes.number(type))
  }
  const text = (key: string) => (typeof values.get(key) === "string" ? (values.get(key) as string) : undefined)
  const token = (key: string) => (typeof values.get(key) === "number" ? tokens?.[values.get(key) as number] : undefined)
  const window = values.get(`${text("general.architecture") ?? ""}.context_length`)
  return defined({
    name: text("general.name"),
    chatTemplate: text("tokenizer.chat_template.tool_use") ?? text("tokenizer.chat_template"),
    contextTokens: typeof window === "number" ? window : undefined,
    bosText: token("tokenizer.ggml.bos_token_id"),
    eosText: token("tokenizer.ggml.eos_token_id"),
  })
}

type Tokens = readonly string[]

/** Keeps the list of tokens, since two of them are named by number, and passes over all others. */
async function list(bytes: Bytes, key: string): Promise<Tokens | undefined> {
  const type = await bytes.u32()
  const count = await bytes.u64()
  if (count > LONGEST_HEADER) throw bytes.wrong("has a damaged header")
  if (type !== TEXT) {
    await bytes.skip(count * (SIZES[type] ?? Infinity))
    return undefined
  }
  const texts: string[] = []
  for (let index = 0; index < count; index++) texts.push(await bytes.text())
  return key === "tokenizer.ggml.tokens" ? texts : undefined
}

function defined(header: { [Key in keyof GgufHeader]: GgufHeader[Key] | undefined }): GgufHeader {
  return Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined))
}

/** The bytes of a file, in order, read in pieces. */
class Bytes {
  readonly #file: FileHandle
  readonly #path: string
  #buffer = Buffer.alloc(0)
  #at = 0
  #read = 0

  constructor(file: FileHandle, path: string) {
    this.#file = file
    this.#path = path
  }

  wrong(what: string): ToolwrightError {
    return new ToolwrightError("NO_TEMPLATE", `${this.#path} ${what}.`, {
      hint: "Name a GGUF file, a tokenizer_config.json, a chat template in Jinja, or a running server.",
    })
  }

  async u32(): Promise<number> {
    return (await this.#take(4)).readUInt32LE()
  }

  async u64(): Promise<number> {
    return Number((await this.#take(8)).readBigUInt64LE())
  }

  async text(): Promise<string> {
    return (await this.#take(await this.u64())).toString("utf8")
  }

  /** A number of a type; those that nobody asks for are read all the same, to get behind them. */
  async number(type: number): Promise<number> {
    const size = SIZES[type]
    if (size === undefined) throw this.wrong("has a damaged header")
    const taken = await this.#take(size)
    if (type === 6) return taken.readFloatLE()
    if (type === 12) return taken.readDoubleLE()
    if (size === 8) return Number(taken.readBigUInt64LE())
    return taken.readUIntLE(0, size)
  }

  async skip(count: number): Promise<void> {
    for (let left = count; left > 0; left -= PIECE) await this.#take(Math.min(left, PIECE))
  }

  async #take(count: number): Promise<Buffer> {
    if (this.#read - this.#buffer.length + this.#at + count > LONGEST_HEADER)
      throw this.wrong("has a header without an end")
    while (this.#buffer.length - this.#at < count) {
      const piece = Buffer.alloc(Math.max(PIECE, count))
      const { bytesRead } = await this.#file.read(piece, 0, piece.length, this.#read)
      if (bytesRead === 0) throw this.wrong("breaks off in its header")
      this.#read += bytesRead
      this.#buffer = Buffer.concat([this.#buffer.subarray(this.#at), piece.subarray(0, bytesRead)])
      this.#at = 0
    }
    this.#at += count
    return this.#buffer.subarray(this.#at - count, this.#at)
  }
}
