import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import { NetworkError, asObject, asText, redact, requestJson, type NetworkHost, cleanLine } from "@toolwright/host/net"
import type { NotionConfig } from "./config.ts"

/** Asks Notion's API. Rejects with {@link NotionError}, or `NetworkError`. */
export type NotionRequest = (method: "GET" | "POST" | "PATCH", path: string, body?: JsonObject) => Promise<JsonObject>

/** An answer of 400 or above. `status` 0 means that nobody knows whether the request was carried out. */
export class NotionError extends ToolwrightError {
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  constructor(
    code: string,
    status: number,
    message: string,
    options: { hint?: string; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(code, message, options)
    this.status = status
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

export const NOTION_VERSION = "2025-09-03"
const MAX_TRIES = 5
const LONGEST_WAIT_MS = 60_000

/**
 * A client for one publication. Answers that say that nothing was done (409, 429, 529) are tried again, after the time
 * that the service names; everything else is the caller's to decide, since it may have been carried out.
 */
export function createNotionRequest(
  host: NetworkHost,
  config: NotionConfig,
  token: string,
  signal: AbortSignal,
): NotionRequest {
  const base = (config.baseUrl ?? "https://api.notion.com").replace(/\/+$/, "")
  const fetch = host.fetchFor([config.baseUrl])
  const wait = config.wait ?? sleep
  return async (method, path, body) => {
    for (let attempt = 1; ; attempt++) {
      const { status, headers, value } = await requestJson(fetch, `${base}${path}`, {
        method,
        signal,
        headers: {
          authorization: `Bearer ${token}`,
          "notion-version": NOTION_VERSION,
          "content-type": "application/json",
          accept: "application/json",
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (status < 400) return asObject(value)
      const isNotDone = status === 409 || status === 429 || status === 529
      const after = headers["retry-after"] === undefined ? Number.NaN : Number(headers["retry-after"])
      const waitMs = Number.isFinite(after) ? after * 1000 : 500 * 2 ** attempt
      if (!isNotDone || attempt >= MAX_TRIES || waitMs > LONGEST_WAIT_MS)
        throw errorOf(status, asObject(value), token, Number.isFinite(after) ? after : undefined)
      await wait(waitMs, signal)
    }
  }
}

/** Whether a request that failed like this may have been carried out all the same. */
export function isAmbiguous(thrown: unknown): boolean {
  if (thrown instanceof NotionError) return thrown.status >= 500 && thrown.status !== 529
  return (
    thrown instanceof NetworkError &&
    ["TIMEOUT", "RESPONSE_CUT_OFF", "INVALID_RESPONSE", "CONNECTION_FAILED"].includes(thrown.code)
  )
}

function errorOf(status: number, value: JsonObject, token: string, retryAfterSeconds: number | undefined): NotionError {
  const said = redact(cleanLine(asText(value.message) ?? ""), [token])
  const quoted = said === "" ? "" : ` (Notion says: ${said})`
  const make = (code: string, message: string, hint?: string) =>
    new NotionError(code, status, `${message}${quoted}.`, {
      ...(hint === undefined ? {} : { hint }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    })
  if (status === 401)
    return make(
      "UNAUTHORIZED",
      "Notion refuses the token",
      "Whoever runs this must set NOTION_TOKEN to a valid integration token.",
    )
  if (status === 403)
    return make("ACCESS_DENIED", "The integration may not do this", "It needs the capability to insert content.")
  if (status === 404)
    return make(
      "NOT_FOUND",
      "Notion does not find the page or database",
      "Check the id, and share the page or database with the integration.",
    )
  if (status === 429 || status === 529)
    return make(
      "RATE_LIMITED",
      `Notion's rate limit is used up${retryAfterSeconds === undefined ? "" : ` for ${retryAfterSeconds} s`}`,
      "Try again after that time; the publication goes on where it stopped.",
    )
  if (status === 409)
    return make(
      "CONFLICT",
      "Notion reports a conflict, again and again",
      "Try again later; the publication goes on where it stopped.",
    )
  if (status === 400) return make("INVALID_CONTENT", "Notion does not accept the page")
  return make(
    "SERVICE_FAILED",
    `Notion answered ${status}`,
    "Try again later; the publication goes on where it stopped.",
  )
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const { setTimeout } = await import("node:timers/promises")
  await setTimeout(ms, undefined, { signal })
}
