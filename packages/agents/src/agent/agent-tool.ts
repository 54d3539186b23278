import { defineTool, failure, success, type RunSummary, type ToolDefinition } from "@toolwright/toolbox"

/** Tasks that spawn tasks: how deep they may nest. The root has depth 0, so depths 0 to 3 exist. */
export const MAX_NESTING_DEPTH = 3

/** An agent as something that can be called as a tool. */
export interface AgentToolOptions {
  name: string
  description: string
  /** Depth of the task that holds this tool; 0 unless given. */
  depth?: number
  maxNestingDepth?: number
  /** Runs the agent at the given depth. */
  run(task: string, context: { signal: AbortSignal; depth: number }): Promise<RunSummary>
}

/** Wraps an agent into a tool of one argument, `task`. Its run is a task one level deeper. */
export function agentTool(options: AgentToolOptions): ToolDefinition {
  const { name, description, depth = 0, maxNestingDepth = MAX_NESTING_DEPTH, run } = options
  return defineTool({
    name,
    description,
    category: "orchestration",
    timeoutMs: 30 * 60_000,
    parameters: {
      type: "object",
      properties: {
        task: { type: "string", minLength: 1, description: "What the agent shall do, complete in itself" },
      },
      required: ["task"],
      additionalProperties: false,
    },
    async execute({ task }, { signal }) {
      if (depth >= maxNestingDepth) {
        return failure({
          code: "NESTING_DEPTH_EXCEEDED",
          message: `Maximum nesting depth ${maxNestingDepth} exceeded`,
          hint: "Do this part yourself instead of handing it on.",
        })
      }
      const summary = await run(String(task), { signal, depth: depth + 1 })
      const parts = { output: summary.message, data: summary, modifiedFiles: summary.modifiedFiles }
      return summary.success ? success(parts) : failure({ ...parts, code: "AGENT_FAILED", message: summary.message })
    },
  })
}
