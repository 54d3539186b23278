import { aboutCode, type ToolFailure } from "@toolwright/toolbox"
import { problem } from "./problem.ts"

/** The answer to a call that failed for a reason of the server's, or nothing where the tool's own result is one. */
export function refusalOf(code: string | undefined, message: string | undefined, hint?: string): Response | undefined {
  if (code === undefined || aboutCode(code)?.ofServer !== true) return undefined
  return problem({
    code,
    message: message ?? "The server could not do it.",
    retryable: true,
    ...(hint === undefined ? {} : { hint }),
  })
}

/** The answer to a request that the gate did not let in. */
export function refusedBy(result: ToolFailure): Response {
  const { code, message, hint } = result.error
  return refusalOf(code, message, hint)!
}
