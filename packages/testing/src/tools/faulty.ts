import {
  failure,
  ToolwrightError,
  type JsonObject,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"

/** What goes wrong with a tool. */
export interface Faults {
  /** How many of its first calls fail; `always` for all. */
  fail?: number | "always"
  /** What a failing call answers; `FAULT`, retryable, unless given. */
  error?: { code?: string; message?: string; hint?: string; retryable?: boolean }
  /** Milliseconds before each call; cancelling and time limits end the wait. */
  delayMs?: number
  /** Characters that the output has at least: the tool's own, repeated. */
  outputChars?: number
}

const KEYS = ["fail", "error", "delayMs", "outputChars"] satisfies (keyof Faults)[]

/**
 * A tool with faults: it fails some times, is slow, or says too much; otherwise it is the tool that was given.
 *
 * @throws ToolwrightError `INVALID_TOOL` when no fault is given, or one that does not exist
 * @example
 * const tools = [faulty(getWeather, { fail: 2 })] // the third call works
 */
export function faulty(tool: ToolDefinition, faults: Faults): ToolDefinition {
  const given = Object.keys(faults)
  const unknown = given.find((key) => !(KEYS as string[]).includes(key))
  if (unknown !== undefined || given.length === 0)
    throw new ToolwrightError(
      "INVALID_TOOL",
      `faulty() takes one or more of: ${KEYS.join(", ")}; there is ${unknown === undefined ? "none" : `'${unknown}'`}.`,
    )
  const { fail = 0, error = {}, delayMs = 0, outputChars = 0 } = faults
  let calls = 0
  return {
    ...tool,
    async handler(args: JsonObject, context: ToolContext): Promise<ToolResult> {
      const number = ++calls
      if (delayMs > 0) await pause(delayMs, context.signal)
      if (fail === "always" || number <= fail) return failureOf(tool.name, error, number, fail)
      const result = await tool.handler(args, context)
      return outputChars === 0 ? result : { ...result, output: filled(result.output, outputChars) }
    },
  }
}

function failureOf(
  name: string,
  { code = "FAULT", message, hint, retryable = true }: NonNullable<Faults["error"]>,
  number: number,
  fail: number | "always",
): ToolResult {
  const which = fail === "always" ? `${number}` : `${number} of ${fail}`
  return failure({
    code,
    message: message ?? `'${name}' failed on purpose (failure ${which}).`,
    retryable,
    ...(hint === undefined ? {} : { hint }),
  })
}

function filled(text: string, length: number): string {
  const piece = text === "" ? "x" : `${text}\n`
  return text.length >= length
    ? text
    : text + `\n${piece.repeat(Math.ceil((length - text.length) / piece.length))}`.slice(0, length - text.length)
}

/** Waits, unless the call is cancelled before. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(end, milliseconds)
    signal.addEventListener("abort", end, { once: true })
    function end(): void {
      clearTimeout(timer)
      signal.removeEventListener("abort", end)
      if (signal.aborted) reject(signal.reason)
      else resolve()
    }
  })
}
