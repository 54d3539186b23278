import { messageOf, partsOf, ToolwrightError } from "../model/errors.ts"
import { failure, isToolResult, type ToolFailure, type ToolResult } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import type { ToolContext, ToolDefinition } from "../model/tool.ts"
import type { CallLimits, Limited } from "./call-limits.ts"

/**
 * Runs a handler and always answers: with its result, with what it threw, or, when the time limit is over or the caller
 * cancels, with that, whether or not the handler heeds its signal. What it does afterwards is no longer listened to.
 */
export function runLimited(
  tool: ToolDefinition,
  args: JsonObject,
  context: Omit<ToolContext, "signal">,
  { timeoutMs, limits }: { timeoutMs: number; limits: CallLimits },
): Promise<ToolResult> {
  if (limits.signal?.aborted) return Promise.resolve(cancelled(tool))
  return new Promise((resolve) => {
    const controller = new AbortController()
    let settled = false
    const settle = (result: ToolResult): void => {
      if (settled) return
      settled = true
      limits.release(limited)
      resolve(result)
    }
    const limited: Limited = {
      timeoutMs,
      aborted() {
        controller.abort(limits.signal?.reason)
        settle(cancelled(tool))
      },
      late() {
        controller.abort(new ToolwrightError("TIMEOUT", `The time limit of ${timeoutMs} ms is over.`))
        settle(timedOut(tool, timeoutMs))
      },
    }
    limits.watch(limited)
    const progress: ToolContext["progress"] = (update) => {
      if (!settled) context.progress(update)
    }
    void answerOf(tool, args, { ...context, progress, signal: controller.signal }).then(settle)
  })
}

/** What a handler gives, or what it throws as a result. */
async function answerOf(tool: ToolDefinition, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  try {
    return checked(tool, await tool.handler(args, context))
  } catch (thrown) {
    return thrownBy(tool, thrown)
  }
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
