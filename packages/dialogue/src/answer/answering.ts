import type { Backend, InferRequest } from "@toolwright/backends"
import { ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { renderConversation, type OpenAITool, type ToolFormatter } from "@toolwright/toolformat"
import { openDialogue, type Dialogue } from "../ask.ts"
import { Grammars, type ToolCallingMode } from "../delivery.ts"
import { saidIn, type GroundingSetting } from "../grounding.ts"
import type { AnswerEvent, AnswerRequest } from "./answer.ts"
import { rememberDefinitions } from "./definitions.ts"
import { askedAgain, schemaText, withInstruction } from "./instructions.ts"
import { endOf, Round } from "./round.ts"
import { KeptSearches } from "./kept-searches.ts"
import { searching } from "./searching.ts"
import { askPlainly, askWithTools, sourceOf, sumOf, type Finished, type ReplySource } from "./sources.ts"
import { stoppingAt } from "./stopping.ts"
import { tellTools, type ToldTools } from "./told-tools.ts"

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
  /** Where grammars are kept that are made once; its own unless given. */
  grammars?: Grammars | undefined
  /**
   * The share of the model's window that the tools of a request may take. Of more, the first that have room are
   * declared, and the model finds the others by a search that the client sees nothing of. All are declared unless
   * given, and where the window is not known.
   */
  deferTools?: number | undefined
}

/** Answers requests of clients with tools of their own. */
export interface Answering {
  /** @throws what the backend throws */
  answer(request: AnswerRequest, options?: { signal?: AbortSignal }): AsyncGenerator<AnswerEvent, void>
  /** The same in steps, of the events that came together, for whoever passes on many answers at once. */
  steps(request: AnswerRequest, options?: { signal?: AbortSignal }): AsyncGenerator<readonly AnswerEvent[], void>
  /** The tools that stand at the front of a request's prompt, and how many of the client's are only found. */
  declared(request: Pick<AnswerRequest, "tools" | "deferred" | "toolChoice">): {
    tools: readonly OpenAITool[]
    deferred: number
  }
}

/**
 * Puts clients' requests to a model as the executor puts its own, whatever the model's server can do, and tells the
 * answers call by call: `tool_choice`, one call at a time and a wanted JSON form are held by the server where it can,
 * by words and a look at the answer elsewhere. Where the server refuses its own tool use it is not asked for that
 * again.
 */
export function createAnswering(backend: Backend, options: AnsweringOptions = {}): Answering {
  return new Answers(backend, options)
}

class Answers implements Answering {
  readonly #replies: Replies
  readonly #definitionsOf = rememberDefinitions()
  readonly #unknownTools: "text" | "pass"
  readonly #repair: boolean
  readonly #backend: Backend
  readonly #deferTools: number | undefined

  constructor(backend: Backend, options: AnsweringOptions) {
    this.#replies = new Replies(backend, options)
    this.#backend = backend
    this.#deferTools = options.deferTools
    this.#unknownTools = options.unknownTools ?? "text"
    this.#repair = options.repair ?? false
  }

  async *answer(request: AnswerRequest, options: { signal?: AbortSignal } = {}): AsyncGenerator<AnswerEvent, void> {
    for await (const events of this.steps(request, options)) yield* events
  }

