import type { Backend, FinishReason, InferEvent, InferRequest, SelfKnowledge, Usage } from "@toolwright/backends"
import type { ToolCall, ToolDefinition } from "@toolwright/toolbox"
import { createCallAssembler, renderConversation, type Format, type ParseEvent } from "@toolwright/toolformat"
import { Asking, type AskEvent, type Dialogue, type Question } from "../ask.ts"
import { saidIn } from "../grounding.ts"
import type { ReplyEvent } from "../reply/reply.ts"
import { choiceText, withRequest } from "./instructions.ts"
import { createThoughtSplitter } from "./thoughts.ts"
import { writtenNatively, type ToldTools } from "./told-tools.ts"

/** How a reply ended, and what of it goes back to the model if it is asked again. */
export interface Finished {
  finishReason: FinishReason
  usage?: Usage
  selfKnowledge: SelfKnowledge
  said: string
  /** The client's stop sequence that ended it. */
  stoppedAt?: string
}

/** What is told of a reply: what was asked and written, and which tools a search for some showed. */
export type SourceEvent = AskEvent | { type: "tools-found"; query: string; tools: readonly string[] }

/** One reply, told while it comes. */
export type ReplySource = AsyncGenerator<SourceEvent, Finished>

/**
 * A client's request with its tools, put to the model as the dialogue has it.
 *
 * @param tools what a grammar lets be called
 * @param told where not all tools are declared at the front
 */
export async function* askWithTools(
  dialogue: Dialogue,
  request: InferRequest,
  tools: readonly ToolDefinition[],
  told?: ToldTools,
): ReplySource {
  const asking = new Asking(dialogue, questionFor(dialogue, request, tools, told))
  try {
    for (;;) {
      const step = await asking.next()
      if (step.done) return { ...step.reply, said: step.reply.raw }
      for (const event of step.events) yield event
    }
  } finally {
    await asking.leave()
  }
}

/**
 * A client's request as a question: its messages are written as the plan has them, its calls keep the ids they have.
 */
function questionFor(
  dialogue: Dialogue,
  request: InferRequest,
  tools: readonly ToolDefinition[],
  told: ToldTools | undefined,
): Question {
  const { messages, tools: given = [], toolChoice = "auto", parallelToolCalls, sampling: _, ...extra } = request
  const offered = told?.declaredNatively ?? given
  const isNative = (): boolean => dialogue.plan.delivery === "native"
  const taken = new Set(messages.flatMap((message) => (message.role === "assistant" ? idsOf(message) : [])))
  // A client tells calls, and their results, by their ids alone: one that was there before is no id.
  const nameCall = (given: string): string => {
    const id = isNative() && given !== "" && !COUNTED.test(given) && !taken.has(given) ? given : newId()
    taken.add(id)
    return id
  }
  return {
    tools,
    knownTools: told === undefined ? tools : [...told.all, ...told.own],
    messages: (plan) => {
      if (plan.delivery === "native") return told === undefined ? messages : writtenNatively(told, messages)
      const choice =
        plan.delivery === "grammar"
          ? ""
          : choiceText({ toolChoice, ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }) }, tools)
      return withRequest(renderConversation(plan.formatter, messages, told?.declared ?? tools), choice)
    },
    said: () => saidIn(messages),
    callsBefore: 0,
    nameCall,
    mustCall: toolChoice === "required",
    oneCall: parallelToolCalls === false,
    native: { tools: offered, toolChoice, ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }) },
    extra,
  }
}

function idsOf({ toolCalls = [] }: { toolCalls?: readonly ToolCall[] }): string[] {
  return toolCalls.map(({ id }) => id)
}

/** Ids that a server counts from the start in every reply. */
const COUNTED = /^call_\d+$/

function newId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`
}

/** A request without tools: what the model writes is text, whatever it looks like. */
export async function* askPlainly(
  backend: Backend,
  request: InferRequest,
  signal: AbortSignal | undefined,
  format?: Format,
): ReplySource {
  const calls = createCallAssembler({ newId })
  const thoughts = createThoughtSplitter(format)
  const finished: Finished = { finishReason: "unknown", selfKnowledge: {}, said: "" }
  for await (const event of backend.infer(request, signal === undefined ? {} : { signal })) {
    if (event.type === "end") {
      const { type: _, finishReason, usage, ...selfKnowledge } = event
      Object.assign(finished, { finishReason, selfKnowledge }, usage === undefined ? {} : { usage })
    } else {
      if (event.type === "text-delta") {
        finished.said += event.text
        yield* thoughts.push(event.text)
      } else yield* plainEvents(event, calls)
    }
  }
  yield* thoughts.end()
  yield* calls.end(finished.finishReason === "length").flatMap(replyEvent)
  return finished
}

function plainEvents(
  event: Exclude<InferEvent, { type: "end" }>,
  calls: ReturnType<typeof createCallAssembler>,
): AskEvent[] {
  if (event.type === "call-delta") return calls.push(event).flatMap(replyEvent)
  if (event.type === "retry") return [{ ...event, type: "model-retry" }]
  return event.type === "tokens" ? [] : [event]
}

/** Calls that nobody offered, as they are told of a reply. */
function replyEvent(event: ParseEvent): ReplyEvent[] {
  switch (event.type) {
    case "call-end":
      return [
        {
          type: "call-end",
          callId: event.call.id,
          name: event.call.name,
          arguments: event.call.arguments,
          path: "native",
        },
      ]
    case "problem": {
      const { at: _at, ...told } = event.problem
      return [{ type: "parse-problem", ...told }]
    }
    default:
      return []
  }
}

/** What several questions took together. */
export function sumOf(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (first === undefined || second === undefined) return second ?? first
  return {
    ...second,
    inputTokens: first.inputTokens + second.inputTokens,
    outputTokens: first.outputTokens + second.outputTokens,
  }
}
