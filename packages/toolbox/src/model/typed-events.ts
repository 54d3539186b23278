import type { RunEvent, RunSummary, ToolEvent } from "./events.ts"
import type { ToolFailure, ToolResult } from "./result.ts"
import type { JsonObject } from "./schema.ts"
import type { ToolDefinition, TypedTool } from "./tool.ts"

type ToolStart = Extract<ToolEvent, { type: "tool-start" }>
type ToolEnd = Extract<ToolEvent, { type: "tool-end" }>

/** What a run amounts to that was to answer in a form: where it succeeded, the value is there. */
export type OutputSummary<Output> = RunSummary &
  ({ success: true; output: Output } | { success: false; output?: Output })

/**
 * The events of a run with tools that the compiler knows: the name of a tool tells which arguments and which data an
 * event has. What a model calls that is none of them is refused, and has a failure alone.
 */
export type RunEventOf<Tool extends ToolDefinition, Summary extends RunSummary = RunSummary> =
  | Exclude<RunEvent, { type: "tool-start" | "tool-end" | "run-end" }>
  | (string extends Tool["name"] ? ToolStart | ToolEnd : EventOfTool<Tool> | Refused | ReadOn)
  | (Omit<Extract<RunEvent, { type: "run-end" }>, "summary"> & { summary: Summary })

/** The events that tell of a call of one tool and of its result. */
export type EventOfTool<Tool> =
  Tool extends TypedTool<infer Name, infer Args, infer Data>
    ?
        | (Omit<ToolStart, "name" | "arguments" | "refused"> & { name: Name; arguments: Args; refused?: undefined })
        | (Omit<ToolEnd, "name" | "result"> & { name: Name; result: ToolResult<Data> })
    : never

/** A call that nothing was run for. */
type Refused =
  | (Omit<ToolStart, "arguments" | "refused"> & { arguments: JsonObject; refused: true })
  | (Omit<ToolEnd, "result"> & { result: ToolFailure })

/** The tool that a run adds where a result was cut. */
type ReadOn =
  | (Omit<ToolStart, "name" | "refused"> & { name: "read_result"; refused?: undefined })
  | (Omit<ToolEnd, "name"> & { name: "read_result" })

/**
 * Whether an event tells of a tool's call or its result: for runs that have other tools too, whose events the compiler
 * cannot tell apart by their names.
 *
 * @example
 * if (isOf(event, forecast) && event.type === "tool-end" && event.result.success) event.result.data.celsius
 */
export function isOf<Tool extends ToolDefinition>(event: RunEvent, tool: Tool): event is EventOfTool<Tool> & RunEvent {
  if (event.type === "tool-start") return event.name === tool.name && event.refused !== true
  return event.type === "tool-end" && event.name === tool.name
}
