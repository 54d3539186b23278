import type { RunRequest } from "@toolwright/agents"
import type { Backend } from "@toolwright/backends"
import type { Answering, AnswerRequest } from "@toolwright/dialogue"
import { ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { runAsChat } from "./agent-run.ts"
import { RequestProblem, type GatewayEvent, type GatewayRequest } from "./wire.ts"

/** An agent that clients may ask for by its name: it works with the server's own tools. */
export interface GatewayAgent {
  name: string
  run(request: RunRequest): AsyncGenerator<RunEvent, RunSummary>
}

/** What stands before an agent's name where a client names a model. */
export const AGENT_PREFIX = "toolwright/"

/**
 * The agent that a request asks for: by its model, `toolwright/<agent>`, or by the header. Nothing where it asks for
 * none; whatever else a request holds or leaves out, no agent runs then.
 *
 * @throws ToolwrightError `UNKNOWN_AGENT`
 */
export function agentFor(
  model: string,
  header: string | undefined,
  agents: readonly GatewayAgent[],
): GatewayAgent | undefined {
  const name = header ?? (model.startsWith(AGENT_PREFIX) ? model.slice(AGENT_PREFIX.length) : undefined)
  if (name === undefined) return undefined
  const agent = agents.find((candidate) => candidate.name === name)
  if (agent !== undefined) return agent
  const names = agents.map((candidate) => AGENT_PREFIX + candidate.name).join(", ")
  throw new ToolwrightError("UNKNOWN_AGENT", `There is no agent '${name}' here.`, {
    hint: names === "" ? "This server offers none." : `There is: ${names}.`,
  })
}

/** What of a request does not reach the model, by the names of its wire. */
export function leftOutOf(request: GatewayRequest, backend: Backend, agent: GatewayAgent | undefined): string[] {
  const passed = agent === undefined ? leftByBackend(request, backend) : leftByAgent(request)
  return [...new Set([...request.leftOut, ...passed])]
}

function leftByBackend(request: GatewayRequest, backend: Backend): string[] {
  const asked = answerRequestOf(request)
  if (backend.leavesOut !== undefined) return backend.leavesOut(asked)
  const pictures = request.messages.some((message) => message.role === "user" && message.media !== undefined)
  return [...Object.keys(request.extraBody), ...(pictures ? ["images"] : [])]
}

/** An agent has tools and an aim of its own. */
function leftByAgent({ tools, parallelToolCalls, extraBody }: GatewayRequest): string[] {
  return [
    ...(tools.length === 0 ? [] : ["tools"]),
    ...(parallelToolCalls === undefined ? [] : ["parallel_tool_calls"]),
    ...Object.keys(extraBody),
  ]
}

/** The question to the model that a request is. */
export function answerRequestOf(request: GatewayRequest): AnswerRequest {
  const { messages, tools, deferred, stopAt, toolChoice, parallelToolCalls, sampling, jsonSchema, extraBody } = request
  return {
    messages: withOneSystem(messages),
    ...(tools.length === 0 ? {} : { tools, toolChoice }),
    ...(deferred === undefined ? {} : { deferred }),
    ...(stopAt === undefined ? {} : { stopAt }),
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
    ...(Object.keys(extraBody).length === 0 ? {} : { extraBody }),
  }
}

/** Chat templates know one system message, at the beginning: clients send several. */
function withOneSystem(messages: readonly ChatMessage[]): ChatMessage[] {
  const first = messages.findIndex(({ role }) => role !== "system")
  const count = first < 0 ? messages.length : first
  if (count < 2) return [...messages]
  const content = messages
    .slice(0, count)
    .map((message) => message.content)
    .join("\n\n")
  return [{ role: "system", content }, ...messages.slice(count)]
}

/** The model's own answer. A server that is busy is not waited for: its clients know best how long they can wait. */
export async function* passThrough(
  answering: Answering,
  request: AnswerRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly GatewayEvent[], void> {
  for await (const events of answering.steps(request, { signal })) {
    for (const event of events)
      if (event.type === "retry" && event.code === "MODEL_RATE_LIMITED")
        throw new ToolwrightError(
          "MODEL_RATE_LIMITED",
          `The model's server takes no more requests now: ${event.reason}.`,
          {
            retryAfterMs: event.delayMs,
          },
        )
    yield events
  }
}

/** The answer of an agent that works on the request. */
export async function* agentAnswer(
  agent: GatewayAgent,
  request: GatewayRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly GatewayEvent[], void> {
  const run = agent.run(runRequestOf(request, signal))
  for await (const event of runAsChat(run, request.jsonSchema !== undefined)) yield [event]
}

/**
 * The last message of the user is the task, what stands before it the history; what follows it (replies, results, what
 * another agent handed over) has been done about it already. System messages become the agent's.
 *
 * @throws RequestProblem where the user says nothing
 */
export function runRequestOf({ messages, sampling, jsonSchema }: GatewayRequest, signal: AbortSignal): RunRequest {
  const last = messages.findLastIndex(({ role, content }) => role === "user" && content !== "")
  const asked = messages[last]
  if (asked?.role !== "user") throw new RequestProblem("An agent needs a message of the user.", "messages")
  const system = messages.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n\n")
  return {
    task: asked.content,
    history: messages.slice(0, last),
    since: messages.slice(last + 1),
    signal,
    ...(asked.media === undefined ? {} : { media: asked.media }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
    ...(system === "" ? {} : { systemPrompt: system }),
    ...(jsonSchema === undefined ? {} : { output: { schema: jsonSchema } }),
  }
}
