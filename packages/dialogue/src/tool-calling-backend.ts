import type { Backend, InferEvent, InferRequest } from "@toolwright/backends"
import { ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import {
  type ChatMessage,
  renderConversation,
  type OpenAITool,
  type ParseEvent,
  type ToolFormatter,
} from "@toolwright/toolformat"
import { planDelivery, type DeliveryPlan, type ToolCallingMode } from "./delivery.ts"
import { groundingOf, type GroundingSetting, saidIn } from "./grounding.ts"

/** Settings of {@link toolCallingBackend}. */
export interface ToolCallingOptions {
  mode?: ToolCallingMode
  /** The format, where it is not to be chosen by the model's name. */
  formatter?: ToolFormatter
  /** Which arguments must come from the conversation where calls are held by a grammar; `auto` unless given. */
  grounding?: GroundingSetting
}

/**
 * Gives any backend native tool use: tools of a request are told to the model in its family's own form, earlier calls
 * and results
 * are written as the family writes them, and calls are read from its text. A backend with tool use of its own is used
 * as it is, and
 * replaced by text, once, when it refuses.
 *
 * The calls' ids are unique over requests, so that a client may keep them in one conversation.
 */
export function toolCallingBackend(backend: Backend, options: ToolCallingOptions = {}): Backend {
  const { mode = "hybrid", formatter } = options
  const definitionsOf = rememberDefinitions()
  const groundingIn = (messages: readonly ChatMessage[]) => () =>
    groundingOf(options.grounding, backend, saidIn(messages), messages)

  async function* infer(
    request: InferRequest,
    inferOptions: { signal?: AbortSignal } = {},
  ): AsyncGenerator<InferEvent> {
    if (request.tools === undefined || request.tools.length === 0) {
      yield* backend.infer(request, inferOptions)
      return
    }
    const plan = planDelivery({
      backend,
      mode,
      explicit: formatter,
      tools: definitionsOf(request.tools),
      grounding: groundingIn(request.messages),
    })
    let silent = true
    try {
      for await (const event of deliver(plan, request, inferOptions)) {
        silent &&= event.type === "retry"
        yield event
      }
    } catch (thrown) {
      const next = silent ? plan.fallBack(thrown) : undefined
      if (next === undefined) throw thrown
      yield* deliver(next.plan, request, inferOptions)
    }
  }

  async function* deliver(
    plan: DeliveryPlan,
    request: InferRequest,
    inferOptions: { signal?: AbortSignal },
  ): AsyncGenerator<InferEvent> {
    if (plan.delivery === "native") {
      yield* backend.infer(request, inferOptions)
      return
    }
    const { tools: offered = [], toolChoice, ...rest } = request
    const tools = toolChoice === "none" ? [] : definitionsOf(offered)
    const stop = [...(rest.sampling?.stop ?? []), ...plan.formatter.stop]
    const text: InferRequest = {
      ...rest,
      messages: renderConversation(plan.formatter, rest.messages, tools),
      ...(tools.length === 0
        ? {}
        : plan.requestPart(tools, groundingIn(rest.messages), toolChoice === "required" ? "call" : "text-or-call")),
      ...(stop.length === 0 ? {} : { sampling: { ...rest.sampling, stop } }),
    }
    const parser = plan.formatter.createParser({ tools })
    const ids = new Map<number, string>()
    let called = false
    for await (const event of backend.infer(text, inferOptions)) {
      if (event.type === "text-delta") yield* asInferEvents(parser.push(event.text), ids)
      else if (event.type === "end") {
        yield* asInferEvents(parser.end(), ids)
        called = ids.size > 0
        yield called ? { ...event, finishReason: "tool-calls" } : event
      } else yield event
    }
  }

  return {
    kind: backend.kind,
    abilities: { ...backend.abilities, nativeTools: true },
    modelName: () => backend.modelName(),
    infer,
    ...(backend.close === undefined ? {} : { close: () => backend.close!() }),
  }
}

/** A problem stays visible: text that looked like a call and could not be read is content. */
function* asInferEvents(events: Iterable<ParseEvent>, ids: Map<number, string>): Generator<InferEvent> {
  for (const event of events) {
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta":
        yield event
        break
      case "call-start":
        ids.set(event.index, `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`)
        yield { type: "call-delta", index: event.index, id: ids.get(event.index)!, name: event.name, arguments: "" }
        break
      case "args-delta":
        yield { type: "call-delta", index: event.index, arguments: event.text }
        break
      case "problem":
        if (!event.problem.repaired) yield { type: "text-delta", text: event.problem.text }
        break
      default:
    }
  }
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

/** A tool that belongs to the client: it is told to the model and never run here. */
function definitionOf({ function: { name, description, parameters } }: OpenAITool): ToolDefinition {
  return {
    name,
    description: description ?? "",
    category: "utility",
    optionality: "optional",
    schema: parameters ?? { type: "object" },
    handler() {
      throw new ToolwrightError("CLIENT_TOOL", `The tool '${name}' belongs to the client.`)
    },
  }
}
