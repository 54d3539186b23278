import { aboutCode, failure, toServiceResult, type FailureParts } from "@toolwright/toolbox"

/** Titles of the statuses that this server answers with, by their number. */
const TITLES: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  409: "Conflict",
  422: "Unprocessable Content",
}

/**
 * An error as `application/problem+json` (RFC 9457) that also has the fields of a tool result, so that one parser reads
 * both. Its status, and when to come again, are those of its code in the catalogue.
 *
 * @param parts the error; its message is the problem's `detail`
 */
export function problem(parts: FailureParts, headers: Record<string, string> = {}): Response {
  const { status = 500, retryAfter } = aboutCode(parts.code) ?? {}
  const result = toServiceResult(failure(parts))
  const body = {
    type: "about:blank",
    title: TITLES[status] ?? "Error",
    status,
    detail: parts.message,
    ...result,
    error: {
      code: parts.code,
      message: parts.message,
      ...(parts.hint === undefined ? {} : { hint: parts.hint }),
      ...(parts.details === undefined ? {} : { details: parts.details }),
    },
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/problem+json",
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
      ...headers,
    },
  })
}
