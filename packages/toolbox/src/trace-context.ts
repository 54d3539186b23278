/** Where work belongs in somebody's trace, as W3C's Trace Context says it in two headers. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/
const MOST_STATE = 512

/** Reads what a request, or an environment, says of a trace; nothing where it is none that others would take. */
export function readTrace(header: (name: "traceparent" | "tracestate") => unknown): TraceContext | undefined {
  const traceparent = header("traceparent")
  if (typeof traceparent !== "string" || traceparent.length > 200 || !TRACEPARENT.test(traceparent)) return undefined
  const tracestate = header("tracestate")
  const hasState = typeof tracestate === "string" && /^[ -~]+$/.test(tracestate) && tracestate.length <= MOST_STATE
  return { traceparent, ...(hasState ? { tracestate } : {}) }
}

/** Does work, and all that it begins, as part of a trace. Without one it is part of the trace that it was before. */
export function withTrace<Result>(trace: TraceContext | undefined, work: () => Result): Result {
  return trace === undefined || current === undefined ? work() : current.run(trace, work)
}

/** The trace that the work here is part of. */
export function traceHere(): TraceContext | undefined {
  return current?.getStore()
}

/**
 * A request that says which trace it is part of, unless it says so itself. Where something in the process watches all
 * requests, as instrumentations do, it is left to say it: a header that stands there twice is none.
 */
export function traced(init: RequestInit = {}): RequestInit {
  const trace = traceHere()
  if (trace === undefined || requestsAreWatched()) return init
  const headers = new Headers(init.headers)
  if (headers.has("traceparent")) return init
  for (const [name, value] of Object.entries(trace)) headers.set(name, value as string)
  return { ...init, headers }
}

/** As {@link traced}, of headers with names in small letters; `watched` is what watches these requests listen to. */
export function tracedHeaders(
  headers: Readonly<Record<string, string>>,
  watched: string,
): Readonly<Record<string, string>> {
  const trace = traceHere()
  return trace === undefined || requestsAreWatched(watched) ? headers : { ...trace, ...headers }
}

/** What Node has for work that goes on in pieces; a browser has nothing of the kind. */
interface Storage {
  run<Result>(trace: TraceContext, work: () => Result): Result
  getStore(): TraceContext | undefined
}

const current = storageHere()

function storageHere(): Storage | undefined {
  const hooks = builtin("node:async_hooks") as { AsyncLocalStorage: new () => Storage } | undefined
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage()
}

/** Whether something in the process watches all that is sent, by `fetch` unless another channel is named. */
export function requestsAreWatched(channel = "undici:request:create"): boolean {
  const channels = builtin("node:diagnostics_channel") as { hasSubscribers(name: string): boolean } | undefined
  return channels?.hasSubscribers(channel) ?? false
}

function builtin(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } }
  return process?.getBuiltinModule?.(name)
}
