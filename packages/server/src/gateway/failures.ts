import { aboutCode, messageOf, ToolwrightError } from "@toolwright/toolbox"
import { RequestProblem, type GatewayFailure } from "./wire.ts"

/** What was thrown, as a client is told of it. */
export function failureOf(thrown: unknown): GatewayFailure {
  const message = messageOf(thrown)
  if (thrown instanceof RequestProblem) {
    const { status, param } = thrown
    return {
      status,
      code: status !== 404 ? "invalid_request" : param === "model" ? "model_not_found" : "not_found",
      message,
      param,
    }
  }
  if (!ToolwrightError.isInstance(thrown)) return { status: 500, code: "INTERNAL_ERROR", message }
  const { code, hint, retryAfterMs } = thrown
  return {
    status: aboutCode(code)?.status ?? 500,
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
