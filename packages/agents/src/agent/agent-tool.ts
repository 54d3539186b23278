import {
  defineTool,
  failure,
  success,
  type RunSummary,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"

/** Runs that ask others: how deep they may nest. The root has depth 0, so depths 0 to 3 exist. */
export const MAX_NESTING_DEPTH = 3

/** How a run of an agent that was called as a tool ended; `waits` where it waits for somebody's answer. */
export interface AskedRun {
  summary: RunSummary
  waits?: { tool: string; approval: string }
}

/** An agent as something that can be called as a tool. */
export interface AgentToolOptions {
  name: string
  description: string
  /** Depth of the run that holds this tool; 0 unless given. */
  depth?: number
  maxNestingDepth?: number
  /** Whether the agent changes nothing, so that calls of it may run beside each other. */
  readOnly?: boolean
  /** Half an hour unless given. */
  timeoutMs?: number
  /** Runs the agent at the given depth. A call that is made again after a crash has the same key. */
  run(task: string, context: ToolContext & { depth: number }): Promise<RunSummary | AskedRun>
}

const HALF_AN_HOUR = 30 * 60_000

/** Wraps an agent into a tool of one argument, `task`. Its run is one level deeper. */
export function agentTool(options: AgentToolOptions): ToolDefinition {
  const { name, description, depth = 0, maxNestingDepth = MAX_NESTING_DEPTH, readOnly = false, run } = options
  return defineTool({
    name,
    description,
    category: "orchestration",
    timeoutMs: options.timeoutMs ?? HALF_AN_HOUR,
    effects: readOnly ? { readOnly: true, idempotent: true } : { keyed: true },
    parameters: {
      type: "object",
      properties: {
        task: { type: "string", minLength: 1, description: "What the agent shall do, complete in itself" },
      },
      required: ["task"],
      additionalProperties: false,
    },
    async execute({ task }, context) {
      if (depth >= maxNestingDepth) {
        return failure({
          code: "NESTING_DEPTH_EXCEEDED",
          message: `Maximum nesting depth ${maxNestingDepth} exceeded`,
          hint: "Do this part yourself instead of handing it on.",
        })
      }
      const ended = await run(String(task), { ...context, depth: depth + 1 })
      return answerOf("summary" in ended ? ended : { summary: ended }, readOnly)
    },
  })
}

const FILES_NAMED = 20

/** How what is on record begins, in brackets of any width; {@link UNSEEN} may stand in between. */
const LIKE_A_RECORD = /[[［【]\s*on\s+record/giu
const UNSEEN = /\p{Cf}/gu

/** An agent's own words, in which nothing reads as the line that is on record. */
function asSaid(message: string): string {
  const seen = message.replace(UNSEEN, "")
  return seen.search(LIKE_A_RECORD) === -1 ? message : seen.replace(LIKE_A_RECORD, "[said, and not on record: $&")
}

/** A file's name, which could itself end the line that names it. */
function named(file: string): string {
  return /[\p{Cc}\p{Cf}[\]\u2028\u2029]/u.test(file) ? JSON.stringify(file).replaceAll("]", "\\u005d") : file
}

/** What an agent changed, as it is on record: its own words about that are a claim. */
function changesTold(files: readonly string[], readOnly: boolean): string {
  if (readOnly) return ""
  if (files.length === 0) return "\n[On record: it changed no file.]"
  const more = files.length > FILES_NAMED ? ` and ${files.length - FILES_NAMED} more` : ""
  return `\n[On record: it changed ${files.slice(0, FILES_NAMED).map(named).join(", ")}${more}.]`
}

/** What whoever asked is told: the agent's answer, what it changed, and which run it was. */
function answerOf({ summary, waits }: AskedRun, readOnly: boolean): ToolResult {
  const { runId, outcome, message, inputTokens, outputTokens, modifiedFiles, artifacts, output } = summary
  const parts = {
    output: asSaid(message) + changesTold(modifiedFiles, readOnly),
    data: {
      run: runId,
      outcome,
      message,
      changed: [...modifiedFiles],
      ...(artifacts === undefined ? {} : { artifacts }),
      ...(output === undefined ? {} : { output }),
    },
    modifiedFiles,
    metadata: {
      asked: { run: runId, outcome, inputTokens, outputTokens },
      ...(waits === undefined ? {} : { waits }),
    },
  }
  if (summary.success) return success(parts)
  return failure({
    ...parts,
    code: "AGENT_FAILED",
    message: `${outcome}: ${asSaid(message)}${changesTold(modifiedFiles, readOnly)}`,
    hint: "Give it a smaller task, or do this part yourself.",
  })
}
