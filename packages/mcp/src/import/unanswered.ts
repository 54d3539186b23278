import type { Transport } from "@modelcontextprotocol/client"

/** Code of the answer that stands in a server's place where it ended its stream without one. */
export const UNANSWERED = -32_098

/**
 * Ends requests whose stream is over, and goes on nowhere else, before the answer came: without an event's id there is
 * nothing to take up again, and whoever waits would wait for the limit of time. One that was answered is not waited
 * for any more, and told of its stream's end in vain.
 */
export function endUnanswered(transport: Transport): void {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const isRequest = "method" in message && "id" in message
    if (!isRequest || options?.onRequestStreamEnd !== undefined) return send(message, options)
    const { id } = message
    const error = { code: UNANSWERED, message: "the server ended the stream of its answer before the answer" }
    const onRequestStreamEnd = (): void => transport.onmessage?.({ jsonrpc: "2.0", id, error })
    return send(message, { ...options, onRequestStreamEnd })
  }
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * As `fetch`; a request that is only said to have been taken is refused, and a whole answer that holds none to it:
 * nobody will answer it any more.
 */
export function refuseUnanswered(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (response.status === 202 && requestIn(init?.body) !== undefined) {
      await response.body?.cancel()
      throw new Error("The server took the request (status 202) and does not answer it.")
    }
    if (response.ok && init?.method === "POST" && isJson(response)) {
      const read = response.json.bind(response)
      // A server in this process may have put a class of its own in Response's place, whose methods are read-only.
      const json = async (): Promise<unknown> => answering(await read(), requestIn(init.body))
      Object.defineProperty(response, "json", { value: json })
    }
    return response
  }
}

const isJson = ({ headers }: Response): boolean => /^application\/json\b/i.test(headers.get("content-type") ?? "")

/** What a server sent, where the answer to a request is in it. */
function answering(sent: unknown, request: { id: unknown } | undefined): unknown {
  if (request === undefined) return sent
  const messages = (Array.isArray(sent) ? sent : [sent]) as ({ id?: unknown; error?: { message?: unknown } } | null)[]
  if (messages.some((message) => message?.id === request.id)) return sent
  const said = messages.find((message) => (message?.id ?? null) === null)?.error?.message
  if (typeof said === "string") throw new Error(`The server refused the request: ${said.slice(0, LONGEST_SAID)}`)
  const other = JSON.stringify(messages[0]?.id)?.slice(0, LONGEST_ID) ?? "none"
  throw new Error(`The server did not answer the request: it sent an answer to another one (id ${other}).`)
}

const LONGEST_SAID = 1000
const LONGEST_ID = 100

/** The request in a body; nothing where it holds none. */
function requestIn(body: unknown): { id: unknown } | undefined {
  if (typeof body !== "string") return undefined
  const message = JSON.parse(body) as { id?: unknown }
  return "method" in message && "id" in message ? { id: message.id } : undefined
}

/** As `fetch`; whoever reads events by GET is told when there will be none any more. */
export function noticeEnd(fetch: Fetch, onEnd: (reason: Error) => void): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (init?.method === "POST" || !response.ok || response.body === null) return response
    const { status, statusText, headers } = response
    const passing = new TransformStream<Uint8Array, Uint8Array>()
    const over = (): void => onEnd(new Error("the server ended its stream of events"))
    void response.body.pipeTo(passing.writable).then(over, over)
    return new Response(passing.readable, { status, statusText, headers })
  }
}
