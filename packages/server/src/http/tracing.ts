import type { Middleware } from "@toolwright/toolbox"

/** What of an OpenTelemetry span is used. */
export interface SpanLike {
  setAttribute(name: string, value: string | number | boolean): unknown
  setStatus(status: { code: number; message?: string }): unknown
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

/**
 * The tracer of the OpenTelemetry SDK that this process was started with (`node --import`); one that records nothing
 * where none was.
 *
 * @returns undefined when `@opentelemetry/api` is not installed
 */
export async function openTelemetryTracer(): Promise<TracerLike | undefined> {
  try {
    const { trace } = await import("@opentelemetry/api")
    return trace.getTracer("toolwright")
  } catch {
    return undefined
  }
}

/**
 * A span for each call, named and described by OpenTelemetry's conventions for generative AI (`execute_tool`). It is
 * active while the
 * tool runs, so what the tool does over HTTP becomes its child. Arguments and results are not recorded, since they may
 * be secret.
 */
export function traceCalls(tracer: TracerLike): Middleware {
  return ({ tool, id: callId }, next) => {
    const { kind, name } = tool.provenance ?? { kind: "local", name: "local" }
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool.name,
      "gen_ai.tool.call.id": callId,
      "toolwright.source.kind": kind,
      "toolwright.source.name": name,
    }
    return tracer.startActiveSpan(`execute_tool ${tool.name}`, { kind: INTERNAL, attributes }, async (span) => {
      try {
        const result = await next()
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
