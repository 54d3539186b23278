import { withinOrigin } from "@toolwright/toolbox"

/**
 * `fetch` for answers of a server: one message has at most so many bytes, a whole body or an event of a stream; a
 * longer one breaks off. Nothing is sent to another origin.
 */
export function boundedFetch(most: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await withinOrigin(fetch)(url, init)
    const declared = Number(response.headers.get("content-length") ?? Number.NaN)
    if (response.body === null || declared <= most) return response
    if (declared > most) {
      await response.body.cancel()
      throw tooLong(most)
    }
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(bounded(most)), { status, statusText, headers })
  }
}

function bounded(most: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(piece, controller) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
      const ends = Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n"))
      size = ends === -1 ? size + bytes.length : bytes.length - ends
      if (size > most) controller.error(tooLong(most))
      else controller.enqueue(piece)
    },
  })
}

function tooLong(most: number): Error {
  return new Error(`The server sent a message of more than ${most} bytes.`)
}
