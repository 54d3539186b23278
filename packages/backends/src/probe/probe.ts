import type { BackendAbilities } from "../model/backend.ts"
import { DIALECT_ABILITIES, type Dialect } from "../openai-compatible/dialect.ts"

/** What was found out about a server. Nothing here is certain: servers say little about themselves. */
export interface ProbedServer {
  /** Whether anything answered. */
  reachable: boolean
  dialect: Dialect
  version?: string
  /** Names of the models that it lists. */
  models: string[]
  abilities: BackendAbilities
  /** Tokens that fit into one request and its reply, where the server says. */
  contextTokens?: number
  /** Tokens of the window that the model was trained with, where the server tells that apart. */
  trainedTokens?: number
  /** Whether the model can think, where the server says. */
  thinks?: boolean
  /** What stands for a picture in a prompt, where the server says. */
  mediaMark?: string
  /** The chat template of the loaded model, in Jinja, where the server shows it. */
  chatTemplate?: string
  /** The template that Ollama has for the model, in Go's language: its marks say the family. */
  ownTemplate?: string
  /** What that template may print of the tokenizer. */
  tokens?: { bosToken?: string; eosToken?: string }
  /** The file that the server runs, where it says so and stands on this machine. */
  modelFile?: string
}

/** Settings of a probe. `timeoutMs` bounds all of it together; 2000 unless given. */
export interface ProbeOptions {
  modelName?: string
  apiKey?: string
  timeoutMs?: number
  signal?: AbortSignal
  fetch?: typeof fetch
}

/**
 * Finds out what kind of server stands behind an address and what it can do, by the pages that llama.cpp (`/props`),
 * vLLM (`/version`), Ollama (`/api/version`, `/api/show`) and all of them (`/v1/models`) have. All are asked at once.
 *
 * Never throws: what does not answer in time is taken not to be there.
 */
export async function probeAbilities(baseUrl: string, options: ProbeOptions = {}): Promise<ProbedServer> {
  const { modelName, apiKey, timeoutMs = 2000, signal, fetch: fetcher = fetch } = options
  const { address, authorization } = withoutUser(baseUrl)
  const base = address.replace(/\/+$/, "")
  const root = base.replace(/\/v\d+$/, "")
  const limit = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])])
  const headers = apiKey === undefined ? authorization : { authorization: `Bearer ${apiKey}` }

  let reachable = false
  const ask = async (url: string, body?: object): Promise<Page> => {
    try {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
      const response = await fetcher(url, {
        redirect: "error",
        ...init,
        headers: { ...headers, "content-type": "application/json" },
        signal: limit,
      })
      reachable = true
      if (!response.ok) void response.body?.cancel().catch(() => {})
      const value: unknown = response.ok ? JSON.parse(await boundedText(response)) : undefined
      return typeof value === "object" && value !== null ? (value as Page) : {}
    } catch {
      return {}
    }
  }

  const [props, version, ollama, models, show, loaded] = await Promise.all([
    ask(`${root}/props`),
    ask(`${root}/version`),
    ask(`${root}/api/version`),
    ask(`${base}/models`),
    modelName === undefined ? {} : ask(`${root}/api/show`, { model: modelName }),
    modelName === undefined ? {} : ask(`${root}/api/ps`),
  ])
  const listed = Array.isArray(models.data) ? (models.data as Page[]) : []
  const dialect = dialectOf(base, props, version, ollama, listed)
  const known = dialect === "ollama" ? ollama.version : dialect === "vllm" ? version.version : props.build_info
  return {
    reachable,
    dialect,
    models: listed.flatMap((model) => (typeof model.id === "string" ? [model.id] : [])),
    abilities: reachable
      ? { ...DIALECT_ABILITIES[dialect], ...nativeTools(props, show) }
      : { nativeTools: false, grammar: false, jsonSchema: false },
    ...(typeof known === "string" ? { version: known } : {}),
    ...contextOf(props, show, [...listed, ...loadedIn(loaded)], modelName),
    ...modelOf(props, show),
    ...templateOf(props, show, root),
  }
}

/** The models that Ollama has in memory, with the windows that they have there. */
function loadedIn({ models }: Page): Page[] {
  const list = Array.isArray(models) ? (models as Page[]) : []
  return list.map(({ name, context_length: context }) => ({ id: name, loaded_context_length: context }))
}

