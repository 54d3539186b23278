import { readTrace, traceHere, withTrace, type Middleware, type TraceContext } from "@toolwright/toolbox"

/** What of an OpenTelemetry span is used. */
export interface SpanLike {
  setAttribute(name: string, value: string | number | boolean): unknown
  setStatus(status: { code: number; message?: string }): unknown
  spanContext?(): { traceId: string; spanId: string; traceFlags: number; traceState?: { serialize(): string } }
  end(): void
}

/** What of an OpenTelemetry tracer is used: `trace.getTracer("…")` of `@opentelemetry/api` fits. */
export interface TracerLike {
  startActiveSpan<Result>(
    name: string,
    options: { kind?: number; attributes?: Record<string, string | number | boolean> },
    run: (span: SpanLike) => Result,
  ): Result
}

/** `SpanKind.INTERNAL` and `SpanStatusCode.ERROR` of the OpenTelemetry API. */
const [INTERNAL, ERROR] = [0, 2]

/** Where OpenTelemetry's API keeps what an SDK has registered, whichever copy of it is asked. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1")

/**
 * The tracer of the OpenTelemetry SDK that this process was started with (`node --import`). Its spans continue the
 * trace of a request that came in, also where nothing watches requests.
 *
 * @returns undefined where no SDK is registered, or `@opentelemetry/api` is not installed
 */
export async function openTelemetryTracer(): Promise<TracerLike | undefined> {
  if ((globalThis as Record<symbol, unknown>)[REGISTERED] === undefined) return undefined
  try {
    const { context, propagation, trace } = await import("@opentelemetry/api")
    const tracer = trace.getTracer("toolwright")
    return {
      startActiveSpan(name, options, run) {
        const here = context.active()
        const isInSpan = trace.getSpan(here) !== undefined
        return tracer.startActiveSpan(
          name,
          options,
          isInSpan ? here : propagation.extract(here, traceHere() ?? {}),
          run,
        )
      },
    }
  } catch {
    return undefined
  }
}

/**
 * A span for each call, named and described by OpenTelemetry's conventions for generative AI (`execute_tool`). It is
 * active while the tool runs, so what the tool asks of services becomes its child, there too. Arguments and results are
 * not recorded, since they may be secret.
 */
export function traceCalls(tracer: TracerLike): Middleware {
  return ({ tool, id: callId, runId }, next) => {
    const { kind, name } = tool.provenance ?? { kind: "local", name: "local" }
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool.name,
      "gen_ai.tool.call.id": callId,
      "toolwright.source.kind": kind,
      "toolwright.source.name": name,
      ...(runId === undefined ? {} : { "toolwright.run.id": runId }),
    }
    return tracer.startActiveSpan(`execute_tool ${tool.name}`, { kind: INTERNAL, attributes }, async (span) => {
      try {
        const result = await withTrace(traceOf(span), next)
        if (result.metadata["cached"] === true) span.setAttribute("toolwright.cached", true)
        if (result.error !== undefined) {
          span.setAttribute("error.type", result.error.code)
          span.setStatus({ code: ERROR, message: result.error.message })
        }
        return result
      } finally {
        span.end()
      }
    })
  }
}

/** A span as others are told of it; nothing of one that records nothing. */
function traceOf(span: SpanLike): TraceContext | undefined {
  const told = span.spanContext?.()
  if (told === undefined) return undefined
  const { traceId, spanId, traceFlags, traceState } = told
  const flags = traceFlags.toString(16).padStart(2, "0")
  return readTrace((name) =>
    name === "traceparent" ? `00-${traceId}-${spanId}-${flags}` : traceState?.serialize() || undefined,
  )
}
