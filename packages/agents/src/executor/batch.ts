import type { Executed } from "@toolwright/dialogue"
import {
  executeCall,
  effectsOf,
  failure,
  type AskedCall,
  type CallLimits,
  type CheckedCall,
  type JsonObject,
  type Middleware,
  type PermissionPolicy,
  type RunEvent,
  type ToolCall,
  type ToolEvent,
  type ToolResult,
  type Toolset,
} from "@toolwright/toolbox"

import type { Answer } from "../record/approval.ts"

/** Calls that run beside each other at most, and characters of results that one reply is given. */
const MOST_TOGETHER = 8
const MOST_CHARACTERS = 32 * 1024 * 1024

/** How the calls of a round are to be executed. */
export interface BatchOptions {
  tools: Toolset
  runId: string
  /** The part of the run, where it works in phases. */
  phase?: string | undefined
  /** What ends calls before they are done, shared by those of the run. */
  limits: CallLimits
  middleware: readonly Middleware[]
  permissions?: PermissionPolicy | undefined
  timeoutMs?: number | undefined
  /** Checks the calls and runs none. */
  dryRun?: boolean
  /**
   * Hears of each result, with the arguments as they were run, as soon as it is there, before the next call that may
   * depend on it starts.
   */
  onResult(call: ToolCall, result: ToolResult): void
  /** Whether a call waits for all before it although its tool only reads. */
  alone?(call: ToolCall): boolean
  /** Hears of each event of a call as it happens, before the call goes on. */
  hear?(event: ToolEvent): void
  /** The key of a call, the same for every attempt. */
  keyOf?(call: ToolCall): string
  /** Puts on record that a call which is not only reading is about to take effect. */
  begin?(call: CheckedCall, key: string): Promise<void>
  /** Puts a call to somebody who is not there; see `RunRecorder.ask`. */
  ask?(call: AskedCall): Promise<Answer>
  /** Whether a call has a permission that its start uses up. */
  permitted?(callId: string): boolean
  /**
   * Whether the run was stopped for somebody else to go on with it. No further call is begun then, and of one under way
   * that brings no success nothing is told: it may have taken effect, so it is left as begun.
   */
  interrupted?(): boolean
  /** The result of a call that was made, or begun, in an earlier process; undefined where it is to be run. */
  settled?(call: ToolCall): Promise<SettledCall | undefined>
}

/** What became of a call in an earlier process. */
export interface SettledCall {
  args: JsonObject
  result: ToolResult
  /** Its end stands in the log. */
  known: boolean
}

/** The run cannot go on before somebody has answered. */
export class WaitsForAnswer extends Error {
  readonly tool: string
  readonly approval: string

  constructor(tool: string, approval: string) {
    super(`'${tool}' waits for approval ${approval}.`)
    this.tool = tool
    this.approval = approval
  }
}

/** One step of a batch: events, in order, or all results in the order of the calls. */
export type BatchStep = { done: false; events: readonly RunEvent[] } | { done: true; executed: Executed[] }

/**
 * Executes the calls of one reply. Neighbouring calls of tools that only read run beside each other; every other call
 * waits for all before it, and all after it wait for it. A few run at once, however many a reply names, and once their
 * results are more than anybody could read the others are answered without being run. A failing call keeps no other
 * from running.
 *
 * The first group starts with the first `next`, each further one when the events of the one before have been taken.
 */
export class Batch {
  readonly #options: BatchOptions
  readonly #groups: ToolCall[][]
  readonly #executed: Executed[] = []
  readonly #middleware: Middleware[]
  #events: RunEvent[] = []
  #characters = 0
  /** A group is under way. */
  #working = false
  readonly #permissions: PermissionPolicy | undefined
  readonly #keys = new Map<string, string>()
  /** What `onResult` has thrown, or what keeps the record. */
  #failure: { thrown: unknown } | undefined
  #wake: (() => void) | undefined
  /** Calls of the group under way that have not ended. */
  #open = 0

  constructor(calls: readonly ToolCall[], options: BatchOptions) {
    this.#options = options
    this.#permissions = this.#asking(options)
    this.#groups = groupsOf(calls, options)
    this.#middleware = [(_call, next) => this.#within(next), ...options.middleware]
    const { begin } = options
    // Innermost: what is refused, asked about or answered otherwise has not begun.
    if (begin !== undefined) this.#middleware.push((call, next) => this.#begun(call, next, begin))
  }

  /** A promise only where a call has to be waited for. */
  next(): BatchStep | Promise<BatchStep> {
    return this.#step() ?? this.#later()
  }

