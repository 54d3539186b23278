import { createOpenAICompatibleBackend, createScriptedBackend, loadScreenplay, openLlamaBackend, probeAbilities, type Backend, type Dialect } from "@toolwright/backends"
import { ToolwrightError } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import type { Configuration } from "../configuration/settings.ts"

/**
 * The backend that a configuration asks for: as named, or by what is set (a screenplay, a GGUF file, a server).
 *
 * @throws ToolwrightError `NO_MODEL` when nothing is set, `INVALID_CONFIGURATION` when something that it needs is missing
 */
export async function backendFor({ model }: Configuration): Promise<Backend> {
  switch (model.backend ?? impliedBackend(model)) {
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
    default:
      throw new ToolwrightError("NO_MODEL", "No model is configured.", { hint: HOW_TO_CONFIGURE })
  }
}

export const HOW_TO_CONFIGURE = `Name a model and its server, for example one that Ollama serves:
  --model qwen2.5-coder:7b --base-url http://localhost:11434/v1
or set TOOLWRIGHT_MODEL and TOOLWRIGHT_BASE_URL (and TOOLWRIGHT_API_KEY where a key is needed), or write both into toolwright.yaml.
'toolwright demo' shows a run without any model.`

function impliedBackend(model: Configuration["model"]): Configuration["model"]["backend"] {
  if (model.screenplay !== undefined) return "scripted"
  if (model.path !== undefined) return "llama"
  return model.baseUrl === undefined && model.name === undefined ? undefined : "openai-compatible"
}

async function openAICompatible(model: Configuration["model"]): Promise<Backend> {
  if (model.baseUrl === undefined) throw missing("model.baseUrl", "--base-url URL or TOOLWRIGHT_BASE_URL")
  if (model.name === undefined) throw missing("model.name", "--model NAME or TOOLWRIGHT_MODEL")
  const dialect = await dialectOf(model, model.baseUrl)
  return createOpenAICompatibleBackend({
    dialect,
    baseUrl: model.baseUrl,
    modelName: model.name,
    ...(model.apiKey === undefined ? {} : { apiKey: model.apiKey }),
    abilities: { nativeTools: model.nativeTools },
    stallTimeoutMs: model.timeoutSeconds * 1000,
    settingNames: { url: "--base-url (or TOOLWRIGHT_BASE_URL)", key: "TOOLWRIGHT_API_KEY" },
  })
}

/** A server is asked what it is only where that matters: native tool use is the same everywhere, grammars are not. */
async function dialectOf(model: Configuration["model"], baseUrl: string): Promise<Dialect> {
  if (model.dialect !== "auto") return model.dialect
  if (model.nativeTools) return "generic"
  const probed = await probeAbilities(baseUrl, model.apiKey === undefined ? {} : { apiKey: model.apiKey })
  return probed.dialect
}

function missing(key: string, how: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `The setting '${key}' is missing.`, { hint: `Give ${how}.` })
}
