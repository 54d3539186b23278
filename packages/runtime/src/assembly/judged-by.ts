import type { HandOver, PhaseProfile } from "@toolwright/agents"
import {
  effectsOf,
  executeCall,
  nearest,
  ToolwrightError,
  type ExecuteOptions,
  type JsonObject,
  type ToolResult,
  type Toolset,
} from "@toolwright/toolbox"

/** What the tools that judge a hand-over are found in and called with. */
export interface Judging {
  readonly tools: Toolset
  readonly options: ExecuteOptions
}

/**
 * What a phase hands over, judged by the tools that its agent names.
 *
 * @throws ToolwrightError `MISSING_TOOLS`, `INVALID_AGENT` where one of them is not there, or does more than read
 */
export function judgedBy(
  { name, handsOver, judgedBy: named }: PhaseProfile,
  { tools, options }: Judging,
): { handsOver?: HandOver } {
  if (handsOver === undefined || named === undefined) return {}
  const asked = (tool: string) => {
    checkTool(tool, name, tools)
    return (value: unknown, signal?: AbortSignal): Promise<ToolResult> =>
      executeCall(tools, { name: tool, arguments: value }, { ...options, ...(signal === undefined ? {} : { signal }) })
  }
  const { check, sanitise } = named
  return {
    handsOver: {
      ...handsOver,
      ...(check === undefined ? {} : { check: checkedBy(asked(check)) }),
      ...(sanitise === undefined ? {} : { sanitise: sanitisedBy(sanitise, asked(sanitise)) }),
    },
  }
}

type Asked = (value: unknown, signal?: AbortSignal) => Promise<ToolResult>

function checkedBy(ask: Asked): NonNullable<HandOver["check"]> {
  return async (value, _ledger, signal) => {
    const result = await ask(value, signal)
    return result.success ? undefined : result.error.message
  }
}

function sanitisedBy(tool: string, ask: Asked): NonNullable<HandOver["sanitise"]> {
  return async (value, signal) => {
    const result = await ask(value, signal)
    if (!result.success) throw new Error(result.error.message)
    const { data } = result
    if (typeof data === "object" && data !== null && !Array.isArray(data)) return data
    throw new Error(`'${tool}', which says what is handed over, answered no object`)
  }
}

function checkTool(tool: string, phase: string, tools: Toolset): void {
  const found = tools.get(tool)
  if (found === undefined) {
    const close = nearest(
      tool,
      tools.list().map((each) => each.name),
    )[0]
    throw new ToolwrightError(
      "MISSING_TOOLS",
      `The phase '${phase}' is judged by the tool '${tool}', which is not here.`,
      {
        hint: close === undefined ? "Name its file with --tools or in 'tools'." : `Did you mean '${close}'?`,
      },
    )
  }
  if (effectsOf(found, {} as JsonObject)?.readOnly === true) return
  throw new ToolwrightError(
    "INVALID_AGENT",
    `The phase '${phase}' is judged by '${tool}', which does not say that it only reads.`,
    {
      hint: "Give the tool effects: { readOnly: true }.",
    },
  )
}
