import type { IncomingMessage } from "node:http"
import { pipeline, type Readable } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib"
import { redirectWithin, MOST_REDIRECTS, tracedHeaders, ToolwrightError, withinOrigin } from "@toolwright/toolbox"

/** What a service is sent. */
export interface Asked {
  method: "GET" | "POST"
  headers: Readonly<Record<string, string>>
  body?: string
  signal?: AbortSignal
}

/** What it answered. */
export interface Answered {
  status: number
  text: string
}

/** Sends a request to a service, and reads its answer whole. */
export type Exchange = (url: string, asked: Asked) => Promise<Answered>

/** Bytes of an answer that are taken. */
export const MOST_BYTES = 32 * 1024 * 1024
/** A connection on which nothing comes for so long is given up, in milliseconds. */
const SILENT_MS = 300_000

/**
 * Asks over `node:http`, which takes a third of the processor time of `fetch`. What is sent to a service goes nowhere
 * else: redirects are followed within its origin.
 */
export const overHttp: Exchange = async (url, asked) => {
  const headers = tracedHeaders(asked.headers, "http.client.request.start")
  let address = url
  for (let followed = 0; ; followed++) {
    const response = await answerTo(address, { ...asked, headers })
    const status = response.statusCode!
    const target = redirectWithin({ status, location: response.headers.location }, address, asked.method)
    if (target === undefined || followed >= MOST_REDIRECTS) return { status, text: await textOf(response, url) }
    response.destroy()
    address = target
  }
}

/** Asks with a `fetch` of somebody's own. */
export function overFetch(fetcher: typeof fetch): Exchange {
  const ask = withinOrigin(fetcher)
  return async (url, asked) => {
    const response = await ask(url, asked)
    return { status: response.status, text: await textIn(response.body ?? [], url) }
  }
}

function answerTo(url: string, { method, headers, body, signal }: Asked): Promise<IncomingMessage> {
  // Not imported: as a module it brings all of `fetch` with it.
  const { request } = process.getBuiltinModule(url.startsWith("https:") ? "node:https" : "node:http")
  return new Promise((resolve, reject) => {
    const asking = request(url, {
      method,
      headers: {
        "accept-encoding": "gzip, deflate, br",
        ...headers,
        ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
      },
      ...(signal === undefined ? {} : { signal }),
    })
    // A connection that is used again has the limit already.
    asking.setTimeout(SILENT_MS, () => asking.destroy(new Error(`Nothing came for ${SILENT_MS / 1000} seconds.`)))
    asking.once("response", resolve)
    // After the answer has begun a failure is told where it is read.
    asking.on("error", (cause) => reject((signal?.aborted === true ? signal.reason : cause) as Error))
    asking.end(body)
  })
}

const UNPACKED: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** The text of an answer, as long as it is one that anybody would send. @throws ToolwrightError `SOURCE_BAD_REPLY` */
function textOf(response: IncomingMessage, url: string): Promise<string> {
  const unpack = UNPACKED[response.headers["content-encoding"]?.toLowerCase() ?? ""]
  // Whoever reads the last of them is told of what fails before.
  const body: Readable = unpack === undefined ? response : pipeline(response, unpack(), () => {})
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let bytes = 0
    body.on("data", (piece: Buffer) => {
      bytes += piece.length
      if (bytes <= MOST_BYTES) return void pieces.push(piece)
      response.destroy()
      body.destroy()
      reject(tooLong(url))
    })
    body.once("error", reject)
    body.once("end", () => resolve(decoded(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))))
  })
}

async function textIn(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, url: string): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > MOST_BYTES) throw tooLong(url)
    pieces.push(piece)
  }
  return decoded(Buffer.concat(pieces))
}

/** A mark of the order of bytes is no part of a text. */
function decoded(bytes: Buffer): string {
  const text = bytes.toString("utf8")
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

function tooLong(url: string): ToolwrightError {
  return new ToolwrightError(
    "SOURCE_BAD_REPLY",
    `The tools service at ${url} answered with more than ${MOST_BYTES} bytes.`,
    { hint: "Ask for less at once." },
  )
}
