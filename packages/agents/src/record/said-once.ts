import type { ToolResult } from "@toolwright/toolbox"

/** What of the end of a call is kept. */
interface Kept {
  result?: ToolResult
  /** Where in the result's data its output stands again: the data themselves, or one field of them. */
  outputIn?: readonly string[]
}

/** Characters from which it is worth to say where a text stands again instead of keeping it there. */
const WORTH_SAYING = 200

/**
 * The end of a call as it is kept. Tools that read give what the model is shown in their data too, often word for word
 * and at length: that text is kept once, and it is said where it stands again.
 */
export function saidOnce<Ended extends object>(ended: Ended): Ended {
  const { result } = ended as Kept
  if (result === undefined || result.output.length < WORTH_SAYING) return ended
  const { data, output } = result
  if (data === output) return { ...ended, result: { ...result, data: null }, outputIn: [] }
  const field = isPlain(data) ? Object.keys(data).find((key) => data[key] === output) : undefined
  if (field === undefined) return ended
  return { ...ended, result: { ...result, data: { ...(data as object), [field]: null } }, outputIn: [field] }
}

/** The end of a call as it was, from how it is kept. */
export function saidAgain<Ended extends object>(kept: Ended): Ended {
  const { result, outputIn, ...rest } = kept as Kept
  if (!Array.isArray(outputIn) || typeof result?.output !== "string") return kept
  const [field] = outputIn
  const { data, output } = result
  const whole =
    field === undefined ? output : isPlain(data) && Object.hasOwn(data, field) ? { ...data, [field]: output } : data
  return { ...rest, result: { ...result, data: whole } } as Ended
}

/** The body of an event, in which nothing is only pointed at; undefined once it was erased. */
export function wholeBody({ type, body }: { type: string; body: string | undefined }): string | undefined {
  if (type !== "tool-end" || body?.includes('"outputIn":[') !== true) return body
  try {
    return JSON.stringify(saidAgain(JSON.parse(body) as object))
  } catch {
    // Damaged: shown as it stands there.
    return body
  }
}

/** Whether it is an object of JSON, which is written as it stands. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || "toJSON" in value) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
