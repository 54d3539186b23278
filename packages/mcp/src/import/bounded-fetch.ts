import { withinOrigin } from "@toolwright/toolbox"

/**
 * `fetch` for answers of a server: one message has at most so many bytes, a whole body or an event of a stream; a
 * longer one breaks off. Nothing is sent to another origin.
 * @param onBroken is told of a stream that broke off so: who waits for an answer in it would not hear of that
 */
export function boundedFetch(
  most: number,
  onBroken: (reason: Error) => void,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await withinOrigin(fetch)(url, init)
    if (response.body === null) return response
    // Of a packed body it is the packed length, and what comes out of it may be a thousand times as long.
    const isPacked = response.headers.has("content-encoding")
    const declared = Number(response.headers.get("content-length") ?? Number.NaN)
    if (declared <= most && !isPacked) return response
    if (declared > most) {
      await response.body.cancel()
      throw tooLong(most)
    }
    const { status, statusText, headers } = response
    const isStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "")
    const body = response.body.pipeThrough(isStream ? boundedEvents(most, onBroken) : boundedBody(most))
    return new Response(body, { status, statusText, headers })
  }
}

function boundedBody(most: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(piece, controller) {
      size += piece.byteLength
      if (size > most) controller.error(tooLong(most))
      else controller.enqueue(piece)
    },
  })
}

/** An empty line ends a message. */
function boundedEvents(most: number, onBroken: (reason: Error) => void): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(piece, controller) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
      const ends = Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n"))
      size = ends === -1 ? size + bytes.length : bytes.length - ends
      if (size <= most) return controller.enqueue(piece)
      const reason = tooLong(most)
      controller.error(reason)
      onBroken(reason)
    },
  })
}

function tooLong(most: number): Error {
  return new Error(`The server sent a message of more than ${most} bytes.`)
}
