import { withinOrigin } from "@toolwright/toolbox"

/**
 * `fetch` for answers of a server: one message has at most so many bytes, a whole body or an event of a stream; a
 * longer one breaks off. Nothing is sent to another origin.
 */
export function boundedFetch(most: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
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
    return new Response(response.body.pipeThrough(bounded(most, isStream)), { status, statusText, headers })
  }
}

/** @param isStream whether an empty line ends a message; in any other body it is a part of one */
function bounded(most: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(piece, controller) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
      const ends = isStream ? Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n")) : -1
      size = ends === -1 ? size + bytes.length : bytes.length - ends
      if (size > most) controller.error(tooLong(most))
      else controller.enqueue(piece)
    },
  })
}

function tooLong(most: number): Error {
  return new Error(`The server sent a message of more than ${most} bytes.`)
}
