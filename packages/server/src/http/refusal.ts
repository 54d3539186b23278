import type { ToolFailure } from "@toolwright/toolbox"
import { problem } from "./problem.ts"

/** Statuses of failures that say nothing of the call, but of the server, and when to come again, in seconds. */
const STATUSES: Record<string, { status: number; retryAfter?: number }> = {
  TOO_MANY_CALLS: { status: 429, retryAfter: 1 },
  SERVER_BUSY: { status: 503, retryAfter: 1 },
  SOURCE_UNAVAILABLE: { status: 503, retryAfter: 5 },
  TIMEOUT: { status: 504 },
}

/** The answer to a call that failed for a reason of the server's, or nothing where the tool's own result is one. */
export function refusalOf(code: string | undefined, message: string | undefined, hint?: string): Response | undefined {
  const found = code === undefined ? undefined : STATUSES[code]
  if (code === undefined || found === undefined) return undefined
  return problem(
    found.status,
    {
      code,
      message: message ?? "The server could not do it.",
      retryable: true,
      ...(hint === undefined ? {} : { hint }),
    },
    found.retryAfter === undefined ? {} : { "retry-after": String(found.retryAfter) },
  )
}

/** The answer to a request that the gate did not let in. */
export function refusedBy(result: ToolFailure): Response {
  const { code, message, hint } = result.error
  return refusalOf(code, message, hint)!
}
