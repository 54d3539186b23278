import { grammarToGbnf, schemaToGrammar } from "@toolwright/logits"
import { ToolwrightError } from "@toolwright/toolbox"
import { createChatTemplate, formatterOf, selectByTemplate, type ChatMessage } from "@toolwright/toolformat"
import { conflictingConstraints, constraintsOf } from "../failures.ts"
import type { Backend, InferEvent, InferRequest } from "../model/backend.ts"
import { traceReply } from "./trace.ts"
import { openLlama, type LlamaEngine, type LlamaEngineOptions } from "./engine.ts"

export interface LlamaBackendOptions extends LlamaEngineOptions {
  /** The model's name, where the file's own is not to be used. */
  readonly modelName?: string
  /** How messages become a prompt; the file's own chat template unless given, or ChatML where it has none. */
  readonly renderPrompt?: (messages: readonly ChatMessage[]) => string
}

/** A backend with its engine, which must be closed in the end. */
export interface LlamaBackend extends Backend {
  readonly kind: "llama"
  readonly engine: LlamaEngine
  close(): Promise<void>
}

/**
 * Opens a model file as a backend. Tools are given to it as text (a format renders them into the messages) and held by
 * a grammar; it has no native tool use.
 *
 * @throws ToolwrightError as `openLlama`
 * @example
 * const backend = await openLlamaBackend({ modelPath: "models/qwen2.5-1.5b-instruct-q4_k_m.gguf" })
 * for await (const event of backend.infer({ messages: [{ role: "user", content: "Hello" }] })) console.log(event)
 * await backend.close()
 */
export async function openLlamaBackend(options: LlamaBackendOptions): Promise<LlamaBackend> {
  const engine = await openLlama(options)
  return llamaBackend(engine, options)
}

/** Models below this copy names and paths wrongly now and then. */
const SMALL_MODEL_BYTES = 1_500_000_000

/** A backend over an engine that is already open. */
export function llamaBackend(
  engine: LlamaEngine,
  options: Omit<LlamaBackendOptions, keyof LlamaEngineOptions> = {},
): LlamaBackend {
  const renderPrompt = options.renderPrompt ?? templateRenderer(engine)
  return {
    kind: "llama",
    abilities: {
      nativeTools: false,
      grammar: true,
      jsonSchema: true,
      tokens: true,
      small: engine.modelSize < SMALL_MODEL_BYTES,
    },
    engine,
    contextTokens: engine.contextSize,
    ...formatOf(engine, options.modelName ?? engine.modelName),
    modelName: () => options.modelName ?? engine.modelName,
    infer: (request, { signal } = {}) => inferPrompt(engine, renderPrompt(request.messages), request, signal),
    tokenize: (text) => Promise.resolve(engine.tokenize(text)),
    async close() {
      await engine[Symbol.asyncDispose]()
    },
  }
}

/** One inference on a prompt that is rendered already. */
export async function* inferPrompt(
  engine: LlamaEngine,
  prompt: string,
  request: InferRequest,
  signal: AbortSignal | undefined,
): AsyncGenerator<InferEvent> {
  const given = constraintsOf(request)
  if (given.length > 1) throw conflictingConstraints(given)
  if (given[0] === "native tools") {
    throw new ToolwrightError("MODEL_REQUEST_REJECTED", "The in-process engine has no native tool use.", {
      hint:
        "Show the tools in the prompt and hold the reply with a grammar; the executor does so for backends without " +
        "native tools.",
    })
  }
  const grammar =
    request.grammar ??
    (request.jsonSchema === undefined ? undefined : grammarToGbnf(schemaToGrammar(request.jsonSchema)))
  const run = engine.generate(prompt, {
    ...(grammar !== undefined && { grammar }),
    ...(request.sampling !== undefined && { sampling: request.sampling }),
    ...(signal !== undefined && { signal }),
  })
  try {
    for (let step = await run.next(); ; step = await run.next()) {
      if (step.done === true) {
        const { finishReason, inputTokens, outputTokens } = step.value
        if (request.recordTokens === true)
          yield { type: "tokens", trace: await traceReply(engine, { prompt, grammar, ...step.value }, signal) }
        yield { type: "end", finishReason, usage: { inputTokens, outputTokens } }
        return
      }
      yield { type: "text-delta", text: step.value }
    }
  } finally {
    await run.return(undefined as never)
  }
}

/** The format by the file's own template; a template that cannot be read leaves it to the model's name. */
function formatOf(engine: LlamaEngine, modelName: string): Pick<LlamaBackend, "modelFormat"> {
  const { chatTemplate, bosText, eosText } = engine
  if (chatTemplate === undefined) return {}
  try {
    const settings = { bosToken: bosText, eosToken: eosText }
    const { format, because } = selectByTemplate(modelName, chatTemplate, { settings })
    return { modelFormat: { formatter: formatterOf(format), because } }
  } catch {
    return {}
  }
}

function templateRenderer(engine: LlamaEngine): (messages: readonly ChatMessage[]) => string {
  if (engine.chatTemplate === undefined) return renderChatMl
  const template = createChatTemplate(engine.chatTemplate, { bosToken: engine.bosText, eosToken: engine.eosText })
  return (messages) => template.render({ messages })
}

/** The plainest of the chat forms, for files without a template. */
export function renderChatMl(messages: readonly ChatMessage[]): string {
  const said = messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`)
  return `${said.join("")}<|im_start|>assistant\n`
}
