import type { NewEvent, RunEnd, RunLog, RunWriter } from "@toolwright/store"
import {
  describeError,
  effectsOf,
  executeCall,
  failure,
  messageOf,
  ToolwrightError,
  type CheckedCall,
  type ExecuteOptions,
  type RunSummary,
  type ToolEvent,
  type ToolResult,
} from "@toolwright/toolbox"
import { Encoder } from "./encode.ts"
import { declaredEffect, effectKey, END_EFFECT, INSERT_EFFECT } from "./effects.ts"
import { holderHere } from "./holder.ts"
import type { RecorderOptions, RunPlace } from "./recorder.ts"
import { newRunId } from "./run-id.ts"
import { namesIn, withShownNames } from "./shown-names.ts"

/** Which call of its run it is. */
const ONLY_CALL = 1

/** Carries out one call; see `executeCall`. */
export type ExecuteCall = typeof executeCall

/** How {@link recordedCalls} records. */
export interface CallRecordOptions extends RecorderOptions {
  /**
   * For a surface of many calls: the record of one that changed nothing is written a moment after its answer, together
   * with others. Hears of what could not be written; from then on each is waited for, until one could be.
   */
  behind?: (lost: string) => void
}

/**
 * Carries out calls that belong to no run, by hand or for somebody outside, and leaves a record of each: a run of its
 * own, without an agent. A call that cannot be put on record is not made; one that only reads is put on record when it
 * has ended.
 *
 * @param open opens the log
 */
export function recordedCalls(
  open: () => Promise<RunLog>,
  place: RunPlace,
  options: CallRecordOptions = {},
): ExecuteCall {
  let signed: string | undefined
  const behind = options.behind === undefined ? undefined : new Behind(options.behind)
  // The same for all calls of this process, and finding it out takes longer than putting a call on record.
  const holder = (): string => (signed ??= holderHere())
  return async (tools, call, settings = {}) => {
    const record = new CallRecord({ open, holder, behind }, call.name, callerIn(place, settings), options)
    const middleware = [...(settings.middleware ?? []), record.middleware]
    const result = await executeCall(tools, call, {
      ...settings,
      callId: record.id,
      middleware,
      onEvent(event) {
        record.hear(event)
        settings.onEvent?.(withShownNames(event, options.redact) as ToolEvent)
      },
    })
    return namesIn(await record.end(result), options.redact)
  }
}

function callerIn(place: RunPlace, { caller }: ExecuteOptions): RunPlace {
  return caller === undefined ? place : { ...place, caller }
}

/** Where a call is put on record, and by whom. */
interface RecordedWhere {
  open(): Promise<RunLog>
  holder(): string
  behind: Behind | undefined
}

/** Records that nobody waits for, as long as they can be written. */
class Behind {
  readonly #tell: (lost: string) => void
  /** The last one could not be written. */
  #failed = false

  constructor(tell: (lost: string) => void) {
    this.#tell = tell
  }

  async write(writer: RunWriter, events: readonly NewEvent[], end: RunEnd): Promise<void> {
    if (this.#failed) {
      await writer.end(events, end)
      this.#failed = false
      return
    }
    await writer.endBehind(events, end, (thrown) => this.lost(thrown, "Calls that changed nothing are not on record"))
  }

  /** Tells that something could not be put on record, once until something could. */
  lost(thrown: unknown, what: string): void {
    if (!this.#failed) this.#tell(`${what}: ${messageOf(thrown)}`)
    this.#failed = true
  }
}

class CallRecord {
  readonly id = newRunId()
  readonly #where: RecordedWhere
  readonly #name: string
  readonly #place: RunPlace
  readonly #options: RecorderOptions
  readonly #began: number
  #written: { writer: RunWriter; encoder: Encoder } | undefined
  readonly #events: { event: ToolEvent; time: number }[] = []
  #effect = false

  constructor(where: RecordedWhere, name: string, place: RunPlace, options: RecorderOptions) {
    this.#where = where
    this.#name = name
    this.#place = place
    this.#options = options
    this.#began = this.#now()
  }

  hear(event: ToolEvent): void {
    if (event.type !== "tool-progress") this.#events.push({ event, time: this.#now() })
  }

