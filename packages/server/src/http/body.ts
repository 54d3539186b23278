import type { Context } from "hono"
import { CallGate, isTooDeep, messageOf, type Held } from "@toolwright/toolbox"
import { problem } from "./problem.ts"
import { refusedBy } from "./refusal.ts"

/** A body that was read, or the answer to one that cannot be. */
export type ReadBody = { value: unknown; text: string } | { refused: Response }

/** What a body may be. */
export interface BodyLimits {
  maxBytes: number
  /** Longest time for the whole body, in milliseconds. */
  timeoutMs: number
  /** Where the bytes are accounted for. */
  held?: Held
  /** JSON is read whatever it is said to be: only for what no page of a browser has sent. */
  untyped?: boolean
}

/** The limits that a server's options set. */
export function bodyLimits({
  maxBodyBytes = 4 * 1024 * 1024,
  bodyTimeoutMs = 30_000,
}: { maxBodyBytes?: number; bodyTimeoutMs?: number } = {}): BodyLimits {
  return { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs }
}

/**
 * Reads a JSON body within its limits of size and time. Anything but JSON is refused by its content type, which also
 * keeps pages from sending it without being asked (a simple request cannot have this type). An empty body is an empty
 * object.
 */
export async function readJson(
  context: Context,
  { maxBytes, timeoutMs, held, untyped }: BodyLimits,
): Promise<ReadBody> {
  const type = (context.req.header("content-type") ?? "").split(";")[0]!.trim().toLowerCase()
  const declared = Number(context.req.header("content-length") ?? Number.NaN)
  const { raw } = context.req
  // Where the length is declared the body's stream is not looked at: reading the body at once is much cheaper.
  if (declared === 0 || (Number.isNaN(declared) && raw.body === null)) return { value: {}, text: "" }
  if (!isJson(type) && untyped !== true) {
    return {
      refused: problem({
        code: "UNSUPPORTED_MEDIA_TYPE",
        message: `The body must be JSON, not '${type || "unnamed"}'.`,
        hint: "Send the header 'content-type: application/json'.",
      }),
    }
  }
  if (declared > maxBytes) return tooLarge(maxBytes)
  if (held?.grow(declared || 0) === false) return { refused: refusedBy(CallGate.busy) }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<ReadBody>((resolve) => (timer = setTimeout(() => resolve(tooSlow(timeoutMs)), timeoutMs)))
  try {
    return await Promise.race([
      late,
      Number.isNaN(declared)
        ? readPieces(raw.body!, maxBytes, held)
        : raw.arrayBuffer().then((bytes) => parse(new Uint8Array(bytes))),
    ])
  } catch (thrown) {
    return {
      refused: problem({ code: "BODY_UNREADABLE", message: `The body could not be read: ${messageOf(thrown)}` }),
    }
  } finally {
    clearTimeout(timer)
  }
}

function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json")
}

async function readPieces(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  held: Held | undefined,
): Promise<ReadBody> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader = body.getReader()
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.byteLength
    if (size > maxBytes) {
      void reader.cancel()
      return tooLarge(maxBytes)
    }
    if (held?.grow(step.value.byteLength) === false) {
      void reader.cancel()
      return { refused: refusedBy(CallGate.busy) }
    }
    pieces.push(step.value)
  }
  return parse(Buffer.concat(pieces))
}

function tooSlow(timeoutMs: number): ReadBody {
  return {
    refused: problem(
      { code: "BODY_TOO_SLOW", message: `The body did not come within ${timeoutMs} ms.` },
      { connection: "close" },
    ),
  }
}

function tooLarge(maxBytes: number): ReadBody {
  return { refused: problem({ code: "BODY_TOO_LARGE", message: `The body may have at most ${maxBytes} bytes.` }) }
}

const decoder = new TextDecoder("utf-8", { fatal: true })

function parse(bytes: Uint8Array): ReadBody {
  try {
    const text = decoder.decode(bytes)
    const value: unknown = text.trim() === "" ? {} : JSON.parse(text)
    if (isTooDeep(value, text))
      return { refused: problem({ code: "INVALID_JSON", message: "The body is nested too deeply." }) }
    return { value, text }
  } catch (thrown) {
    return { refused: problem({ code: "INVALID_JSON", message: `The body is no JSON: ${messageOf(thrown)}` }) }
  }
}
