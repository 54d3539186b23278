import { useQuery } from "@tanstack/react-query"
import { get } from "../lib/api.ts"
import type { Schema } from "../lib/json.ts"

/** A tool as the server lists it. */
export interface ToolInfo {
  name: string
  title?: string
  description: string
  parameters: Schema
  tags: string[]
  category: string
  effects?: {
    readOnly?: boolean
    destructive?: boolean
    idempotent?: boolean
    network?: boolean
    executes?: boolean
    [name: string]: unknown
  }
  output_schema?: Schema
  /** The tool that this is an action of; it is then found by its name, and not listed beside it. */
  action_of?: string
}

/** What a call answers. */
export interface CallAnswer {
  success: boolean
  result: unknown
  error: string | null
  metadata: {
    toolwright?: {
      output?: string
      /** The field of the data that the output is, word for word. */
      outputField?: string
      error?: { code: string; message: string; hint?: string }
      modifiedFiles?: string[]
    }
    /** Nobody was there to permit the call. */
    permission?: "ask"
  } & Record<string, unknown>
  execution_time_ms: number
}

/** What would become of a call. */
export interface CheckAnswer {
  valid: boolean
  error?: { code: string; message: string; hint?: string; problems?: { path: string; message: string }[] }
  arguments?: Record<string, unknown>
  repairs: { path: string; kind: string; from: unknown; to: unknown }[]
  permission?: "allow" | "ask" | "deny"
  /** Why it is so. */
  because?: string
}

export function useTools() {
  return useQuery({ queryKey: ["tools"], queryFn: ({ signal }) => get<ToolInfo[]>("tools/?actions=1", signal) })
}
