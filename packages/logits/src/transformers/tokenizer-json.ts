import { ToolwrightError } from "@toolwright/toolbox"
import type { Vocabulary } from "../masks/tokenizer.ts"
import { byteLevelAlphabet, byteLevelBytes } from "./byte-level.ts"

/** The part of a `tokenizer.json` (Hugging Face tokenizers) that tells what each token writes. */
export interface TokenizerJson {
  readonly model: {
    readonly type?: string
    readonly vocab: Readonly<Record<string, number>> | readonly (readonly [string, number])[]
    readonly byte_fallback?: boolean
  }
  readonly added_tokens?: readonly { readonly id: number; readonly content: string; readonly special: boolean }[]
  readonly decoder?: Component | null
  readonly pre_tokenizer?: Component | null
}

interface Component {
  readonly type: string
  readonly decoders?: readonly Component[]
  readonly pretokenizers?: readonly Component[]
}

/**
 * The vocabulary of a model from its `tokenizer.json`: byte-level BPE (GPT-2, Llama 3, Qwen, …) and SentencePiece-like
 * ones with `▁` (Llama 2, Mistral, Gemma).
 *
 * @param end tokens that end a reply, by text or number
 * @throws ToolwrightError `UNSUPPORTED_TOKENIZER` for WordPiece, whose tokens do not say where spaces are, and for an
 *   unknown end token
 */
export function vocabularyFromTokenizerJson(json: TokenizerJson, end: readonly (string | number)[]): Vocabulary {
  const { model, added_tokens: added = [] } = json
  if (model.type === "WordPiece") {
    throw new ToolwrightError(
      "UNSUPPORTED_TOKENIZER",
      "WordPiece tokens do not say where spaces are; no mask can be made over them.",
    )
  }
  const entries: readonly (readonly [string, number])[] = Array.isArray(model.vocab)
    ? (model.vocab as readonly (readonly [string, number])[]).map(([text], id) => [text, id])
    : Object.entries(model.vocab as Readonly<Record<string, number>>)
  const byteLevel =
    uses(json.decoder, "ByteLevel") || uses(json.pre_tokenizer, "ByteLevel") ? byteLevelAlphabet() : undefined
  const encoder = new TextEncoder()
  const bytesOf = (text: string): Uint8Array => {
    if (byteLevel !== undefined) return byteLevelBytes(text, byteLevel)
    const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(text)
    return byte === null ? encoder.encode(text.replaceAll("▁", " ")) : Uint8Array.of(Number.parseInt(byte[1]!, 16))
  }
  const highest = Math.max(-1, ...chunked(entries, ([, id]) => id), ...added.map(({ id }) => id))
  const tokens: (Uint8Array | null)[] = Array.from({ length: highest + 1 }, () => null)
  for (const [text, id] of entries) tokens[id] = bytesOf(text)
  for (const { id, content, special } of added) tokens[id] = special ? null : encoder.encode(content)
  const ids = new Map<string, number>([...entries, ...added.map(({ id, content }) => [content, id] as const)])
  return { tokens, eos: end.map((token) => endToken(token, ids)) }
}

function endToken(token: string | number, ids: ReadonlyMap<string, number>): number {
  const id = typeof token === "number" ? token : ids.get(token)
  if (id !== undefined) return id
  throw new ToolwrightError("UNSUPPORTED_TOKENIZER", `The tokenizer has no token '${token}'.`, {
    hint: "Name the end token as tokenizer.json spells it.",
  })
}

function uses(component: Component | null | undefined, type: string): boolean {
  if (component === null || component === undefined) return false
  return (
    component.type === type ||
    [...(component.decoders ?? []), ...(component.pretokenizers ?? [])].some((part) => uses(part, type))
  )
}

/** The highest value of each thousand, so that no call takes more arguments than an engine allows. */
function chunked<Item>(items: readonly Item[], value: (item: Item) => number): number[] {
  const highest: number[] = []
  items.forEach((item, index) => {
    const at = Math.floor(index / 1000)
    highest[at] = Math.max(highest[at] ?? -1, value(item))
  })
  return highest
}
