import type { Backend, InferRequest } from "@toolwright/backends"
import type { ToolDefinition } from "@toolwright/toolbox"
import { formatterById, getFormatter, toOpenAITools, type ToolFormatter } from "@toolwright/toolformat"
import type { ToolCallingMode } from "./options.ts"

/**
 * How the model is told of tools and held to calls: its server's own tool use, a grammar over the family's syntax, the
 * family's syntax alone, or the generic JSON form.
 */
export type Delivery = "native" | "grammar" | "text" | "generic"

/** A format chosen for a run, and why. */
export interface ChosenFormat {
  formatter: ToolFormatter
  delivery: Delivery
  because: string
}

/**
 * The highest rung that the backend can take: native tools → grammar → family text → generic. An explicit formatter decides
 * the syntax; `text` mode goes straight to the generic form.
 */
export function chooseDelivery(backend: Backend, mode: ToolCallingMode, explicit?: ToolFormatter): ChosenFormat {
  const model = backend.modelName()
  if (mode === "text") {
    return { formatter: formatterById("generic"), delivery: "generic", because: "tool calling is set to text" }
  }
  if (explicit === undefined && backend.abilities.nativeTools) {
    return { formatter: getFormatter(model), delivery: "native", because: `the ${backend.kind} backend has native tool use` }
  }
  const formatter = explicit ?? getFormatter(model)
  const why = explicit === undefined ? `the model is named '${model}'` : "the format is set explicitly"
  if (formatter.supportsNativeToolUse()) {
    if (backend.abilities.nativeTools) return { formatter, delivery: "native", because: why }
    return { formatter: formatterById("generic"), delivery: "generic", because: `${why}, but the backend has no native tool use` }
  }
  return { formatter, delivery: formatter.id === "generic" ? "generic" : "text", because: why }
}

/** The part of a request that carries the tools. Never two constraints at once. */
export function toolPart(delivery: Delivery, tools: readonly ToolDefinition[]): Partial<InferRequest> {
  return delivery === "native" ? { tools: toOpenAITools(tools), toolChoice: "auto" } : {}
}
