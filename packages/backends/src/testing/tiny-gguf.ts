import { createRandom } from "@toolwright/logits"
import { writeGguf, type GgufTensor } from "./gguf-writer.ts"

/** What a tiny model is made of; every part has a default. */
export interface TinyModelOptions {
  /** The same seed gives the same file. */
  readonly seed?: number
  /** Width of the model; a multiple of 32. */
  readonly width?: number
  readonly layers?: number
  readonly contextSize?: number
  /** Pieces of text that become tokens, besides the single bytes and the printable ASCII characters. */
  readonly pieces?: readonly string[]
  /** Pieces that should come more often, by how much their logits are raised. */
  readonly favoured?: Readonly<Record<string, number>>
}

/**
 * Pieces that span what grammars tell apart: quotes with braces, names with the text before and after them, white
 * space.
 */
export const TINY_PIECES = [
  '{"',
  '"}',
  '":',
  '",',
  '": "',
  '", "',
  '"}}',
  "{}",
  "[]",
  "[{",
  "}]",
  "}}",
  "},",
  '\\"',
  "\\n",
  "\\u",
  "\\\\",
  "  ",
  ": ",
  ", ",
  "\n\n",
  "\n",
  "name",
  '"name',
  '{"name',
  'name"',
  "arguments",
  '"arguments":',
  "parameters",
  "args",
  "tool",
  "_call",
  "call",
  "function",
  "=",
  "</",
  "/>",
  "><",
  "<|",
  "|>",
  "('",
  "')",
  '="',
  "<tool_call>",
  "</tool_call>",
  "[TOOL_CALLS]",
  "<|python_tag|>",
  "<function=",
  "</function>",
  "<parameter=",
  "</parameter>",
  "```",
  "json",
  "[ARGS]",
  "true",
  "false",
  "null",
  "True",
  "False",
  "None",
  "10",
  "100",
  "42",
  "0.5",
  "-1",
  "e+",
  "1e",
  "000",
  "the",
  " the",
  "ing",
  "er",
  "get",
  "_get",
  "weather",
  "forecast",
  "city",
  "days",
  "file",
  "_search",
  "search",
  "path",
  "query",
  "unit",
  "celsius",
  "Zürich",
  "né",
  "日本",
  "😀",
] as const

/** Without these a random model would write strings of hundreds of tokens. */
const FAVOURED: Record<string, number> = {
  '"': 4.5,
  "'": 4,
  "}": 3,
  "]": 3,
  ",": 2,
  "<": 3,
  "</": 2.5,
  "</parameter>": 4,
  "</tool_call>": 3,
  ")": 3,
  "\n": 3,
  "|": 2,
}

const NORMAL = 1
const UNKNOWN = 2
const CONTROL = 3
const BYTE = 6

/**
 * A language model in GGUF (llama architecture, 32-bit floats) with random weights and a SentencePiece vocabulary with
 * byte fall-back: a few hundred tokens, some hundred kilobytes, loads in any llama.cpp. It knows nothing, which is the
 * point: whatever it writes correctly under a grammar, the grammar brought about.
 *
 * @returns the file's bytes
 */
export function tinyGguf(options: TinyModelOptions = {}): Uint8Array {
  const { width = 64, layers = 2, contextSize = 4096, seed = 1 } = options
  const random = createRandom(seed)
  const { texts, types } = vocabulary(options.pieces ?? TINY_PIECES)
  const favoured = options.favoured ?? FAVOURED
  const heads = width / 16
  const inner = width * 2
  const rows = (count: number, size: number, scale: number) => gaussian(random, count * size, scale)
  const tensor = (name: string, shape: readonly number[], data: Float32Array): GgufTensor => ({ name, shape, data })

  // The first component of every embedding is the same, so that the first column of the output matrix acts as a bias.
  const embedding = rows(texts.length, width, 1)
  const output = rows(texts.length, width, 1.2 / Math.sqrt(width))
  const share = Math.sqrt(width / 2)
  for (const [token, text] of texts.entries()) {
    embedding[token * width] = Math.sqrt(width)
    output[token * width] = ((favoured[text] ?? 0) + (types[token] === BYTE ? -1 : 0)) / share
  }
  const ones = () => new Float32Array(width).fill(1)
  const tensors = [
    tensor("token_embd.weight", [width, texts.length], embedding),
    tensor("output_norm.weight", [width], ones()),
    tensor("output.weight", [width, texts.length], output),
  ]
  for (let layer = 0; layer < layers; layer++) {
    const add = (name: string, shape: readonly number[], data: Float32Array) =>
      tensors.push(tensor(`blk.${layer}.${name}.weight`, shape, data))
    const scale = 0.5 / Math.sqrt(width)
    add("attn_norm", [width], ones())
    for (const name of ["attn_q", "attn_k", "attn_v", "attn_output"])
      add(name, [width, width], rows(width, width, scale))
    add("ffn_norm", [width], ones())
    add("ffn_gate", [width, inner], rows(width, inner, scale))
    add("ffn_up", [width, inner], rows(width, inner, scale))
    add("ffn_down", [inner, width], rows(width, inner, scale))
  }
  const u32 = (value: number) => ({ type: "u32", value }) as const
  return writeGguf(
    {
      "general.architecture": { type: "string", value: "llama" },
      "general.name": { type: "string", value: "tiny-random" },
      "llama.context_length": u32(contextSize),
      "llama.embedding_length": u32(width),
      "llama.block_count": u32(layers),
      "llama.feed_forward_length": u32(inner),
      "llama.attention.head_count": u32(heads),
      "llama.attention.head_count_kv": u32(heads),
      "llama.attention.layer_norm_rms_epsilon": { type: "f32", value: 1e-5 },
      "llama.rope.dimension_count": u32(width / heads),
      "llama.vocab_size": u32(texts.length),
      "tokenizer.ggml.model": { type: "string", value: "llama" },
      "tokenizer.ggml.tokens": { type: "strings", value: texts.map((text) => text.replaceAll(" ", "▁")) },
      "tokenizer.ggml.scores": {
        type: "f32s",
        value: texts.map((text, token) => (types[token] === NORMAL ? text.length : 0)),
      },
      "tokenizer.ggml.token_type": { type: "i32s", value: types },
      "tokenizer.ggml.unknown_token_id": u32(0),
      "tokenizer.ggml.bos_token_id": u32(1),
      "tokenizer.ggml.eos_token_id": u32(2),
      "tokenizer.ggml.add_bos_token": { type: "bool", value: true },
      "tokenizer.ggml.add_space_prefix": { type: "bool", value: false },
    },
    tensors,
  )
}

function vocabulary(pieces: readonly string[]): { texts: string[]; types: number[] } {
  const texts = ["<unk>", "<s>", "</s>"]
  const types = [UNKNOWN, CONTROL, CONTROL]
  for (let byte = 0; byte < 256; byte++) {
    texts.push(`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`)
    types.push(BYTE)
  }
  const ascii = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at))
  for (const text of new Set([...ascii, ...pieces])) {
    texts.push(text)
    types.push(NORMAL)
  }
  return { texts, types }
}

/** Normally distributed numbers (Box and Muller, 1958). */
function gaussian(random: () => number, count: number, scale: number): Float32Array {
  return Float32Array.from(
    { length: count },
    () => scale * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()),
  )
}
