import type { Backend, InferRequest, Usage } from "@toolwright/backends"
import { ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { renderConversation, type ToolFormatter } from "@toolwright/toolformat"
import { openDialogue, type Dialogue } from "../ask.ts"
import type { GrammarCache, ToolCallingMode } from "../delivery.ts"
import { saidIn, type GroundingSetting } from "../grounding.ts"
import type { AnswerEvent, AnswerRequest } from "./answer.ts"
import { rememberDefinitions } from "./definitions.ts"
import { askedAgain, schemaText, withInstruction } from "./instructions.ts"
import { endOf, Round } from "./round.ts"
import { askPlainly, askWithTools, type Finished, type ReplySource } from "./sources.ts"

/** Settings of {@link createAnswering}. */
export interface AnsweringOptions {
  mode?: ToolCallingMode | undefined
  /** The format, where it is not to be chosen by the model's name. */
  formatter?: ToolFormatter | undefined
  /** Which arguments must come from the conversation where calls are held by a grammar; `auto` unless given. */
  grounding?: GroundingSetting | undefined
  /**
   * What becomes of a call of a tool that is not on offer: `text`, unless given, tells what the model wrote as text;
   * `pass` tells it as a call, for clients that answer it themselves.
   */
  unknownTools?: "text" | "pass" | undefined
  /** Whether an answer with a call that cannot be read or is wrong is asked for once more; not unless given. */
  repair?: boolean | undefined
}

/** Answers requests of clients with tools of their own. */
export interface Answering {
  /** @throws what the backend throws */
  answer(request: AnswerRequest, options?: { signal?: AbortSignal }): AsyncGenerator<AnswerEvent, void>
}

/**
 * Puts clients' requests to a model as the executor puts its own, whatever the model's server can do, and tells the
 * answers call by call: `tool_choice`, one call at a time and a wanted JSON form are held by the server where it can, by
 * words and a look at the answer elsewhere. Where the server refuses its own tool use it is not asked for that again.
 */
export function createAnswering(backend: Backend, options: AnsweringOptions = {}): Answering {
  const { mode, formatter, grounding, unknownTools = "text" } = options
  const definitionsOf = rememberDefinitions()
  const grammars: GrammarCache = new WeakMap()
  let refusesTools = false

  /** How tools would reach the model; also asked where none are told, since history may hold calls. */
  function dialogueFor(request: InferRequest, tools: readonly ToolDefinition[], signal?: AbortSignal): Dialogue {
    const { messages, sampling } = request
    const said = saidIn(messages)
    const inputs = { backend, mode, formatter, grounding, sampling, signal, tools, said, messages, refusesTools }
    return openDialogue({ ...inputs, grammars })
  }

  async function* reply(request: InferRequest, tools: readonly ToolDefinition[], signal?: AbortSignal): ReplySource {
    if (tools.length === 0) return yield* plain(request, signal)
    const dialogue = dialogueFor(request, tools, signal)
    const { jsonSchema, ...rest } = request
    const asked = jsonSchema === undefined ? rest : told(rest, schemaText(jsonSchema, true))
    try {
      return yield* askWithTools(dialogue, asked, tools)
    } finally {
      refusesTools ||= dialogue.refusedTools
    }
  }

  async function* plain(request: InferRequest, signal: AbortSignal | undefined): ReplySource {
    const { tools: _tools, toolChoice: _choice, parallelToolCalls: _parallel, ...rest } = request
    const written = { ...rest, messages: withoutCalls(rest) }
    const { jsonSchema, ...free } = written
    if (jsonSchema === undefined) return yield* askPlainly(backend, free, signal)
    const inWords = told(free, schemaText(jsonSchema, false))
    if (!backend.abilities.jsonSchema) return yield* askPlainly(backend, inWords, signal)
    let silent = true
    const held = askPlainly(backend, written, signal)
    try {
      for (;;) {
        const step = await held.next()
        if (step.done === true) return step.value
        silent = false
        yield step.value
      }
    } catch (thrown) {
      if (!silent || !ToolwrightError.isInstance(thrown) || thrown.code !== "CONSTRAINT_UNSUPPORTED") throw thrown
    } finally {
      await held.return(undefined as never)
    }
    return yield* askPlainly(backend, inWords, signal)
  }

  /** The messages of a request that tells no tools: calls in its history are text where the server knows none. */
  function withoutCalls(request: InferRequest): InferRequest["messages"] {
    const { messages } = request
    if (!messages.some((message) => message.role === "tool" || (message.role === "assistant" && message.toolCalls)))
      return messages
    const { plan } = dialogueFor(request, [])
    return plan.delivery === "native" ? messages : renderConversation(plan.formatter, messages, [])
  }

  async function* answer(
    request: AnswerRequest,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<AnswerEvent, void> {
    const { repair = options.repair ?? false, ...asked } = request
    const tools = asked.toolChoice === "none" ? [] : definitionsOf(asked.tools ?? [])
    const required = asked.toolChoice === "required" && tools.length > 0
    // Without tools nothing can be required.
    const wanted = required ? asked : ({ ...asked, toolChoice: asked.toolChoice === "none" ? "none" : "auto" } as const)
    const settings = { tools, unknownTools, request: wanted }
    const mayAskAgain = repair || required
    const held = required || (repair && asked.jsonSchema !== undefined)
    const first = new Round({ ...settings, mayAskAgain, text: held ? "held" : "live" })
    const finished = yield* tell(first, reply(wanted, tools, signal))
    if (first.faults.length === 0 || first.calls > 0 || finished.finishReason === "length") {
      yield* first.release()
      yield endOf(finished, first.calls)
      return
    }
    const second = new Round({ ...settings, mayAskAgain: false, text: first.spoke ? "spare" : "live" })
    const again = tell(second, reply(askedAgain(wanted, finished.said, first.faults), tools, signal))
    let next: Awaited<ReturnType<typeof again.next>>
    try {
      next = await again.next()
    } catch (thrown) {
      if (signal?.aborted === true) throw thrown
      // There is an answer, though not as it was wanted.
      yield* first.release()
      yield endOf(finished, first.calls)
      return
    }
    yield* first.giveUp()
    try {
      for (; next.done !== true; next = await again.next()) yield next.value
    } finally {
      await again.return(undefined as never)
    }
    yield* second.release()
    yield endOf({ ...next.value, ...bothUsages(finished, next.value) }, second.calls)
  }

  return { answer }
}

async function* tell(round: Round, source: ReplySource): AsyncGenerator<AnswerEvent, Finished> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done === true) {
        yield* await round.end(step.value.finishReason)
        return step.value
      }
      yield* await round.read(step.value)
    }
  } finally {
    await source.return(undefined as never)
  }
}

function told(request: InferRequest, text: string): InferRequest {
  return { ...request, messages: withInstruction(request.messages, text) }
}

function bothUsages({ usage: first }: Finished, { usage: second }: Finished): { usage?: Usage } {
  if (first === undefined || second === undefined) return second === undefined ? {} : { usage: second }
  return {
    usage: {
      ...second,
      inputTokens: first.inputTokens + second.inputTokens,
      outputTokens: first.outputTokens + second.outputTokens,
    },
  }
}
