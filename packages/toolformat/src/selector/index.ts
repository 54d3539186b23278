import { ToolwrightError } from "@toolwright/toolbox"
import { formatterOf } from "../formatter.ts"
import { FORMATS } from "../formats/index.ts"
import type { ToolFormatter } from "../model/formatter.ts"

/** What overrides the choice by model name. */
export interface SelectOptions {
  /** A format's id or alias; it wins over everything. */
  format?: string
}

/**
 * The formatter with an id or alias.
 *
 * @throws ToolwrightError `UNKNOWN_FORMAT` that lists the ids
 */
export function formatterById(id: string): ToolFormatter {
  const wanted = id.toLowerCase()
  const format = FORMATS.find((candidate) => candidate.id === wanted || candidate.aliases.includes(wanted))
  if (format !== undefined) return formatterOf(format)
  throw new ToolwrightError("UNKNOWN_FORMAT", `There is no format '${id}'.`, { hint: `Formats: ${FORMATS.map((candidate) => candidate.id).join(", ")}.` })
}

/** The formatter for a model, by its name; an explicit format wins. */
export function getFormatter(modelName: string, options: SelectOptions = {}): ToolFormatter {
  if (options.format !== undefined) return formatterById(options.format)
  const name = modelName.toLowerCase()
  if (name.includes("hermes") || name.includes("nous")) return formatterById("hermes")
  if (name.includes("qwen")) return formatterById("qwen2.5")
  if (name.includes("claude")) return formatterById("claude")
  return formatterById("generic")
}
