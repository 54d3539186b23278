import {
  executeCall,
  type Middleware,
  type PermissionPolicy,
  type RunEvent,
  type ToolCall,
  type ToolResult,
  type Toolset,
} from "@toolwright/toolbox"
import { Channel } from "./channel.ts"
import type { Executed } from "@toolwright/dialogue"

/** How the calls of a round are to be executed. */
export interface BatchOptions {
  tools: Toolset
  runId: string
  signal: AbortSignal
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
}

/**
 * Executes the calls of one reply. Neighbouring calls of tools that only read run beside each other, everything else
 * one after
 * another; results keep the order of the calls, and a failing call keeps no other from running.
 */
export async function* executeBatch(
  calls: readonly ToolCall[],
  options: BatchOptions,
): AsyncGenerator<RunEvent, Executed[]> {
  const executed: Executed[] = []
  for (const group of groups(calls, options.tools)) {
    const channel = new Channel<RunEvent>()
    const work = Promise.all(
      group.map(async (call): Promise<Executed> => {
        let args = call.args
        const result = await executeCall(options.tools, call, {
          callId: call.id,
          runId: options.runId,
          signal: options.signal,
          middleware: options.middleware,
          ...(options.permissions === undefined ? {} : { permissions: options.permissions }),
          ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
          ...(options.dryRun === true ? { dryRun: true } : {}),
          onEvent: (event) => {
            if (event.type === "tool-start") args = event.arguments
            channel.push(event)
          },
        })
        options.onResult({ ...call, args }, result)
        return { call, result }
      }),
    )
    executed.push(...(yield* channel.until(work)))
  }
  return executed
}

function groups(calls: readonly ToolCall[], tools: Toolset): ToolCall[][] {
  const grouped: ToolCall[][] = []
  let open = false
  for (const call of calls) {
    const reads = tools.get(call.name)?.effects?.readOnly === true
    if (reads && open) grouped.at(-1)!.push(call)
    else grouped.push([call])
    open = reads
  }
  return grouped
}
