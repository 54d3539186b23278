import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { RequestProblem, type GatewayFailure } from "./wire.ts"

const STATUS: Record<string, number> = {
  MODEL_UNREACHABLE: 502,
  MODEL_UNAUTHORIZED: 502,
  MODEL_NOT_FOUND: 404,
  UNKNOWN_AGENT: 404,
  MODEL_REQUEST_REJECTED: 400,
  MODEL_RATE_LIMITED: 429,
  REPLY_TOO_LONG: 502,
  MODEL_SERVER_ERROR: 502,
  MODEL_BAD_REPLY: 502,
  MODEL_TIMEOUT: 504,
  CONFLICTING_CONSTRAINTS: 400,
  CONSTRAINT_UNSUPPORTED: 400,
  CONTEXT_EXCEEDED: 400,
  UNSUPPORTED_MEDIA: 400,
  NO_MODEL: 503,
}

/** What was thrown, as a client is told of it. */
export function failureOf(thrown: unknown): GatewayFailure {
  const message = messageOf(thrown)
  if (thrown instanceof RequestProblem) return { status: 400, code: "invalid_request", message, param: thrown.param }
  if (!ToolwrightError.isInstance(thrown)) return { status: 500, code: "INTERNAL_ERROR", message }
  const { code, hint, retryAfterMs } = thrown
  return {
    status: STATUS[code] ?? 500,
    code,
    message: hint === undefined ? message : `${message} ${hint}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** `Retry-After` in whole seconds, and in milliseconds for clients that look at that. */
export function retryHeaders({ retryAfterMs }: GatewayFailure): Record<string, string> {
  if (retryAfterMs === undefined) return {}
  return {
    "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))),
    "retry-after-ms": String(Math.ceil(retryAfterMs)),
  }
}
