import type { JsonObject, RunEvent, RunOutcome, RunSummary, ToolError } from "@toolwright/toolbox"

/** A call as a test compares it: the form in which a scripted reply is written, too. */
export interface PlainCall {
  call: string
  arguments: JsonObject
}

/** A call with what came of it. */
export interface AgentCall extends PlainCall {
  succeeded: boolean
  /** The text that the model was given. */
  output: string
  /** The same for programs, where the tool has it. */
  data?: unknown
  /** Why it did not succeed. */
  error?: ToolError
}

/** A run that has ended, in the parts that tests look at. */
export interface AgentRun {
  /** The answer, or why there is none. */
  readonly text: string
  readonly outcome: RunOutcome
  readonly success: boolean
  /** Every call, refused ones too, in the order in which they began. */
  readonly calls: readonly AgentCall[]
  /**
   * Files that are different now, as paths in the workspace, sorted; without one, those that tools said that they
   * changed.
   */
  readonly changed: readonly string[]
  /** Why the run failed. */
  readonly error?: { code: string; message: string; hint?: string }
  readonly summary: RunSummary
  readonly events: readonly RunEvent[]
  /** All of it as text, for the message of an assertion: `assert.ok(run.success, run.transcript)`. */
  readonly transcript: string
}

/**
 * The calls of a run, names and arguments alone, to be compared as a whole.
 *
 * @param source a run, or the events of one
 * @example
 * assert.deepEqual(callsOf(run), [{ call: "get_weather", arguments: { city: "Oslo" } }])
 */
export function callsOf(source: Pick<AgentRun, "calls"> | Iterable<RunEvent>): PlainCall[] {
  const calls = "calls" in source ? source.calls : callsIn(source)
  return calls.map(({ call, arguments: args }) => ({ call, arguments: args }))
}

/** Every call among some events with its result. One that did not end has failed with the code `NOT_ENDED`. */
export function callsIn(events: Iterable<RunEvent>): AgentCall[] {
  const calls = new Map<string, AgentCall>()
  for (const event of events) {
    if (event.type === "tool-start") {
      const error = { code: "NOT_ENDED", message: "The call had not ended when the run did.", retryable: false }
      calls.set(event.callId, { call: event.name, arguments: event.arguments, succeeded: false, output: "", error })
    } else if (event.type === "tool-end") {
      const { success, output, data, error } = event.result
      const known = calls.get(event.callId)
      calls.set(event.callId, {
        call: event.name,
        arguments: known?.arguments ?? {},
        succeeded: success,
        output,
        ...(data === undefined ? {} : { data }),
        ...(error === undefined ? {} : { error }),
      })
    }
  }
  return [...calls.values()]
}
