import { wrapBackend, type Backend, type InferEvent, type InferRequest } from "@toolwright/backends"
import { hideGrounded, ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { renderConversation, type OpenAITool, type ToolFormatter } from "@toolwright/toolformat"
import { Asking, openDialogue, type Dialogue, type Question } from "./ask.ts"
import { createCallEvents } from "./call-events.ts"
import type { GrammarCache, ToolCallingMode } from "./delivery.ts"
import { saidIn, type GroundingSetting } from "./grounding.ts"

/** Settings of {@link toolCallingBackend}. */
export interface ToolCallingOptions {
  mode?: ToolCallingMode
  /** The format, where it is not to be chosen by the model's name. */
  formatter?: ToolFormatter
  /** Which arguments must come from the conversation where calls are held by a grammar; `auto` unless given. */
  grounding?: GroundingSetting
}

/**
 * Gives any backend native tool use: a request with tools is put to the model as the executor puts one, and its calls,
 * whether they came natively or stood in the text, come back as native ones. Where the server refuses its own tool use
 * it is not asked for that again.
 *
 * The calls' ids are unique over requests, so that a client may keep them in one conversation.
 */
export function toolCallingBackend(backend: Backend, options: ToolCallingOptions = {}): Backend {
  const { mode, formatter, grounding } = options
  const definitionsOf = rememberDefinitions()
  const grammars: GrammarCache = new WeakMap()
  let refusesTools = false

  async function* infer(request: InferRequest, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<InferEvent> {
    const { messages, tools: offered = [], sampling } = request
    if (offered.length === 0) {
      yield* backend.infer(request, signal === undefined ? {} : { signal })
      return
    }
    const tools = definitionsOf(offered)
    const said = saidIn(messages)
    const dialogue = openDialogue({
      backend,
      mode,
      formatter,
      grounding,
      sampling,
      signal,
      tools,
      said,
      messages,
      refusesTools,
      grammars,
    })
    const asking = new Asking(dialogue, questionFor(request, tools, dialogue))
    const calls = createCallEvents()
    try {
      for (;;) {
        const step = await asking.next()
        if (step.done) {
          const { finishReason, usage } = step.reply
          const cutOff = isNative(dialogue) && finishReason === "length"
          const reason = calls.count > 0 && !cutOff ? "tool-calls" : finishReason
          yield { type: "end", finishReason: reason, ...(usage === undefined ? {} : { usage }) }
          return
        }
        for (const event of step.events) for (const inferred of calls.from(event)) yield inferred
      }
    } finally {
      refusesTools ||= dialogue.refusedTools
      await asking.leave()
    }
  }

  const abilities = { ...backend.abilities, nativeTools: true }
  return wrapBackend(backend, { abilities, infer })
}

/** A client's request as a question: its messages are written as the plan has them, its calls keep the ids they have. */
function questionFor(request: InferRequest, tools: readonly ToolDefinition[], dialogue: Dialogue): Question {
  const { messages, tools: offered = [], toolChoice = "auto", sampling: _sampling, ...extra } = request
  const told = toolChoice === "none" ? [] : tools
  return {
    tools: told,
    messages: (plan) => (plan.delivery === "native" ? messages : renderConversation(plan.formatter, messages, told)),
    said: () => saidIn(messages),
    callsBefore: 0,
    nameCall: (given) => (isNative(dialogue) && given !== "" && !COUNTED.test(given) ? given : newId()),
    mustCall: toolChoice === "required",
    native: { tools: offered, toolChoice },
    extra,
  }
}

/** Ids that a server counts from the start in every reply. */
const COUNTED = /^call_\d+$/

function isNative({ plan }: Dialogue): boolean {
  return plan.delivery === "native"
}

function newId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`
}

/** Sets of tools that are kept, with what is worked out about them. */
const MAX_SETS = 16

/** Clients send the same tools with every request: the same definitions then, so that grammars are not made anew. */
function rememberDefinitions(): (tools: readonly OpenAITool[]) => readonly ToolDefinition[] {
  const known = new Map<string, readonly ToolDefinition[]>()
  return (tools) => {
    const key = JSON.stringify(tools)
    const definitions = known.get(key) ?? tools.map(definitionOf)
    known.delete(key)
    known.set(key, definitions)
    if (known.size > MAX_SETS) known.delete(known.keys().next().value!)
    return definitions
  }
}

/** A client may annotate its arguments as our own tools do; what is no such annotation stays as it came. */
function annotated(schema: ToolDefinition["parameters"]): ToolDefinition["parameters"] {
  try {
    return hideGrounded(schema)
  } catch {
    return schema
  }
}

/** A tool that belongs to the client: it is told to the model and never run here. */
function definitionOf({ function: { name, description, parameters } }: OpenAITool): ToolDefinition {
  return {
    name,
    description: description ?? "",
    category: "utility",
    optionality: "optional",
    parameters: annotated(parameters ?? { type: "object" }),
    handler() {
      throw new ToolwrightError("CLIENT_TOOL", `The tool '${name}' belongs to the client.`)
    },
  }
}
