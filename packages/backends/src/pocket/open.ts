import { fileURLToPath } from "node:url"
import { ToolwrightError } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { inferPrompt, type LlamaBackend } from "../llama/backend.ts"
import { openWith, type LlamaEngine, type LlamaEngineOptions } from "../llama/engine.ts"
import type { InferEvent, InferRequest } from "../model/backend.ts"
import { SMALL_ENGINE } from "../small/small-engine.ts"
import { closingSentence } from "./closing.ts"
import { type Doubting, type PocketQuestion, readDoubtData, settle } from "./doubt.ts"
import { namedCall, namedTool, type OtherTools } from "./named-tool.ts"
import { isDone, WORDS_ONLY } from "./one-command.ts"
import { CALL_OPEN, callText } from "./call.ts"
import { plainReading, type PlainReading } from "./plain-reading.ts"
import { lastRequest, type PocketPromptOptions, pocketTexts, renderPocketPrompt } from "./prompt.ts"

export interface PocketOptions extends Pick<LlamaEngineOptions, "signal" | "onProgress"> {
  /** The workspace's absolute path, which is cut from results: the model knows relative paths alone. */
  readonly root?: string
  /** What is done about calls that the model is not sure of; they are made like any other unless given. */
  readonly doubting?: Doubting
  /** Tools that it was not trained on, called where a request names one word for word. */
  readonly others?: OtherTools
  /** Another file of the same making; the one of `@toolwright/pocket` unless given. */
  readonly modelPath?: string
}

/** Tokens that are kept free for a reply. */
const REPLY_TOKENS = 160

/**
 * Opens the pocket model: 3 MB, 20 tools, plain English, no network and no binary: an engine of our own evaluates it,
 * as llama.cpp would. See its model card in `@toolwright/pocket`. Of a conversation it is shown the last request with
 * its steps; decoding is greedy, so the same request has the same answer.
 *
 * @throws ToolwrightError `MODEL_NOT_FOUND` when the package with the model is missing, `MODEL_SERVER_ERROR` when its
 *   file cannot be read; the signal's reason when cancelled
 * @example
 * const backend = await openPocket({ root: process.cwd() })
 * const messages = [{ role: "user" as const, content: "list the files in src" }]
 * for await (const event of backend.infer({ messages })) console.log(event)
 * await backend.close()
 */
export async function openPocket(options: PocketOptions = {}): Promise<LlamaBackend> {
  const { root, doubting, others, modelPath = pocketPath(), ...engineOptions } = options
  const engine = await openWith(() => Promise.resolve(SMALL_ENGINE), { ...engineOptions, modelPath })
  return pocketBackend(engine, root, doubting, others)
}

/**
 * The backend over an engine with the pocket model that is already open.
 *
 * @param doubting what is done about calls that the model is not sure of; they are made like any other unless given
 */
export function pocketBackend(
  engine: LlamaEngine,
  root?: string,
  doubting?: Doubting,
  others: OtherTools = () => [],
): LlamaBackend {
  const prompting = promptingFor(engine, root)
  const said = (messages: readonly ChatMessage[]): string => pocketTexts(messages, prompting).join("\0")
  const data = once(readDoubtData)
  return {
    kind: "llama",
    abilities: { nativeTools: false, grammar: true, jsonSchema: true, tokens: true, small: true },
    engine,
    modelName: () => "toolwright-pocket",
    groundingText: said,
    async *infer(request, { signal } = {}) {
      const prompt = renderPocketPrompt(request.messages, prompting)
      if (prompt === undefined) return yield* words(TOO_LONG, NO_USAGE, true)
      const { request: asked, steps } = lastRequest(request.messages)
      const unanswered = steps.length === 0 && request.jsonSchema === undefined
      const { beyond, named } = unanswered ? beforehand(request, asked, { doubting, others }) : {}
      if (beyond !== undefined) return yield* words(beyond, NO_USAGE, true)
      const held = named ?? heldToWords(request)
      const sampling = { temperature: 0, ...request.sampling }
      const { reply, end, tokens } = await wholeReply(inferPrompt(engine, prompt, { ...held, sampling }, signal))
      if (tokens !== undefined) yield tokens
      if (request.jsonSchema === undefined && !reply.startsWith(CALL_OPEN)) {
        return yield* inWords({ reply, steps, asked, root, end }, doubting, signal)
      }
      const settledAlready = held.jsonSchema !== undefined || named !== undefined
      if (doubting === undefined || settledAlready) {
        yield { type: "text-delta", text: reply }
        return yield end
      }
      const { messages } = request
      const settled = await settle(
        {
          engine,
          prompt,
          reply,
          messages,
          said: said(messages),
          plain: plainly(request.messages, root),
          root,
        },
        await data(),
        doubting,
        signal,
      )
      if (settled.question !== undefined) return yield* words(settled.question, end.usage, true)
      yield { type: "text-delta", text: settled.reply }
      yield { ...end, ...(settled.certainty === undefined ? {} : { certainty: settled.certainty }) }
    },
    async close() {
      await engine[Symbol.asyncDispose]()
    },
  }
}

/** A reply in words, with what it answers. */
interface Spoken {
  readonly reply: string
  readonly steps: Parameters<typeof closingSentence>[0]
  readonly asked: string
  readonly root: string | undefined
  readonly end: End
}

