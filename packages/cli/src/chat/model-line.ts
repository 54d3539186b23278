import type { Backend, Configuration } from "@toolwright/runtime"
import { neutralise } from "../render/neutralise.ts"

/** What the pocket model is: whoever meets it must not take it for an assistant. */
export const POCKET_MODEL =
  "a demonstration model of 2.9 million parameters (3 MB): it knows 18 tools and is no assistant"

/** Which model answers, and what it is, in one line. */
export function modelLine(backend: Backend, { model }: Configuration): string {
  const name = backend.modelName()
  return neutralise(`${name}: ${kindOf(backend, name, model)}`)
}

function kindOf(backend: Backend, name: string, model: Configuration["model"]): string {
  if (name === "toolwright-pocket" && backend.kind !== "scripted")
    return `${POCKET_MODEL}; each request stands by itself`
  switch (backend.kind) {
    case "scripted":
      return `a screenplay, its replies were written beforehand${model.screenplay === undefined ? "" : ` (${model.screenplay})`}`
    case "llama":
      return `a model in this process (${model.path ?? "GGUF"})`
    default:
      return `a model served at ${model.baseUrl ?? "an address of its own"} (${backend.kind})`
  }
}
