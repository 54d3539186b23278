import {
  executeCall,
  failure,
  toServiceResult,
  type CallGate,
  type Middleware,
  type PermissionPolicy,
  type ToolEvent,
  type ToolResult,
  type Toolset,
} from "@toolwright/toolbox"
import type { Metrics } from "../http/metrics.ts"
import type { ServerOptions } from "../options.ts"

/** A call of a tool over HTTP. */
export interface Call {
  name: string
  arguments: unknown
  signal: AbortSignal
  noCache: boolean
  /** The holder of the token; empty where nobody is told apart. */
  caller: string
  /** The `Idempotency-Key` of the request. */
  key?: string | undefined
  /** A person has seen the call, and permits what would be asked about. */
  approved?: boolean
  onEvent?: ((event: ToolEvent) => void) | undefined
}

/** What is sent for a call: the result as JSON, written once, and what of it decides the status. */
export interface Answer {
  text: string
  /** Code, message and hint of a failure. */
  code?: string
  error?: string
  hint?: string
}

/** Carries calls out within the gate's limits, and writes what they answer. */
export function caller(options: ServerOptions, metrics: Metrics, gate: CallGate) {
  const middleware: Middleware[] = [
    ...(options.middleware ?? []),
    ...(options.cache === undefined ? [] : [options.cache.middleware]),
    gate.middleware,
  ]
  const most = options.maxResultBytes ?? 16 * 1024 * 1024
  return async (tools: Toolset, call: Call): Promise<Answer> => {
    const entered = gate.enter(call.caller, tools.get(call.name))
    if ("refused" in entered) return answerOf(entered.refused, most)
    try {
      const result = await (options.executeCall ?? executeCall)(tools, call, {
        signal: call.signal,
        noCache: call.noCache,
        middleware,
        ...(call.caller === "" ? {} : { caller: call.caller }),
        ...permissionsOf(options, call),
        ...(options.toolTimeoutMs === undefined ? {} : { timeoutMs: options.toolTimeoutMs }),
        // Keys of different callers are not the same.
        ...(call.key === undefined ? {} : { idempotencyKey: [call.caller, call.key].filter(Boolean).join("/") }),
        ...(call.onEvent === undefined ? {} : { onEvent: call.onEvent }),
      })
      metrics.countCall(tools.get(call.name)?.name ?? call.name, result)
      return answerOf(result, most)
    } finally {
      entered.leave()
    }
  }
}

function permissionsOf({ permissions }: ServerOptions, { approved = false }: Call): { permissions?: PermissionPolicy } {
  if (approved) return { permissions: { ...permissions, approve: seen } }
  return permissions === undefined ? {} : { permissions }
}

/** Whoever has seen a call may permit it; a tool that is not what it was is not the one that they know. */
const seen: NonNullable<PermissionPolicy["approve"]> = ({ tool: { changed, provenance } }) =>
  Promise.resolve(
    changed === undefined ||
      `${changed} changed since it was let in. Let it in as it is now with: toolwright trust source ` +
        `${provenance?.name ?? "NAME"}`,
  )

/** A result that is too large for its reader is a failure that says so. */
function answerOf(result: ToolResult, most: number): Answer {
  if (result.output.length > most) return tooLarge(result, `more than ${most}`, most)
  const text = JSON.stringify(toServiceResult(result))
  // A character has at most three bytes, so most texts need not be measured.
  const size = text.length * 3 <= most ? 0 : Buffer.byteLength(text)
  if (size > most) return tooLarge(result, String(size), most)
  if (result.error === undefined) return { text }
  const { code, message, hint } = result.error
  return { text, code, error: message, ...(hint === undefined ? {} : { hint }) }
}

function tooLarge({ executionTimeMs }: ToolResult, size: string, most: number): Answer {
  const refused = failure({
    code: "RESULT_TOO_LARGE",
    message: `The result has ${size} bytes; at most ${most} are sent.`,
    hint: "Ask for less at once.",
  })
  return answerOf({ ...refused, executionTimeMs }, Number.POSITIVE_INFINITY)
}
