import { failure, success, textOf, type ToolResult } from "./result.ts"
import type { JsonObject } from "./schema.ts"

/** The result shape of a REST tools service: one `result` of any structure, and the time it took. */
export interface ServiceResult {
  success: boolean
  result: unknown
  error: string | null
  metadata: JsonObject
  execution_time_ms: number
}

/** The result shape of agents: text, an error text, the files that changed, structured data. */
export interface AgentResult {
  success: boolean
  output: string
  error?: string
  modified_files?: string[]
  data?: JsonObject
}

const CARRIED = "toolwright"

/** Writes the service shape. What that shape has no field for travels in `metadata.toolwright`, so nothing is lost. */
export function toServiceResult(result: ToolResult): ServiceResult {
  const same = fieldWith(result.data, result.output)
  const carried: JsonObject = {
    ...(same === undefined ? { output: result.output } : { outputField: same }),
    modifiedFiles: result.modifiedFiles,
  }
  if (result.error !== undefined) carried.error = result.error
  return {
    success: result.success,
    result: result.data === undefined ? (result.success ? result.output : null) : result.data,
    error: result.error?.message ?? null,
    metadata: { ...result.metadata, [CARRIED]: { ...carried, hasData: result.data !== undefined } },
    execution_time_ms: result.executionTimeMs,
  }
}

/** The field of the data that is the output word for word, as a file's content may be: long texts travel once. */
function fieldWith(data: unknown, output: string): string | undefined {
  if (output.length < 256 || !isObject(data)) return undefined
  return Object.keys(data).find((key) => data[key] === output)
}

/**
 * Reads the service shape, from this project's own service (lossless) or from another one. What is of another kind than
 * it has to be is passed over: whoever looks at a result finds texts where texts belong.
 */
export function fromServiceResult(wire: ServiceResult): ToolResult {
  const { [CARRIED]: carried, ...metadata } = isObject(wire.metadata) ? wire.metadata : {}
  const own = carriedBy(carried)
  const data = own?.hasData === false ? undefined : (wire.result ?? undefined)
  const parts = {
    output: outputOf(own, data),
    ...(data === undefined ? {} : { data }),
    modifiedFiles: own?.modifiedFiles ?? [],
    metadata,
  }
  const result = wire.success === true ? success(parts) : failure({ ...parts, ...failureOf(wire, own) })
  const { execution_time_ms: time } = wire
  return { ...result, executionTimeMs: typeof time === "number" ? time : 0 }
}

function carriedBy(value: unknown): Carried | undefined {
  if (!isObject(value)) return undefined
  const { output, outputField, modifiedFiles, error, hasData } = value
  return {
    ...(typeof output === "string" ? { output } : {}),
    ...(typeof outputField === "string" ? { outputField } : {}),
    modifiedFiles: Array.isArray(modifiedFiles) ? modifiedFiles.filter((file) => typeof file === "string") : [],
    ...(isFailure(error) ? { error } : {}),
    hasData: hasData !== false,
  }
}

function isFailure(value: unknown): value is NonNullable<ToolResult["error"]> {
  if (!isObject(value)) return false
  const { code, message, hint } = value
  return typeof code === "string" && typeof message === "string" && (hint === undefined || typeof hint === "string")
}

/** What this project's own service sends along, beside what every service sends. */
interface Carried {
  output?: string
  /** The field of the data that is the output. */
  outputField?: string
  modifiedFiles: string[]
  error?: ToolResult["error"]
  hasData: boolean
}

function outputOf(own: Carried | undefined, data: unknown): string {
  if (own?.output !== undefined) return own.output
  const field = own?.outputField
  return field !== undefined && isObject(data) ? String(data[field]) : textOf(data)
}

function failureOf({ error }: ServiceResult, own: Carried | undefined) {
  const said = typeof error === "string" ? error : undefined
  return {
    ...(own === undefined ? { output: said ?? "The tool failed." } : {}),
    ...(own?.error ?? { code: "TOOL_FAILED", message: said ?? "The tool failed without saying why." }),
  }
}

/** Writes the agent shape; `data` that is no object is wrapped as `{ value }`. */
export function toAgentResult(result: ToolResult): AgentResult {
  const wire: AgentResult = { success: result.success, output: result.output }
  if (result.error !== undefined) wire.error = result.error.message
  if (result.modifiedFiles.length > 0) wire.modified_files = result.modifiedFiles
  if (result.data !== undefined) wire.data = isObject(result.data) ? result.data : { value: result.data }
  return wire
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