/** Words as they are; what was declined and is plain is done where the person wants it, and asked about elsewhere. */
async function* inWords(
  { reply, steps, asked, root, end }: Spoken,
  doubting: Doubting | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<InferEvent> {
  const declined = reply.startsWith(CANNOT)
  const plain = declined && steps.length === 0 ? plainReading(asked, root) : undefined
  const meant = plain?.call
  if (meant === undefined || doubting === undefined)
    return yield* words(spokenReply(reply, steps, root), end.usage, declined)
  if (plain?.literal === true) {
    yield { type: "text-delta", text: callText(meant) }
    return yield { ...end, certainty: 1 }
  }
  const question: PocketQuestion = { certainty: 0, readings: [meant] }
  if ((await doubting.choose?.(question, signal)) !== 0) return yield* words(doubting.words(question), end.usage, true)
  yield { type: "text-delta", text: callText(meant) }
  yield end
}

/** What a new request comes to by its plain shape. */
function plainly(messages: readonly ChatMessage[], root: string | undefined): PlainReading | undefined {
  const { request, steps } = lastRequest(messages)
  return steps.length === 0 ? plainReading(request, root) : undefined
}

/** What is known of a request before the model is asked: that it is beyond it, or which tool of the user's it names. */
function beforehand(
  request: InferRequest,
  asked: string,
  { doubting, others }: { doubting: Doubting | undefined; others: OtherTools },
): { beyond?: string | undefined; named?: InferRequest | undefined } {
  const beyond = doubting?.beyond?.(asked)
  return beyond === undefined ? { named: heldToNamed(request, asked, others) } : { beyond }
}

/** Where a request names a tool of the user's, a call of that one. */
function heldToNamed(request: InferRequest, asked: string, others: OtherTools): InferRequest | undefined {
  const tool = namedTool(asked, others)
  // The name is no argument.
  return tool && { ...request, grammar: namedCall(tool, asked.replaceAll(tool.name, " ")) }
}

/** After one plain command that went well only words may follow. */
function heldToWords(request: InferRequest): InferRequest {
  return request.jsonSchema === undefined && isDone(request.messages) ? { ...request, grammar: WORDS_ONLY } : request
}

/** What is said in place of a call: the model's words, or after calls a sentence made from their results. */
function spokenReply(reply: string, steps: Parameters<typeof closingSentence>[0], root: string | undefined): string {
  if (steps.length === 0) return reply
  return closingSentence(steps, root) + (reply.startsWith(CANNOT) ? ` ${NO_MORE}` : "")
}

/**
 * The prompt that the pocket model is given, for decoding loops of one's own.
 *
 * @returns undefined where the last request does not fit into the model's window
 */
export function pocketPrompt(engine: LlamaEngine, messages: readonly ChatMessage[], root?: string): string | undefined {
  return renderPocketPrompt(messages, promptingFor(engine, root))
}

function promptingFor(engine: LlamaEngine, root: string | undefined): PocketPromptOptions {
  return {
    limit: engine.contextSize - REPLY_TOKENS,
    count: (text) => engine.tokenize(text).length,
    ...(root !== undefined && { root }),
  }
}

/** Longest reply that is no call, in characters: what goes on for longer goes in circles. */
const LONGEST_SENTENCE = 300

type End = Extract<InferEvent, { type: "end" }>
type Tokens = Extract<InferEvent, { type: "tokens" }>

/** A reply to its end. Words end in time, and as an answer: the same prompt would bring the same words again. */
async function wholeReply(
  events: AsyncGenerator<InferEvent>,
): Promise<{ reply: string; end: End; tokens: Tokens | undefined }> {
  let reply = ""
  let tokens: Tokens | undefined
  let end: End = { type: "end", finishReason: "stop" }
  for await (const event of events) {
    if (event.type === "text-delta") reply += event.text
    if (event.type === "end") end = event
    if (event.type === "tokens") tokens = event
    const isWords = !CALL_OPEN.startsWith(reply.slice(0, CALL_OPEN.length))
    if (isWords) end = { ...end, finishReason: "stop" }
    if (isWords && reply.length > LONGEST_SENTENCE) break
  }
  return { reply, end, tokens }
}

function* words(text: string, usage = NO_USAGE, declined = false): Generator<InferEvent> {
  yield { type: "text-delta", text }
  yield { type: "end", finishReason: "stop", usage, ...(declined ? { declined } : {}) }
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0 }

/** How the model begins where it cannot help: word for word what it was trained to say. */
const CANNOT = "I can't "
/** What is said of a part of a request that is left. */
const NO_MORE = "What else you asked for is beyond me."

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => (made ??= make())
}

/** What is answered in place of the model, which reads 512 tokens in all. */
const TOO_LONG =
  "Sorry, that is more than I can read at once: I am a very small model. Please ask in fewer words, one step at a time."

/** @throws ToolwrightError `MODEL_NOT_FOUND` */
function pocketPath(): string {
  try {
    return fileURLToPath(import.meta.resolve("@toolwright/pocket/pocket-q8_0.gguf"))
  } catch (cause) {
    throw new ToolwrightError(
      "MODEL_NOT_FOUND",
      "The built-in pocket model is missing: the package @toolwright/pocket cannot be found.",
      {
        cause,
        hint: "Install it: npm install @toolwright/pocket",
      },
    )
  }
}
