import type { Expectation, ScreenplayReply, ScriptedCall, ScreenplayStep } from "@toolwright/backends"
import type { ModelFailure, ReplyParts, ShownCheck, WantedCall } from "./reply.ts"
import type { Shown } from "./shown.ts"

/** A reply as the step of a screenplay, with what a screenplay cannot hold beside it. */
export interface PlannedStep {
  step: ScreenplayStep
  /** Checks that are functions. */
  checks: ((shown: Shown) => void | Promise<void>)[]
  calls: readonly WantedCall[]
}

export function toStep(reply: string | ReplyParts): PlannedStep {
  const parts = typeof reply === "string" ? { text: reply } : reply
  const calls = callsIn(parts)
  const checks = [parts.expect ?? []].flat() as ShownCheck[]
  const { text, reasoning, delayMs, chunks, usage, finish, fail } = parts
  const played: ScreenplayReply = {
    interpolate: false,
    ...(text === undefined ? {} : { text }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(chunks === undefined ? {} : { chunks }),
    ...(usage === undefined ? {} : { usage }),
    ...(finish === undefined ? {} : { finish }),
    ...(calls.length === 0 ? {} : { calls: calls.map(scriptedCall) }),
    ...(fail === undefined ? {} : failing(fail)),
  }
  const expect = checks.filter((check): check is Expectation => typeof check !== "function")
  return { step: { reply: played, expect }, checks: checks.filter((check) => typeof check === "function"), calls }
}

/** The calls of a reply, however they are written. */
export function callsIn({ call, arguments: args, wrong, calls = [] }: ReplyParts): readonly WantedCall[] {
  if (call === undefined) return calls
  return [
    { call, ...(args === undefined ? {} : { arguments: args }), ...(wrong === undefined ? {} : { wrong }) },
    ...calls,
  ]
}

function scriptedCall({ call, arguments: args = {} }: WantedCall): ScriptedCall {
  return { name: call, arguments: args }
}

function failing(fail: ModelFailure): Partial<ScreenplayReply> {
  if (fail === "stall") return { hang: true }
  if (typeof fail === "number") return { error: { status: fail } }
  return { error: typeof fail === "string" ? { kind: fail } : fail }
}

/** A reply in a few words, for messages. */
export function describeReply(reply: unknown): string {
  if (typeof reply === "function") return "a function"
  if (typeof reply === "string") return `text ${quoted(reply)}`
  const { name, text, fail, ...parts } = reply as ReplyParts
  if (name !== undefined) return name
  const calls = callsIn(parts).map(
    ({ call, arguments: args = {} }) => `${call}(${cutTo(typeof args === "string" ? args : JSON.stringify(args), 60)})`,
  )
  const said = [
    ...(text === undefined ? [] : [`text ${quoted(text)}`]),
    ...(calls.length === 0 ? [] : [`calls ${calls.join(", ")}`]),
    ...(fail === undefined ? [] : [`fails: ${typeof fail === "object" ? JSON.stringify(fail) : fail}`]),
  ]
  return said.join(", ") || "an empty reply"
}

const quoted = (text: string): string => JSON.stringify(cutTo(text, 60))
const cutTo = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}…`)