  /** Innermost: what is refused, asked about or answered otherwise has not begun. */
  readonly middleware = (call: CheckedCall, next: () => Promise<ToolResult>): Promise<ToolResult> =>
    effectsOf(call.tool, call.arguments)?.readOnly === true ? next() : this.#recordedFirst(call, next)

  async #recordedFirst(call: CheckedCall, next: () => Promise<ToolResult>): Promise<ToolResult> {
    try {
      await this.#begin(call)
    } catch (thrown) {
      this.#where.behind?.lost(thrown, "No call that takes effect is made, since none can be put on record")
      return unrecorded(thrown)
    }
    return next()
  }

  /** Writes the end of the call, and of its run. What a call brought is its result, also where that fails. */
  async end(result: ToolResult): Promise<ToolResult> {
    try {
      const { writer, encoder } = await this.#start()
      const time = this.#now()
      const { outcome, ...rest } = this.#summary(result)
      const summary = encoder.text({ outcome, ...rest })
      const last = { type: "run-end", body: `{"summary":${summary}}`, time }
      const [events, end] = [[...this.#taken(encoder), last], { outcome, summary, time }]
      const { behind } = this.#where
      if (this.#effect)
        await writer.end(events, end, async (execute) => {
          await execute(END_EFFECT, [time, writer.run, ONLY_CALL])
        })
      else await (behind === undefined ? writer.end(events, end) : behind.write(writer, events, end))
      return result
    } catch (thrown) {
      if (result.error?.code === UNWRITABLE) return result
      this.#where.behind?.lost(thrown, "Calls are not on record")
      return { ...result, metadata: { ...result.metadata, unrecorded: messageOf(thrown) } }
    }
  }

  async #begin({ tool, arguments: args }: CheckedCall): Promise<void> {
    const { writer, encoder } = await this.#start()
    const time = this.#now()
    const declared = declaredEffect(tool, args)
    const key = effectKey(writer.run, ONLY_CALL, tool.name, args)
    const body = encoder.text({ callId: this.id, name: tool.name, index: ONLY_CALL, key, declared })
    await writer.append([...this.#taken(encoder), { type: "effect-start", body, time }], async (execute) => {
      await execute(INSERT_EFFECT, [writer.run, ONLY_CALL, this.id, key, tool.name, declared, writer.fence, time, null])
    })
    this.#effect = true
  }

  async #start(): Promise<{ writer: RunWriter; encoder: Encoder }> {
    if (this.#written !== undefined) return this.#written
    const log = await this.#where.open()
    const redact = this.#options.redact ?? ((text) => text)
    const writer = log.draft({
      id: this.id,
      agent: "",
      model: "",
      title: redact(this.#name),
      holder: this.#where.holder(),
      time: this.#began,
      ...this.#place,
    })
    return (this.#written = { writer, encoder: new Encoder(writer, redact, {}) })
  }

  #taken(encoder: Encoder): NewEvent[] {
    return this.#events.splice(0).map(({ event, time }) => ({ type: event.type, body: encoder.ofCall(event), time }))
  }

  #summary(result: ToolResult): RunSummary {
    const { success, error, modifiedFiles, executionTimeMs } = result
    return {
      runId: this.id,
      outcome: success ? "completed" : "failed",
      success,
      message: error === undefined ? "" : describeError(error),
      rounds: 0,
      calls: 1,
      failedCalls: success ? 0 : 1,
      correctedFailures: 0,
      inputTokens: 0,
      outputTokens: 0,
      modifiedFiles,
      times: {
        totalMs: executionTimeMs,
        modelMs: 0,
        toolMs: executionTimeMs,
        overheadMs: 0,
      },
    }
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }
}

const UNWRITABLE = "LOG_UNWRITABLE"

function unrecorded(thrown: unknown): ToolResult {
  const known = ToolwrightError.isInstance(thrown)
  return failure({
    code: UNWRITABLE,
    message: `Nothing was run, since the call could not be put on record: ${messageOf(thrown)}`,
    ...(known && thrown.hint !== undefined ? { hint: thrown.hint } : {}),
    retryable: true,
  })
}