  async #later(): Promise<BatchStep> {
    for (;;) {
      await new Promise<void>((resolve) => (this.#wake = resolve))
      const step = this.#step()
      if (step !== undefined) return step
    }
  }

  /** What is there; nothing while there is only to wait. */
  #step(): BatchStep | undefined {
    if (this.#events.length === 0 && this.#failure === undefined && !this.#working) {
      const group = this.#options.interrupted?.() === true ? undefined : this.#groups.shift()
      if (group === undefined) return { done: true, executed: this.#executed }
      void this.#carryOut(group)
    }
    if (this.#events.length > 0) {
      const events = this.#events
      this.#events = []
      return { done: false, events }
    }
    if (this.#failure !== undefined) throw this.#failure.thrown
    return undefined
  }

  async #carryOut(group: readonly ToolCall[]): Promise<void> {
    this.#working = true
    this.#open = group.length
    try {
      this.#executed.push(...(await Promise.all(group.map((call) => this.#execute(call)))))
    } catch (thrown) {
      this.#failure = { thrown }
    }
    this.#working = false
    this.#wake?.()
  }

  #within(next: () => Promise<ToolResult>): Promise<ToolResult> {
    if (this.#characters <= MOST_CHARACTERS) return next()
    const refused = failure({
      code: "TOO_MUCH_AT_ONCE",
      message: "The calls of this reply have brought more than can be read; this one was not run.",
      hint: "Make fewer calls at once.",
      retryable: true,
    })
    return Promise.resolve(refused)
  }

  async #begun(call: CheckedCall, next: () => Promise<ToolResult>, begin: NonNullable<BatchOptions["begin"]>) {
    const { permitted } = this.#options
    if (effectsOf(call.tool, call.arguments)?.readOnly !== true || permitted?.(call.id) === true) {
      try {
        await begin(call, this.#keys.get(call.id)!)
      } catch (thrown) {
        this.#failure ??= { thrown }
        throw thrown
      }
    }
    return next()
  }

  /** Where nobody can be asked, the question is put on record, and the run waits. */
  #asking({ permissions, ask }: BatchOptions): PermissionPolicy | undefined {
    if (permissions === undefined || permissions.approve !== undefined || ask === undefined) return permissions
    return {
      ...permissions,
      approve: async (call) => {
        const answer = await ask(call).catch((thrown: unknown) => {
          // Where nobody can be asked because the record is away, the run has failed, and not this call.
          this.#failure ??= { thrown }
          throw thrown
        })
        if (typeof answer !== "object") return answer
        this.#failure ??= { thrown: new WaitsForAnswer(call.tool.name, answer.waiting) }
        this.#wake?.()
        // It ends with the run, which leaves nothing of it on record.
        return new Promise<boolean>(() => {})
      },
    }
  }

  /** Tells of a call that an earlier process made, or of which nobody knows. */
  #settle(call: ToolCall, { args, result, known }: SettledCall): Executed {
    const event: ToolEvent = { type: "tool-end", callId: call.id, name: call.name, result }
    if (!known) {
      this.#options.hear?.(event)
      this.#events.push(event)
    }
    this.#open--
    this.#options.onResult({ ...call, arguments: args }, result)
    return { call, result }
  }

  async #execute(call: ToolCall): Promise<Executed> {
    const { tools, runId, phase, limits, timeoutMs, dryRun, onResult, hear, keyOf, interrupted } = this.#options
    const permissions = this.#permissions
    const settled = this.#options.settled === undefined ? undefined : await this.#options.settled(call)
    if (settled !== undefined) return this.#settle(call, settled)
    const key = keyOf?.(call)
    if (key !== undefined) this.#keys.set(call.id, key)
    let { arguments: args } = call
    const result = await executeCall(tools, call, {
      callId: call.id,
      runId,
      ...(phase === undefined ? {} : { phase }),
      limits,
      middleware: this.#middleware,
      ...(permissions === undefined ? {} : { permissions }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(dryRun === true ? { dryRun: true } : {}),
      ...(key === undefined ? {} : { idempotencyKey: key }),
      onEvent: (event) => {
        if (event.type === "tool-end" && !event.result.success && (interrupted?.() === true || this.#waits(event)))
          return
        hear?.(event)
        if (event.type === "tool-start") args = event.arguments
        this.#events.push(event)
        // The end of the last call is told with the end of the group.
        if (event.type !== "tool-end" || this.#open > 1) this.#wake?.()
      },
    })
    this.#characters += result.output.length
    // Of a call that waits nothing is told: it ends with the run, and is made again when that goes on.
    if (this.#failure !== undefined && waitIn(result) !== undefined) return new Promise<Executed>(() => {})
    this.#open--
    onResult({ ...call, arguments: args }, result)
    return { call, result }
  }

  /** A call that waits for somebody's answer, in a run that it asked for, makes its own run wait. */
  #waits({ result }: Extract<ToolEvent, { type: "tool-end" }>): boolean {
    const waits = waitIn(result)
    if (waits === undefined) return false
    this.#failure ??= { thrown: new WaitsForAnswer(waits.tool, waits.approval) }
    this.#wake?.()
    return true
  }
}

function waitIn({ metadata }: ToolResult): { tool: string; approval: string } | undefined {
  const { waits } = metadata as { waits?: { tool?: unknown; approval?: unknown } }
  return typeof waits?.tool === "string" && typeof waits.approval === "string"
    ? { tool: waits.tool, approval: waits.approval }
    : undefined
}

/** Calls that may run beside each other, in order: only those that say that they read and do nothing else. */
function groupsOf(calls: readonly ToolCall[], { tools, alone }: BatchOptions): ToolCall[][] {
  const groups: ToolCall[][] = []
  let reading: ToolCall[] | undefined
  for (const call of calls) {
    const reads = tools.get(call.name)?.effects?.readOnly === true && alone?.(call) !== true
    if (reads && reading !== undefined && reading.length < MOST_TOGETHER) {
      reading.push(call)
      continue
    }
    const group = [call]
    groups.push(group)
    reading = reads ? group : undefined
  }
  return groups
}
