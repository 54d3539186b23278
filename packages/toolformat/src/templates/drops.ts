import type { ToolCall } from "@toolwright/toolbox"
import type { ChatMessage, OpenAITool } from "../model/message.ts"

/**
 * What a template silently leaves out of the prompt. `calls` and `results` are those of the turn that is going on;
 * `pastCalls` says that calls are left out once the user has spoken again.
 */
export interface TemplateDrops {
  tools: boolean
  /** The tools are shown only beside a system message. */
  toolsWithoutSystem: boolean
  calls: boolean
  results: boolean
  pastCalls: boolean
  /** Of several calls in one message only one is shown. */
  parallelCalls: boolean
  /** Some probe could not be rendered. What it would have shown counts as shown: a failure is not silent. */
  failed: boolean
}

type Render = (messages: readonly ChatMessage[], tools: readonly OpenAITool[]) => string

const TOOL = "qzv_offered"
const CALLED = "qzv_called"
const PARAMETER = "qzv_parameter"
const VALUE = "qzvvalue"
const SECOND = "qzvsecond"
const RESULT = "qzvresult"

const tool = (name: string): OpenAITool => ({
  type: "function",
  function: {
    name,
    description: "Probe",
    parameters: {
      type: "object",
      properties: { [PARAMETER]: { type: "string", description: "Probe" } },
      required: [PARAMETER],
    },
  },
})

const user = (content: string): ChatMessage => ({ role: "user", content })
const call = (id: string, value: string): ToolCall => ({ id, name: CALLED, arguments: { [PARAMETER]: value } })
const result = (id: string): ChatMessage => ({
  role: "tool",
  content: JSON.stringify({ probe: RESULT }),
  callId: id,
  name: CALLED,
  success: true,
})
const turn: ChatMessage[] = [
  { role: "assistant", content: "", toolCalls: [call("qzvcall01", VALUE)] },
  result("qzvcall01"),
]
const parallel: ChatMessage[] = [
  { role: "assistant", content: "", toolCalls: [call("qzvcall01", VALUE), call("qzvcall02", SECOND)] },
  result("qzvcall01"),
  result("qzvcall02"),
]

/** Finds out by rendering marked tools, calls and results whether they come out again. */
export function probeDrops(render: Render): TemplateDrops {
  let failed = false
  const shows = (messages: ChatMessage[], tools: OpenAITool[], ...marks: string[]): boolean => {
    try {
      const text = render(messages, tools)
      return marks.every((mark) => text.includes(mark))
    } catch {
      failed = true
      return true
    }
  }
  const offered = [tool(TOOL)]
  const current = [user("Begin."), ...turn]
  const system: ChatMessage = { role: "system", content: "Help." }
  const toolsWithoutSystem = !shows([user("Begin.")], offered, TOOL, PARAMETER)
  const past = [...current, { role: "assistant", content: "Done." } as const, user("Go on.")]
  const drops = {
    tools: toolsWithoutSystem && !shows([system, user("Begin.")], offered, TOOL, PARAMETER),
    toolsWithoutSystem,
    calls: !shows(current, offered, CALLED, VALUE),
    results: !shows(current, offered, RESULT),
    pastCalls: !shows(past, offered, CALLED, VALUE),
  }
  return {
    ...drops,
    parallelCalls: !drops.calls && !shows([user("Begin."), ...parallel], offered, VALUE, SECOND),
    failed,
  }
}
