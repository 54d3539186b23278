import type { Tracer } from "@opentelemetry/api"
import { defineTool, executeCall, failure, ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { traceCalls, type TracerLike } from "./tracing.ts"

/** The real tracer fits, by its type. */
export const fits = (tracer: Tracer): TracerLike => tracer

test("each call has a span with its tool, its source and how it failed, active while the tool runs", async () => {
  const told: unknown[] = []
  const tracer: TracerLike = {
    startActiveSpan(name, { attributes }, run) {
      told.push([name, attributes?.["gen_ai.tool.name"], attributes?.["toolwright.source.kind"]])
      return run({
        setAttribute: (key, value) => told.push([key, value]),
        setStatus: (status) => told.push(status),
        end: () => told.push("end"),
      })
    },
  }
  const tools = new ToolRegistry()
  tools.register(
    defineTool({
      name: "good",
      description: "",
      parameters: { type: "object" },
      execute: () => void told.push("runs"),
    }),
  )
  tools.register(
    defineTool({
      name: "bad",
      description: "",
      parameters: { type: "object" },
      execute: () => failure({ code: "REFUSED", message: "No." }),
    }),
  )
  for (const name of ["good", "bad"])
    await executeCall(tools, { name, arguments: {} }, { middleware: [traceCalls(tracer)] })
  expect(told).toEqual([
    ["execute_tool good", "good", "local"],
    "runs",
    "end",
    ["execute_tool bad", "bad", "local"],
    ["error.type", "REFUSED"],
    { code: 2, message: "No." },
    "end",
  ])
})
