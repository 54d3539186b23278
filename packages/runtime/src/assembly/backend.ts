import { createOpenAICompatibleBackend, createScriptedBackend, loadScreenplay, type Backend } from "@toolwright/backends"
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
      throw new ToolwrightError("INVALID_CONFIGURATION", "A model inside this process cannot be used yet.")
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

function openAICompatible(model: Configuration["model"]): Backend {
  if (model.baseUrl === undefined) throw missing("model.baseUrl", "--base-url URL or TOOLWRIGHT_BASE_URL")
  if (model.name === undefined) throw missing("model.name", "--model NAME or TOOLWRIGHT_MODEL")
  return createOpenAICompatibleBackend({
    baseUrl: model.baseUrl,
    modelName: model.name,
    ...(model.apiKey === undefined ? {} : { apiKey: model.apiKey }),
    abilities: { nativeTools: model.nativeTools },
    stallTimeoutMs: model.timeoutSeconds * 1000,
    settingNames: { url: "--base-url (or TOOLWRIGHT_BASE_URL)", key: "TOOLWRIGHT_API_KEY" },
  })
}

function missing(key: string, how: string): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `The setting '${key}' is missing.`, { hint: `Give ${how}.` })
}
