import { pipeline, Readable, type Transform } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { messageOf } from "@toolwright/toolbox"
import { NetworkError } from "./network-error.ts"

/** Bounds on a response's body. `maxBytes` is counted after decoding, at every stage of stacked encodings. */
export interface BodyLimits {
  maxBytes: number
  maxRatio: number
}

const MAX_STACKED = 4
/** Below this many decoded bytes any ratio is let through: small bodies of one repeated byte are harmless. */
const RATIO_FLOOR = 1024 * 1024

/**
 * Reads a body to its end, undoing its content encodings (gzip, br, deflate, stacked at most four deep) as it streams.
 *
 * @param source the body as it comes from the wire
 * @param contentEncoding the header's value, outermost encoding last (RFC 9110 §8.4)
 * @throws NetworkError `RESPONSE_TOO_LARGE`, `DECOMPRESSION_BOMB`, `INVALID_RESPONSE`; what `source` throws is thrown
 *   on
 */
export async function decodeBody(
  source: AsyncIterable<Buffer>,
  contentEncoding: string | undefined,
  limits: BodyLimits,
): Promise<Uint8Array> {
  let encodedBytes = 0
  const counting = async function* () {
    for await (const chunk of source) {
      encodedBytes += chunk.length
      if (encodedBytes > limits.maxBytes) throw tooLarge(limits.maxBytes)
      yield chunk
    }
  }
  let body: AsyncIterable<Buffer> = counting()
  for (const encoding of encodings(contentEncoding)) {
    body = bounded(decodeStage(body, encoding), limits, () => encodedBytes)
  }
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}

/** The encodings to undo, in that order. */
function encodings(header: string | undefined): string[] {
  const named = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity")
  if (named.length > MAX_STACKED) {
    throw new NetworkError(
      "DECOMPRESSION_BOMB",
      `The response stacks ${named.length} content encodings; ${MAX_STACKED} are allowed.`,
    )
  }
  return named.reverse()
}

async function* bounded(
  source: AsyncIterable<Buffer>,
  limits: BodyLimits,
  encoded: () => number,
): AsyncGenerator<Buffer> {
  let decoded = 0
  for await (const chunk of source) {
    decoded += chunk.length
    if (decoded > limits.maxBytes) throw tooLarge(limits.maxBytes)
    if (decoded > RATIO_FLOOR && decoded > encoded() * limits.maxRatio) {
      throw new NetworkError(
        "DECOMPRESSION_BOMB",
        `The response grows more than ${limits.maxRatio} times when decompressed.`,
      )
    }
    yield chunk
  }
}

async function* decodeStage(source: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const iterator = source[Symbol.asyncIterator]()
  try {
    const first = await iterator.next()
    if (first.done === true) return
    const transform = decoderFor(encoding, first.value)
    pipeline(Readable.from(prepend(first.value, iterator)), transform, () => {})
    try {
      for await (const chunk of transform) yield chunk as Buffer
    } catch (thrown) {
      if (thrown instanceof NetworkError || !isZlibError(thrown)) throw thrown
      throw new NetworkError("INVALID_RESPONSE", `The response's ${encoding} data is broken (${messageOf(thrown)}).`, {
        cause: thrown,
        retryable: true,
      })
    }
  } finally {
    await iterator.return?.()
  }
}

async function* prepend(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

function decoderFor(encoding: string, first: Buffer): Transform {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip()
    case "br":
      return createBrotliDecompress()
    case "deflate":
      // Servers send both zlib-wrapped and bare deflate data under this name; the wrapper's low nibble is always 8.
      return ((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()
    default:
      throw new NetworkError(
        "INVALID_RESPONSE",
        `The response uses the content encoding '${encoding}', which was not asked for.`,
      )
  }
}

function isZlibError(thrown: unknown): boolean {
  const code = (thrown as { code?: unknown } | null)?.code
  return (
    typeof code === "string" &&
    (code.startsWith("Z_") ||
      code.startsWith("ERR__ERROR_FORMAT") ||
      code.startsWith("ERR_BROTLI") ||
      code.startsWith("ERR_"))
  )
}

function tooLarge(maxBytes: number): NetworkError {
  return new NetworkError(
    "RESPONSE_TOO_LARGE",
    `The response is larger than ${maxBytes} bytes (counted after decompression).`,
    {
      details: { maxBytes },
    },
  )
}
