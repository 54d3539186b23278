import { failure, ToolwrightError, wildcard, type CheckedCall, type Middleware } from "@toolwright/toolbox"
import type { ToolResult } from "@toolwright/toolbox"
import type { CallLimit } from "../configuration/rules.ts"

const KEYS = ["perMinute", "perRun", "failures"] as const

/** Runs whose counts are kept; the oldest are forgotten. */
const KEPT_RUNS = 1000

const MINUTE_MS = 60_000

/** What is known of the calls of one tool in one run. */
interface Counted {
  calls: number
  failuresInARow: number
  /** The part of the run that these failures are of. */
  phase: string | undefined
}

/**
 * Middleware that holds calls to limits; every pattern that a tool's name matches counts. Calls that belong to no run
 * have no limit but that of the minute.
 *
 * @param now milliseconds, of a clock that does not go back
 * @throws ToolwrightError `INVALID_CONFIGURATION` where a limit is not a whole number above 0, or unknown
 */
export function limitCalls(
  limits: Readonly<Record<string, CallLimit>>,
  now: () => number = () => performance.now(),
): Middleware {
  for (const [pattern, limit] of Object.entries(limits)) checkLimit(pattern, limit)
  const runs = new Map<string, Map<string, Counted>>()
  const minutes = new Map<string, number[]>()
  return async (call, next) => {
    const limit = limitOf(limits, call.tool.name)
    const counted = call.runId === undefined ? undefined : countedIn(runs, call)
    const refused = overRun(call, limit, counted) ?? overMinute(call, limit, minutes, now())
    if (refused !== undefined) return refused
    if (counted === undefined) return next()
    counted.calls++
    const result = await next()
    counted.failuresInARow = result.success ? 0 : counted.failuresInARow + 1
    return result
  }
}

/** The strictest of what the patterns say that a name matches. */
function limitOf(limits: Readonly<Record<string, CallLimit>>, name: string): CallLimit {
  const matching = Object.entries(limits).flatMap(([pattern, limit]) => (wildcard(pattern, name) ? [limit] : []))
  const least = (key: (typeof KEYS)[number]) => {
    const values = matching.flatMap((limit) => limit[key] ?? [])
    return values.length === 0 ? {} : { [key]: Math.min(...values) }
  }
  return { ...least("perMinute"), ...least("perRun"), ...least("failures") }
}

function countedIn(runs: Map<string, Map<string, Counted>>, call: CheckedCall): Counted {
  const { phase, runId = "", tool } = call
  const { name } = tool
  const run = runs.get(runId) ?? new Map<string, Counted>()
  runs.delete(runId)
  runs.set(runId, run)
  if (runs.size > KEPT_RUNS) runs.delete(runs.keys().next().value!)
  const counted = run.get(name) ?? { calls: 0, failuresInARow: 0, phase }
  // A phase begins anew: what failed in the one before may go well with what this one is for.
  if (counted.phase !== phase) counted.failuresInARow = 0
  counted.phase = phase
  run.set(name, counted)
  return counted
}

function overRun({ tool }: CheckedCall, limit: CallLimit, counted: Counted | undefined): ToolResult | undefined {
  if (counted === undefined) return undefined
  const { perRun, failures } = limit
  if (failures !== undefined && counted.failuresInARow >= failures) {
    const where = counted.phase === undefined ? "run" : "phase"
    const message = `'${tool.name}' failed ${failures} times in a row, and is not carried out again in this ${where}.`
    return failure({ code: "CALL_LIMIT", message, hint: "Go another way, or finish and say what is in the way." })
  }
  if (perRun === undefined || counted.calls < perRun) return undefined
  const message = `'${tool.name}' may be called ${perRun} times in a run, and was.`
  return failure({ code: "CALL_LIMIT", message, hint: "Use what it has said already." })
}

function overMinute(
  { tool }: CheckedCall,
  { perMinute }: CallLimit,
  minutes: Map<string, number[]>,
  now: number,
): ToolResult | undefined {
  if (perMinute === undefined) return undefined
  const recent = (minutes.get(tool.name) ?? []).filter((at) => now - at < MINUTE_MS)
  minutes.set(tool.name, recent)
  if (recent.length < perMinute) {
    recent.push(now)
    return undefined
  }
  const seconds = Math.max(1, Math.ceil((MINUTE_MS - (now - recent[0]!)) / 1000))
  const message = `'${tool.name}' may be called ${perMinute} times a minute. In ${seconds} s it may be again.`
  return failure({ code: "CALL_LIMIT", message, retryable: true })
}

function checkLimit(pattern: string, limit: unknown): void {
  const refuse = (wrong: string): never => {
    throw new ToolwrightError("INVALID_CONFIGURATION", `calls.limits: '${pattern}' ${wrong}.`, {
      hint: `Write, for example: calls: { limits: { "web_*": { perMinute: 10, perRun: 50, failures: 3 } } }`,
    })
  }
  if (typeof limit !== "object" || limit === null || Array.isArray(limit)) return refuse("must be a mapping")
  for (const [key, value] of Object.entries(limit) as [string, unknown][]) {
    if (!(KEYS as readonly string[]).includes(key)) refuse(`has no limit '${key}'; there are ${KEYS.join(", ")}`)
    if (!Number.isInteger(value) || (value as number) < 1) refuse(`needs a whole number above 0 for ${key}`)
  }
}
