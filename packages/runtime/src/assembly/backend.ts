import {
  createOpenAICompatibleBackend,
  createScriptedBackend,
  loadScreenplay,
  openLlamaBackend,
  openPocket,
  probeAbilities,
  type Backend,
  type Dialect,
} from "@toolwright/backends"
import { ToolwrightError } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import type { Configuration } from "../configuration/settings.ts"

type BackendKind = NonNullable<Configuration["model"]["backend"]>

/** What a backend takes from its surroundings. */
export interface BackendOptions {
  /** Absolute path of the workspace, which the pocket model is not shown. */
  root?: string
}

/**
 * The backend that a configuration asks for: as named, or by what is set (a screenplay, a GGUF file, a server), or the
 * built-in pocket
 * model when nothing is.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` when something that it needs is missing, or what opening the model
 *   brings
 */
export async function backendFor({ model }: Configuration, { root }: BackendOptions = {}): Promise<Backend> {
  switch (backendKindOf(model) ?? "pocket") {
    case "scripted": {
      if (model.screenplay === undefined) throw missing("model.screenplay", "--screenplay FILE")
      const formatter = model.format === undefined ? {} : { formatter: formatterById(model.format) }
      return createScriptedBackend(await loadScreenplay(model.screenplay), formatter)
    }
    case "openai-compatible":
      return openAICompatible(model)
    case "llama":
      if (model.path === undefined) throw missing("model.path", "--model-path FILE")
      return openLlamaBackend({ modelPath: model.path, ...(model.name === undefined ? {} : { modelName: model.name }) })
    case "pocket":
      return openPocket(root === undefined ? {} : { root }).catch((thrown: unknown) => {
        throw model.backend === "pocket" ? thrown : withoutPocket(thrown)
      })
  }
}

/** Where the built-in model cannot run, none is configured; what is missing is said with it. */
function withoutPocket(cause: unknown): unknown {
  if (!ToolwrightError.isInstance(cause)) return cause
  const { message, hint } = cause
  return new ToolwrightError("NO_MODEL", `No model is configured, and the built-in one cannot run: ${message}`, {
    cause,
    hint: `${hint === undefined ? "" : `${hint}\n`}${HOW_TO_CONFIGURE}\nWithout any model work: toolwright tools call, format, grammar, serve, mcp, demo.`,
  })
}

/** Whether a model is configured; where none is, runs take the built-in pocket model. */
export function hasModel({ model }: Configuration): boolean {
  return backendKindOf(model) !== undefined
}

/**
 * The backend of the configured model, for what the pocket model is no help in unless it was chosen by name.
 *
 * @param own a backend that was given in place of a configured one
 * @param make opens the backend, or gives one that is open
 * @throws ToolwrightError `NO_MODEL` when none is configured, otherwise as {@link backendFor}
 */
export async function configuredBackend(
  configuration: Configuration,
  own?: Backend,
  make: () => Promise<Backend> = () => backendFor(configuration),
): Promise<Backend> {
  if (own !== undefined || hasModel(configuration)) return make()
  throw new ToolwrightError("NO_MODEL", "No model is configured.", { hint: HOW_TO_CONFIGURE })
}

/** @throws ToolwrightError `NO_MODEL`, always: the pocket model would have nothing to call */
export function withoutModel(): never {
  throw new ToolwrightError(
    "NO_MODEL",
    "No model is configured, and the built-in pocket model knows none of the tools that are registered.",
    {
      hint: `${HOW_TO_CONFIGURE}\nIn code: createToolwright({ model: { name, baseUrl } }), or { builtins: {} } for the built-in tools and the pocket model.`,
    },
  )
}

export const HOW_TO_CONFIGURE = `Name a model and its server, for example one that Ollama serves:
  --model qwen2.5-coder:7b --base-url http://localhost:11434/v1
or set TOOLWRIGHT_MODEL and TOOLWRIGHT_BASE_URL (and TOOLWRIGHT_API_KEY where a key is needed), or write both into toolwright.yaml.`

/** The backend as named, or by what is set; nothing when nothing is. */
function backendKindOf(model: Configuration["model"]): BackendKind | undefined {
  if (model.backend !== undefined) return model.backend
  if (model.screenplay !== undefined) return "scripted"
  if (model.path !== undefined) return "llama"
  return model.baseUrl === undefined && model.name === undefined ? undefined : "openai-compatible"
}

async function openAICompatible(model: Configuration["model"]): Promise<Backend> {
  if (model.baseUrl === undefined) throw missing("model.baseUrl", "--base-url URL or TOOLWRIGHT_BASE_URL")
  if (model.name === undefined) throw missing("model.name", "--model NAME or TOOLWRIGHT_MODEL")
  const found = await findOut(model, model.baseUrl)
  return createOpenAICompatibleBackend({
    ...found,
    baseUrl: model.baseUrl,
    modelName: model.name,
    ...(model.apiKey === undefined ? {} : { apiKey: model.apiKey }),
    abilities: { nativeTools: model.nativeTools },
    stallTimeoutMs: model.timeoutSeconds * 1000,
    settingNames: { url: "--base-url (or TOOLWRIGHT_BASE_URL)", key: "TOOLWRIGHT_API_KEY" },
  })
}

/**
 * A server is asked what it is only where that matters: native tool use is the same everywhere, grammars are not. It
 * tells its window then, too.
 */
async function findOut(
  { dialect, nativeTools, apiKey, name }: Configuration["model"],
  baseUrl: string,
): Promise<{ dialect: Dialect; contextTokens?: number }> {
  if (dialect !== "auto") return { dialect }
  if (nativeTools) return { dialect: "generic" }
  const asked = { ...(apiKey === undefined ? {} : { apiKey }), ...(name === undefined ? {} : { modelName: name }) }
  const probed = await probeAbilities(baseUrl, asked)
  const { contextTokens } = probed
  return { dialect: probed.dialect, ...(contextTokens === undefined ? {} : { contextTokens }) }
}

function missing(key: string, how: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `The setting '${key}' is missing.`, { hint: `Give ${how}.` })
}
