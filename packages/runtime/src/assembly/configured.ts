import type { Configuration } from "../configuration/settings.ts"

type BackendKind = NonNullable<Configuration["model"]["backend"]>

/** Whether a model is configured; where none is, runs take the one that is built in. */
export function hasModel({ model }: Configuration): boolean {
  return backendKindOf(model) !== undefined
}

/** The backend as named, or by what is set; nothing when nothing is. */
export function backendKindOf(model: Configuration["model"]): BackendKind | undefined {
  if (model.backend !== undefined) return model.backend
  if (model.screenplay !== undefined) return "scripted"
  if (model.path !== undefined) return "llama"
  return model.baseUrl === undefined && model.name === undefined ? undefined : "openai-compatible"
}

/** What to do where no model is configured, in words that the command line turns into flags. */
export const HOW_TO_CONFIGURE = `Name a model and its server, for example one that Ollama serves:
  \`model.name: qwen2.5-coder:7b\` \`model.baseUrl: http://localhost:11434/v1\`
On the command line TOOLWRIGHT_MODEL and TOOLWRIGHT_BASE_URL do too (and TOOLWRIGHT_API_KEY where a key is needed), \
or both in toolwright.yaml.`
