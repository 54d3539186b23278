import { SCREENPLAY_SCHEMA, type Expectation } from "@toolwright/backends"
import { messageOf, nearest, ToolwrightError, type JsonSchema } from "@toolwright/toolbox"
import type { ReplyParts, ShownCheck, WantedCall } from "./reply.ts"

const CALL_KEYS = ["call", "arguments", "wrong"] satisfies (keyof WantedCall)[]
const REPLY_KEYS = [
  ...CALL_KEYS,
  "text",
  "reasoning",
  "calls",
  "fail",
  "expect",
  "delayMs",
  "chunks",
  "usage",
  "finish",
  "repeat",
  "name",
] satisfies (keyof ReplyParts)[]
const FAILURES = ["stall", "unreachable", "timeout", "cut-off", "invalid-json", "invalid-utf8"]
const FAILURE_KEYS = ["status", "code", "message", "hint"]

const step = SCREENPLAY_SCHEMA.properties!.steps!.items as JsonSchema
const expectations = step.properties!.expect!.properties!

/**
 * Looks for mistakes in a reply: a key that is misspelt would otherwise be a check that never fails.
 *
 * @param where what messages call it
 * @throws ToolwrightError `SCREENPLAY_INVALID`
 */
export function checkReply(reply: unknown, where: string): void {
  if (typeof reply === "string" || typeof reply === "function") return
  const parts = objectOf<ReplyParts>(reply, where, "a text, an object or a function")
  checkKeys(parts, REPLY_KEYS, where)
  if (parts.call === undefined && (parts.arguments !== undefined || parts.wrong !== undefined))
    throw invalid(`${where} has 'arguments' or 'wrong', but no 'call'.`)
  for (const call of parts.calls ?? []) {
    checkKeys(
      objectOf(call, `A call of ${where}`, "an object such as { call, arguments }"),
      CALL_KEYS,
      `A call of ${where}`,
    )
  }
  for (const { call } of [parts as Partial<WantedCall>, ...(parts.calls ?? [])]) {
    if (call !== undefined && (typeof call !== "string" || call === ""))
      throw invalid(`${where}: 'call' is the name of a tool.`)
  }
  if (["text", "reasoning", "call", "calls", "fail"].every((key) => !(key in parts)))
    throw invalid(`${where} says nothing: give 'text', 'call', 'calls' or 'fail'.`)
  checkFailure(parts.fail, where)
  for (const check of [parts.expect ?? []].flat() as ShownCheck[])
    if (typeof check !== "function") checkExpectation(check, where)
}

function checkFailure(fail: ReplyParts["fail"], where: string): void {
  if (typeof fail === "string" && !FAILURES.includes(fail))
    throw invalid(
      `${where}: 'fail' is no '${fail}'; one of ${FAILURES.join(", ")}, an HTTP status, or { code, message }.`,
    )
  if (typeof fail === "number" && (fail < 400 || fail > 599)) throw invalid(`${where}: HTTP ${fail} is no failure.`)
  if (typeof fail === "object") checkKeys(fail, FAILURE_KEYS, `'fail' of ${where}`)
}

function checkExpectation(expectation: Expectation, where: string): void {
  checkKeys(
    objectOf(expectation, `'expect' of ${where}`, "an object or a function"),
    Object.keys(expectations),
    `'expect' of ${where}`,
  )
  for (const [key, check] of Object.entries(expectation)) {
    if (typeof check !== "object" || check === null || check instanceof RegExp) continue
    const known = expectations[key]!.properties
    if (known !== undefined) checkKeys(check as object, Object.keys(known), `'expect.${key}' of ${where}`)
    for (const pattern of [(check as { matches?: string | RegExp }).matches ?? []].flat()) checkPattern(pattern, where)
  }
}

function checkPattern(pattern: string | RegExp, where: string): void {
  try {
    void new RegExp(pattern)
  } catch (cause) {
    throw invalid(`'expect' of ${where}: ${messageOf(cause)}`)
  }
}

function checkKeys(value: object, known: readonly string[], where: string): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const [near] = nearest(key, known)
    throw invalid(
      `${where} has the unknown key '${key}'; ` +
        `${near === undefined ? `one of: ${known.join(", ")}` : `did you mean '${near}'?`}`,
    )
  }
}

function objectOf<Value extends object>(value: unknown, where: string, wanted: string): Value {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid(`${where} is ${wanted}, not ${JSON.stringify(value) ?? String(value)}.`)
  return value as Value
}

const invalid = (message: string): ToolwrightError => new ToolwrightError("SCREENPLAY_INVALID", message)
