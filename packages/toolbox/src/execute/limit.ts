import { messageOf, partsOf, ToolwrightError } from "../model/errors.ts"
import { failure, isToolResult, type ToolFailure, type ToolResult } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import type { ToolContext, ToolDefinition } from "../model/tool.ts"

/**
 * Runs a handler and always answers: with its result, with what it threw, or, when the time limit is over or the caller
 * cancels, with that, whether or not the handler heeds its signal. What it does afterwards is no longer listened to.
 */
export function runLimited(
  tool: ToolDefinition,
  args: JsonObject,
  context: Omit<ToolContext, "signal">,
  limits: { timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<ToolResult> {
  const { timeoutMs, signal: outer } = limits
  if (outer?.aborted) return Promise.resolve(cancelled(tool))
  return new Promise((resolve) => {
    const controller = new AbortController()
    let settled = false
    const settle = (result: ToolResult): void => {
      if (settled) return
      settled = true
      clearTimeout(timer)
      outer?.removeEventListener("abort", onAbort)
      resolve(result)
    }
    const onAbort = (): void => {
      controller.abort(outer?.reason)
      settle(cancelled(tool))
    }
    const timer = setTimeout(() => {
      controller.abort(new ToolwrightError("TIMEOUT", `The time limit of ${timeoutMs} ms is over.`))
      settle(timedOut(tool, timeoutMs))
    }, timerDelay(timeoutMs))
    outer?.addEventListener("abort", onAbort, { once: true })
    const progress: ToolContext["progress"] = (update) => {
      if (!settled) context.progress(update)
    }
    try {
      Promise.resolve(tool.handler(args, { ...context, progress, signal: controller.signal }))
        .then((value) => settle(checked(tool, value)))
        .catch((thrown: unknown) => settle(thrownBy(tool, thrown)))
    } catch (thrown) {
      settle(thrownBy(tool, thrown))
    }
  })
}

/** The longest delay that a timer can have (2³¹ − 1 ms, 24 days); a longer one would fire at once. */
const LONGEST_DELAY_MS = 2_147_483_647

function timerDelay(timeoutMs: number): number {
  return timeoutMs < LONGEST_DELAY_MS ? timeoutMs : LONGEST_DELAY_MS
}

function checked(tool: ToolDefinition, given: unknown): ToolResult {
  // Read once, here: what is behind a getter or a proxy may throw, and must do so where it is caught.
  const value: unknown = isToolResult(given) ? { ...given } : given
  if (!isToolResult(value)) {
    const came = value === null ? "null" : typeof value
    return failure({ code: "INVALID_RESULT", message: `The tool '${tool.name}' returned ${came} instead of a result.` })
  }
  if (value.success || value.error !== undefined) return value
  return failure({
    ...value,
    code: "TOOL_FAILED",
    message: value.output || `The tool '${tool.name}' failed without saying why.`,
  })
}

function thrownBy(tool: ToolDefinition, thrown: unknown): ToolResult {
  if (ToolwrightError.isInstance(thrown)) {
    return failure(partsOf(thrown))
  }
  return failure({
    code: "TOOL_CRASHED",
    message: `The tool '${tool.name}' failed: ${messageOf(thrown)}`,
    details: stackOf(thrown),
  })
}

function stackOf(thrown: unknown): JsonObject {
  try {
    return thrown instanceof Error && thrown.stack !== undefined ? { stack: thrown.stack } : {}
  } catch {
    return {}
  }
}

function timedOut(tool: ToolDefinition, timeoutMs: number): ToolFailure {
  return failure({
    code: "TIMEOUT",
    message: `The tool '${tool.name}' did not answer within ${timeoutMs} ms and was stopped.`,
    hint: "Ask for less at once, or raise the time limit.",
    retryable: true,
  })
}

/** How a call ends that its caller cancelled. */
export function cancelled(tool: ToolDefinition): ToolFailure {
  return failure({ code: "CANCELLED", message: `The call of '${tool.name}' was cancelled.`, retryable: true })
}
