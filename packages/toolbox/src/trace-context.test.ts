import { channel } from "node:diagnostics_channel"
import { expect, onTestFinished, test } from "vitest"
import { readTrace, traced, traceHere, withTrace } from "./trace-context.ts"

const PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

const read = (headers: Record<string, unknown>) => readTrace((name) => headers[name])
const headersOf = (init?: RequestInit) => Object.fromEntries(new Headers(traced(init).headers))

test.each<[Record<string, unknown>, object | undefined]>([
  [{ traceparent: PARENT }, { traceparent: PARENT }],
  [
    { traceparent: PARENT, tracestate: "a=1,b=2" },
    { traceparent: PARENT, tracestate: "a=1,b=2" },
  ],
  [{ traceparent: PARENT, tracestate: "a=1\n" }, { traceparent: PARENT }],
  [{ traceparent: PARENT, tracestate: "x".repeat(513) }, { traceparent: PARENT }],
  [{ traceparent: `01${PARENT.slice(2)}-more` }, { traceparent: `01${PARENT.slice(2)}-more` }],
  [{ traceparent: PARENT.toUpperCase() }, undefined],
  [{ traceparent: `ff${PARENT.slice(2)}` }, undefined],
  [{ traceparent: `00-${"0".repeat(32)}-b7ad6b7169203331-01` }, undefined],
  [{ traceparent: `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01` }, undefined],
  [{ traceparent: `${PARENT}\r\nx: y` }, undefined],
  [{ traceparent: [PARENT, PARENT] }, undefined],
  [{ tracestate: "a=1" }, undefined],
])("of %j is read %j", (headers, trace) => expect(read(headers)).toEqual(trace))

test("what is begun within a trace says so in its requests, also later, and nothing else does", async () => {
  const trace = { traceparent: PARENT, tracestate: "a=1" }
  const later = withTrace(trace, async () => {
    await Promise.resolve()
    return [traceHere(), headersOf({ headers: { "x-own": "1" } }), headersOf({ headers: { traceparent: "mine" } })]
  })
  expect([traceHere(), headersOf()]).toEqual([undefined, {}])
  expect(await later).toEqual([trace, { ...trace, "x-own": "1" }, { traceparent: "mine" }])
  expect(withTrace(trace, () => withTrace(undefined, traceHere))).toEqual(trace)
})

test("where something watches all requests it is left to say it", () => {
  const watch = (): void => {}
  const requests = channel("undici:request:create")
  requests.subscribe(watch)
  onTestFinished(() => void requests.unsubscribe(watch))
  expect(withTrace({ traceparent: PARENT }, headersOf)).toEqual({})
})
