import { fileURLToPath } from "node:url"
import { ToolwrightError } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { inferPrompt, type LlamaBackend } from "../llama/backend.ts"
import { openLlama, type LlamaEngine, type LlamaEngineOptions } from "../llama/engine.ts"
import type { InferEvent } from "../model/backend.ts"
import { isDone, WORDS_ONLY } from "./one-command.ts"
import { CALL_OPEN, type PocketPromptOptions, pocketTexts, renderPocketPrompt } from "./prompt.ts"

export interface PocketOptions extends Pick<LlamaEngineOptions, "signal" | "onProgress" | "threads"> {
  /** The workspace's absolute path, which is cut from results: the model knows relative paths alone. */
  readonly root?: string
  /** Another file of the same making; the one of `@toolwright/pocket` unless given. */
  readonly modelPath?: string
}

/** Tokens that are kept free for a reply. */
const REPLY_TOKENS = 160

/**
 * Opens the pocket model: 3 MB, 18 tools, plain English, no network. See its model card in `@toolwright/pocket`. Of a
 * conversation it
 * is shown the last request with its steps; decoding is greedy, so the same request has the same answer.
 *
 * @throws ToolwrightError `MODEL_NOT_FOUND` when the package with the model is missing, otherwise as `openLlama`
 * @example
 * const backend = await openPocket({ root: process.cwd() })
 * for await (const event of backend.infer({ messages: [{ role: "user", content: "list the files in src" }] }))
 * console.log(event)
 * await backend.close()
 */
export async function openPocket(options: PocketOptions = {}): Promise<LlamaBackend> {
  const { root, modelPath = pocketPath(), ...engineOptions } = options
  return pocketBackend(await openLlama({ ...engineOptions, modelPath }), root)
}

/** The backend over an engine with the pocket model that is already open. */
export function pocketBackend(engine: LlamaEngine, root?: string): LlamaBackend {
  const prompting = promptingFor(engine, root)
  return {
    kind: "llama",
    abilities: { nativeTools: false, grammar: true, jsonSchema: true, small: true },
    engine,
    modelName: () => "toolwright-pocket",
    groundingText: (messages) => pocketTexts(messages, prompting).join("\0"),
    async *infer(request, { signal } = {}) {
      const prompt = renderPocketPrompt(request.messages, prompting)
      if (prompt === undefined) {
        yield { type: "text-delta", text: TOO_LONG }
        yield { type: "end", finishReason: "stop", usage: { inputTokens: 0, outputTokens: 0 } }
        return
      }
      const held =
        request.jsonSchema === undefined && isDone(request.messages) ? { ...request, grammar: WORDS_ONLY } : request
      yield* inOneSentence(
        inferPrompt(engine, prompt, { ...held, sampling: { temperature: 0, ...request.sampling } }, signal),
      )
    },
    async close() {
      await engine[Symbol.asyncDispose]()
    },
  }
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

/** Ends a reply in words in time, and as an answer: the same prompt would bring the same words again. */
async function* inOneSentence(events: AsyncGenerator<InferEvent>): AsyncGenerator<InferEvent> {
  let text = ""
  for await (const event of events) {
    if (event.type === "text-delta") text += event.text
    const words = !CALL_OPEN.startsWith(text.slice(0, CALL_OPEN.length))
    yield event.type === "end" && words ? { ...event, finishReason: "stop" } : event
    if (event.type === "text-delta" && words && text.length > LONGEST_SENTENCE) {
      yield { type: "end", finishReason: "stop" }
      return
    }
  }
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
