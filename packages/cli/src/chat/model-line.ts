import type { Backend, Configuration, Pairing } from "@toolwright/runtime"
import { neutralise } from "../render/neutralise.ts"

/** Which model answers, and what it is, in one line. */
export function modelLine(backend: Backend, { model }: Configuration, pairing?: Pairing): string {
  return neutralise(`${backend.modelName()}: ${kindOf(backend, model, pairing)}`)
}

function kindOf(backend: Backend, model: Configuration["model"], pairing: Pairing | undefined): string {
  if (pairing !== undefined && backend.kind !== "scripted") return `${pairing.words.is}; each request stands by itself`
  switch (backend.kind) {
    case "scripted":
      return (
        "a screenplay, its replies were written " +
        `beforehand${model.screenplay === undefined ? "" : ` (${model.screenplay})`}`
      )
    case "llama":
      return `a model in this process (${model.path ?? "GGUF"})`
    default:
      return `a model served at ${model.baseUrl ?? "an address of its own"} (${backend.kind})`
  }
}
