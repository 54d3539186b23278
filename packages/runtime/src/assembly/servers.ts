import {
  createAnthropicBackend,
  createLlamaServerBackend,
  createOllamaBackend,
  createOpenAICompatibleBackend,
  createResponsesBackend,
  probeAbilities,
  readTemplate,
  type Backend,
  type PromptTemplate,
  type ProbedServer,
} from "@toolwright/backends"
import { ToolwrightError } from "@toolwright/toolbox"
import { usualAddress } from "../configuration/address.ts"
import type { Configuration } from "../configuration/settings.ts"
import { modelFormatOf, readsText } from "./model-format.ts"
import type { ServerKind } from "./server-kinds.ts"
import { knownServer, warnOfTemplate } from "./server.ts"

type Model = Configuration["model"]

/** What opening a server's backend takes from its surroundings. */
export interface Surroundings {
  log: (line: string) => void
  env: Readonly<Record<string, string | undefined>>
  /** What was found out of the server already. */
  probed?: ProbedServer
  /** Whether a request that failed is sent again; true unless given. */
  retries?: boolean
}

/** What every server's backend is opened with. */
type Common = ReturnType<typeof commonOptions> & { retryDelaysMs?: readonly number[] }

/**
 * The backend for the server that a configuration names.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where no address or model is named
 */
export function openServer(kind: ServerKind, model: Model, surroundings: Surroundings): Promise<Backend> {
  const common = { ...commonOptions(kind, model), ...(surroundings.retries === false ? { retryDelaysMs: [] } : {}) }
  switch (kind) {
    case "openai-compatible":
      return openAICompatible(model, common, surroundings)
    case "ollama":
      return ollama(model, common, surroundings)
    case "llama-server":
      return llamaServer(model, common, surroundings)
    case "anthropic":
      return Promise.resolve(createAnthropicBackend(withWindow(common, model.contextTokens)))
    case "openai-responses":
      return Promise.resolve(openResponses(model, common))
  }
}

/** A server that is said to be OpenAI's takes what only OpenAI has. */
function openResponses(model: Model, common: Common): Backend {
  const own = model.dialect === "openai" ? { customTools: true } : {}
  return createResponsesBackend({ ...withWindow(common, model.contextTokens), ...own })
}

function commonOptions(kind: ServerKind, model: Model) {
  const baseUrl = model.baseUrl ?? usualAddress(kind)
  if (baseUrl === undefined)
    throw missing(
      "model.baseUrl",
      "--base-url URL or TOOLWRIGHT_BASE_URL, for example http://localhost:11434/v1 of Ollama or " +
        "http://localhost:8080/v1 of llama.cpp",
    )
  if (model.name === undefined) throw missing("model.name", "--model NAME or TOOLWRIGHT_MODEL")
  return {
    baseUrl,
    modelName: model.name,
    ...(model.apiKey === undefined ? {} : { apiKey: model.apiKey }),
    stallTimeoutMs: model.timeoutSeconds * 1000,
    settingNames: { url: "--base-url (or TOOLWRIGHT_BASE_URL)", key: "TOOLWRIGHT_API_KEY" },
  }
}

function withWindow(common: Common, contextTokens: number | undefined): Common & { contextTokens?: number } {
  return contextTokens === undefined ? common : { ...common, contextTokens }
}

async function openAICompatible(model: Model, common: Common, surroundings: Surroundings): Promise<Backend> {
  const { nativeTools, ...known } = await knownServer(model, common.baseUrl, surroundings)
  return createOpenAICompatibleBackend({ ...known, ...common, abilities: { nativeTools } })
}

/**
 * What is asked where neither the user nor the server says a window: enough for tools and some work, on most machines.
 */
const USUAL_WINDOW = 16_384

/** Ollama by its own API: its window is set with each request, whoever knows it. */
async function ollama(model: Model, common: Common, { log, probed: known }: Surroundings): Promise<Backend> {
  const probed = known ?? (await probeServer("ollama", common))
  const { contextTokens = probed.contextTokens, nativeTools } = model
  const window = contextTokens ?? Math.min(probed.trainedTokens ?? USUAL_WINDOW, USUAL_WINDOW)
  const isThere = probed.models.length === 0 || probed.models.includes(common.modelName)
  if (contextTokens === undefined && isThere)
    log(
      `Nothing says how large a window '${common.modelName}' has: it gets ${window} tokens. --context-tokens sets it.`,
    )
  const modelFormat = await modelFormatOf(model, probed, log)
  const offered = !probed.reachable || probed.abilities.nativeTools
  return createOllamaBackend({
    ...common,
    contextTokens: window,
    models: probed.models,
    ...(probed.thinks === undefined ? {} : { thinks: probed.thinks }),
    abilities: { nativeTools: nativeTools && !readsText(model) && offered },
    ...(modelFormat === undefined ? {} : { modelFormat }),
  })
}

/** llama.cpp's own completion, with the template that is set or that the server shows. */
async function llamaServer(model: Model, common: Common, { log, probed: known }: Surroundings): Promise<Backend> {
  const probed = known ?? (await probeServer("llama-server", common))
  const modelFormat = await modelFormatOf(model, probed, log)
  const template = await templateOf(model, probed)
  if (template === undefined) log("Neither the server nor a setting says the model's chat template: ChatML is used.")
  else if (model.template === undefined) warnOfTemplate(probed, log)
  return createLlamaServerBackend({
    ...withWindow(common, model.contextTokens ?? probed.contextTokens),
    ...(template === undefined ? {} : { template }),
    ...(modelFormat === undefined ? {} : { modelFormat }),
  })
}

async function templateOf(model: Model, probed: ProbedServer): Promise<PromptTemplate | undefined> {
  const mark = probed.mediaMark === undefined ? {} : { mediaMark: probed.mediaMark }
  if (model.template !== undefined) {
    const { template: source, from: _, ...tokens } = await readTemplate(model.template)
    return { source, ...tokens, ...mark }
  }
  const { chatTemplate: source, tokens } = probed
  return source === undefined ? undefined : { source, ...tokens, ...mark }
}

/** Of an API of which nobody says more: it has tools, and is there until it is asked. */
const UNASKED: ProbedServer = {
  reachable: true,
  dialect: "generic",
  models: [],
  abilities: { nativeTools: true, grammar: false, jsonSchema: true },
}

/** What a server says of itself. Those of Ollama and llama.cpp are asked where OpenAI's API would be at them. */
export function probeServer(
  kind: ServerKind,
  { baseUrl, apiKey, ...model }: { baseUrl: string; apiKey?: string; modelName?: string; name?: string },
  signal?: AbortSignal,
): Promise<ProbedServer> {
  if (kind === "anthropic" || kind === "openai-responses") return Promise.resolve(UNASKED)
  const root = baseUrl.replace(/\/+$/, "").replace(/\/(v1|api)$/, "")
  const modelName = model.modelName ?? model.name
  return probeAbilities(kind === "openai-compatible" ? baseUrl : `${root}/v1`, {
    ...(modelName === undefined ? {} : { modelName }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(signal === undefined ? {} : { signal }),
  })
}

function missing(key: string, how: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `The setting '${key}' is missing.`, { hint: `Give ${how}.` })
}