  steps(
    request: AnswerRequest,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<readonly AnswerEvent[], void> {
    const { repair = this.#repair, deferred = [], stopAt = [], ...asked } = request
    const ask = (one: InferRequest, tools: readonly ToolDefinition[]): ReplySource => {
      const told = this.#told(asked.tools ?? [], tools, deferred)
      const source = this.#replies.of(one, tools, { told, signal })
      // Replies that may hold calls are cut where they are read; servers that pass over a stop do so without tools too.
      const stops = tools.length === 0 ? [...stopAt, ...(asked.sampling?.stop ?? [])] : stopAt
      return stops.length === 0 ? source : sourceOf(stoppingAt(stops, source))
    }
    return this.#answered(asked, { ask, repair, signal })
  }

  async *#answered(
    asked: InferRequest,
    { ask, repair, signal }: Putting,
  ): AsyncGenerator<readonly AnswerEvent[], void> {
    const tools = asked.toolChoice === "none" ? [] : this.#definitionsOf(asked.tools ?? [])
    const required = asked.toolChoice === "required" && tools.length > 0
    const wanted = required ? asked : notRequired(asked)
    const settings = { tools, unknownTools: this.#unknownTools, request: wanted }
    const mayAskAgain = repair || required
    const held = required || (repair && asked.jsonSchema !== undefined)
    const first = new Round({ ...settings, mayAskAgain, text: held ? "held" : "live" })
    const finished = yield* tell(first, ask(wanted, tools))
    if (first.faults.length === 0 || first.calls > 0 || finished.finishReason === "length") {
      const kept = first.release()
      yield [...kept, endOf(finished, first.calls)]
      return
    }
    const second = new Round({ ...settings, mayAskAgain: false, text: first.spoke ? "spare" : "live" })
    const source = ask(askedAgain(wanted, finished.said, first.faults), tools)
    yield* secondTry({ round: first, finished }, second, source, signal)
  }

  declared({ tools = [], deferred = [], toolChoice }: Pick<AnswerRequest, "tools" | "deferred" | "toolChoice">) {
    const none = toolChoice === "none"
    const told = none ? undefined : this.#told(tools, this.#definitionsOf(tools), deferred)
    if (told === undefined) return { tools, deferred: 0 }
    return { tools: told.declaredNatively, deferred: told.deferred.length }
  }

  #told(
    given: readonly OpenAITool[],
    tools: readonly ToolDefinition[],
    names: readonly string[],
  ): ToldTools | undefined {
    const { contextTokens } = this.#backend
    const share = this.#deferTools
    const room = share === undefined || contextTokens === undefined ? undefined : contextTokens * share
    return tools.length === 0 ? undefined : tellTools(given, tools, { room, names })
  }
}

/** How a request is put to the model. */
interface Putting {
  ask(request: InferRequest, tools: readonly ToolDefinition[]): ReplySource
  repair: boolean
  signal: AbortSignal | undefined
}

/** Without tools nothing can be required. */
function notRequired<Asked extends Pick<AnswerRequest, "toolChoice">>(asked: Asked) {
  return { ...asked, toolChoice: asked.toolChoice === "none" ? ("none" as const) : ("auto" as const) }
}

/** The second answer in place of the first, or the first where there is no second. */
async function* secondTry(
  first: { round: Round; finished: Finished },
  second: Round,
  source: ReplySource,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly AnswerEvent[], void> {
  const again = tell(second, source)
  let next: Awaited<ReturnType<typeof again.next>>
  try {
    next = await again.next()
  } catch (thrown) {
    if (signal?.aborted === true) throw thrown
    // There is an answer, though not as it was wanted.
    yield first.round.release()
    yield [endOf(first.finished, first.round.calls)]
    return
  }
  yield first.round.giveUp()
  try {
    for (; next.done !== true; next = await again.next()) yield next.value
  } finally {
    await again.return(undefined as never)
  }
  yield second.release()
  const { usage } = next.value
  const both = usage === undefined ? {} : { usage: sumOf(first.finished.usage, usage)! }
  yield [endOf({ ...next.value, ...both }, second.calls)]
}

/** Asks a model in the way its server knows, and remembers what that server refused. */
class Replies {
  readonly #backend: Backend
  readonly #options: AnsweringOptions
  readonly #grammars: Grammars
  readonly #searches = new KeptSearches()
  #refusesTools = false

  constructor(backend: Backend, options: AnsweringOptions) {
    this.#backend = backend
    this.#options = options
    this.#grammars = options.grammars ?? new Grammars()
  }

  of(
    request: InferRequest,
    tools: readonly ToolDefinition[],
    { told, signal }: { told: ToldTools | undefined; signal: AbortSignal | undefined },
  ): ReplySource {
    if (tools.length === 0) return this.#plain(request, signal)
    const { jsonSchema, ...rest } = request
    const asked = jsonSchema === undefined ? rest : instructed(rest, schemaText(jsonSchema, true))
    if (told === undefined) return this.#withTools(asked, tools, signal)
    const ask = (messages: InferRequest["messages"], callable: readonly ToolDefinition[]): ReplySource =>
      this.#withTools({ ...asked, messages }, callable, signal, told)
    return sourceOf(searching(told, asked.messages, this.#searches, ask))
  }

  /** @param callable what a grammar lets be called */
  #withTools(
    request: InferRequest,
    callable: readonly ToolDefinition[],
    signal: AbortSignal | undefined,
    told?: ToldTools,
  ): ReplySource {
    const dialogue = this.#dialogueFor(request, callable, signal)
    const source = askWithTools(dialogue, request, callable, told)
    const leave = (): Promise<void> => {
      this.#refusesTools ||= dialogue.refusedTools
      return source.leave()
    }
    return { next: () => source.next(), leave }
  }

  /** How tools would reach the model; also asked where none are told, since history may hold calls. */
  #dialogueFor(request: InferRequest, tools: readonly ToolDefinition[], signal?: AbortSignal): Dialogue {
    const { messages, sampling } = request
    const { mode, formatter, grounding } = this.#options
    const said = saidIn(messages)
    const inputs = { backend: this.#backend, mode, formatter, grounding, sampling, signal, tools, said, messages }
    return openDialogue({ ...inputs, refusesTools: this.#refusesTools, grammars: this.#grammars })
  }

  #plain(request: InferRequest, signal: AbortSignal | undefined): ReplySource {
    const { tools: _tools, toolChoice: _choice, parallelToolCalls: _parallel, ...rest } = request
    const written = { ...rest, messages: this.#withoutCalls(rest) }
    const { jsonSchema, ...free } = written
    const format = this.#dialogueFor(request, []).plan.formatter.declaration
    if (jsonSchema === undefined) return askPlainly(this.#backend, free, signal, format)
    const inWords = (): ReplySource =>
      askPlainly(this.#backend, instructed(free, schemaText(jsonSchema, false)), signal, format)
    if (!this.#backend.abilities.jsonSchema) return inWords()
    return orElse(askPlainly(this.#backend, written, signal, format), inWords)
  }

  /** The messages of a request that tells no tools: calls in its history are text where the server knows none. */
  #withoutCalls(request: InferRequest): InferRequest["messages"] {
    const { messages } = request
    if (!messages.some((message) => message.role === "tool" || (message.role === "assistant" && message.toolCalls)))
      return messages
    const { plan } = this.#dialogueFor(request, [])
    return plan.delivery === "native" ? messages : renderConversation(plan.formatter, messages, [])
  }
}

/** A reply; another where the server refused the form before it said anything. */
function orElse(first: ReplySource, other: () => ReplySource): ReplySource {
  let source = first
  let silent = true
  return {
    async next() {
      try {
        const step = await source.next()
        silent &&= !step.done && step.events.length === 0
        return step
      } catch (thrown) {
        if (!silent || !ToolwrightError.isInstance(thrown) || thrown.code !== "CONSTRAINT_UNSUPPORTED") throw thrown
        silent = false
        await source.leave()
        source = other()
        return source.next()
      }
    },
    leave: () => source.leave(),
  }
}

async function* tell(round: Round, source: ReplySource): AsyncGenerator<readonly AnswerEvent[], Finished> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done) {
        const last = await round.end(step.finished.finishReason)
        if (last.length > 0) yield last
        return step.finished
      }
      const told: AnswerEvent[] = []
      for (const event of step.events) {
        const read = round.read(event)
        told.push(...(read instanceof Promise ? await read : read))
      }
      if (told.length > 0) yield told
    }
  } finally {
    await source.leave()
  }
}

function instructed(request: InferRequest, text: string): InferRequest {
  return { ...request, messages: withInstruction(request.messages, text) }
}