/** What is told of the model beside its template. */
function modelOf(props: Page, show: Page): Pick<ProbedServer, "trainedTokens" | "thinks" | "mediaMark"> {
  const info = (show.model_info ?? {}) as Page
  const trained = Object.entries(info).find(([name]) => name.endsWith(".context_length"))?.[1]
  const { capabilities } = show
  return {
    ...(typeof trained === "number" ? { trainedTokens: trained } : {}),
    ...(Array.isArray(capabilities) ? { thinks: capabilities.includes("thinking") } : {}),
    ...(typeof props.media_marker === "string" ? { mediaMark: props.media_marker } : {}),
  }
}

/** llama.cpp shows the template, and apart from it the one for tools; Ollama has one of its own, and names the file. */
function templateOf(
  props: Page,
  show: Page,
  root: string,
): Pick<ProbedServer, "chatTemplate" | "ownTemplate" | "tokens" | "modelFile"> {
  const template = [props.chat_template_tool_use, props.chat_template].find(
    (text): text is string => typeof text === "string" && text !== "",
  )
  const tokens = {
    ...(typeof props.bos_token === "string" ? { bosToken: props.bos_token } : {}),
    ...(typeof props.eos_token === "string" ? { eosToken: props.eos_token } : {}),
  }
  const file = typeof show.modelfile === "string" ? /^FROM (\/\S+)$/m.exec(show.modelfile)?.[1] : undefined
  const here = URL.canParse(root) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(root).hostname)
  return {
    ...(template === undefined
      ? {}
      : { chatTemplate: template, ...(Object.keys(tokens).length === 0 ? {} : { tokens }) }),
    ...(typeof show.template === "string" && show.template !== "" ? { ownTemplate: show.template } : {}),
    ...(file === undefined || !here ? {} : { modelFile: file }),
  }
}

/** Of a list of models or a template nothing is longer. */
const LONGEST_PAGE = 8 * 1024 * 1024

/** @throws Error when there is more than a page can have */
async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let length = 0
  for await (const bytes of response.body ?? []) {
    length += bytes.length
    // Leaving the loop ends the request.
    if (length > LONGEST_PAGE) throw new Error("the page is too long")
    pieces.push(decoder.decode(bytes, { stream: true }))
  }
  return pieces.join("") + decoder.decode()
}

type Page = Record<string, unknown>

/** `user:password@` as the header that it means: fetch refuses it in an address. */
function withoutUser(baseUrl: string): { address: string; authorization: { authorization?: string } } {
  if (!URL.canParse(baseUrl)) return { address: baseUrl, authorization: {} }
  const url = new URL(baseUrl)
  if (url.username === "") return { address: baseUrl, authorization: {} }
  const header = `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`
  url.username = ""
  url.password = ""
  return { address: url.href, authorization: { authorization: header } }
}

function dialectOf(base: string, props: Page, version: Page, ollama: Page, models: readonly Page[]): Dialect {
  const owners = models.map((model) => model.owned_by)
  if (
    owners.includes("llamacpp") ||
    props.default_generation_settings !== undefined ||
    props.chat_template !== undefined
  )
    return "llama.cpp"
  if (owners.includes("vllm")) return "vllm"
  if (owners.includes("sglang")) return "sglang"
  if (typeof ollama.version === "string") return "ollama"
  if (typeof version.version === "string") return "vllm"
  return /^https?:\/\/api\.openai\.com\b/.test(base) ? "openai" : "generic"
}

/** Whether the model's own template knows tools: llama.cpp tells it of the template, Ollama of the model. */
function nativeTools(props: Page, show: Page): { nativeTools?: boolean } {
  const caps = props.chat_template_caps as Page | undefined
  if (typeof caps?.supports_tools === "boolean") return { nativeTools: caps.supports_tools }
  return Array.isArray(show.capabilities) ? { nativeTools: show.capabilities.includes("tools") } : {}
}

/**
 * llama.cpp tells its window, vLLM and LM Studio that of each model. Ollama's is what `num_ctx` of the model says, or
 * the one with which it is in memory; the window that the model was trained with is no window that Ollama gives it.
 */
function contextOf(
  props: Page,
  show: Page,
  models: readonly Page[],
  modelName: string | undefined,
): { contextTokens?: number } {
  const settings = props.default_generation_settings as Page | undefined
  const named = models.filter((candidate) => candidate.id === modelName)
  const asked = named.length === 0 ? models.slice(0, 1) : named
  const told = asked.map((model) => model.max_model_len ?? model.loaded_context_length)
  const set = typeof show.parameters === "string" ? /^num_ctx\s+(\d+)/m.exec(show.parameters)?.[1] : undefined
  const own = set === undefined ? undefined : Number(set)
  const found = settings?.n_ctx ?? own ?? told.find((tokens) => tokens !== undefined)
  return typeof found === "number" && found > 0 ? { contextTokens: found } : {}
}
