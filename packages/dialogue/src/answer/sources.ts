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

/** Some events of a reply, in order, or how it ended. */
export type SourceStep = { done: false; events: readonly SourceEvent[] } | { done: true; finished: Finished }

/**
 * One reply, told while it comes, in steps and not event by event: a reply has one for each token, and each would be
 * waited for by everybody on its way. Who has had the end of it, or wants no more of it, leaves.
 */
export interface ReplySource {
  next(): Promise<SourceStep>
  leave(): Promise<void>
}

/** The events of a reply one by one. */
export type ReplyEvents = AsyncGenerator<SourceEvent, Finished>

export async function* eventsOf(source: ReplySource): ReplyEvents {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done) return step.finished
      for (const event of step.events) yield event
    }
  } finally {
    await source.leave()
  }
}

export function sourceOf(events: ReplyEvents): ReplySource {
  return {
    async next() {
      const step = await events.next()
      return step.done === true ? { done: true, finished: step.value } : { done: false, events: [step.value] }
    },
    async leave() {
      await events.return(undefined as never)
    },
  }
}

/**
 * A client's request with its tools, put to the model as the dialogue has it.
 *
 * @param tools what a grammar lets be called
 * @param told where not all tools are declared at the front
 */
export function askWithTools(
  dialogue: Dialogue,
  request: InferRequest,
  tools: readonly ToolDefinition[],
  told?: ToldTools,
): ReplySource {
  const asking = new Asking(dialogue, questionFor(dialogue, request, tools, told))
  return {
    async next() {
      const step = await asking.next()
      return step.done ? { done: true, finished: { ...step.reply, said: step.reply.raw } } : step
    },
    leave: () => asking.leave(),
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
export function askPlainly(
  backend: Backend,
  request: InferRequest,
  signal: AbortSignal | undefined,
  format?: Format,
): ReplySource {
  const calls = createCallAssembler({ newId })
  const thoughts = createThoughtSplitter(format)
  const finished: Finished = { finishReason: "unknown", selfKnowledge: {}, said: "" }
  let stream: AsyncIterator<InferEvent> | undefined
  let over = false

  function read(event: InferEvent): AskEvent[] {
    if (event.type === "end") {
      const { type: _, finishReason, usage, ...selfKnowledge } = event
      Object.assign(finished, { finishReason, selfKnowledge }, usage === undefined ? {} : { usage })
      return []
    }
    if (event.type !== "text-delta") return plainEvents(event, calls)
    finished.said += event.text
    return thoughts.push(event.text)
  }

  return {
    async next() {
      if (over) return { done: true, finished }
      stream ??= backend.infer(request, signal === undefined ? {} : { signal })[Symbol.asyncIterator]()
      const step = await stream.next()
      if (step.done !== true) return { done: false, events: read(step.value) }
      over = true
      const rest = calls.end(finished.finishReason === "length").flatMap(replyEvent)
      return { done: false, events: [...thoughts.end(), ...rest] }
    },
    async leave() {
      if (!over) await stream?.return?.()
      over = true
    },
  }
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
