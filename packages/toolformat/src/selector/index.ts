import { nearest, ToolwrightError } from "@toolwright/toolbox"
import type { Format } from "../engine/syntax.ts"
import { formatterOf } from "../formatter.ts"
import { FORMATS } from "../formats/index.ts"
import type { ToolFormatter } from "../model/formatter.ts"
import { formatForModelName } from "./model-names.ts"
import { recogniseTemplate } from "./template-markers.ts"

export { recogniseTemplate } from "./template-markers.ts"

/** What a format is chosen by, besides the model's name. */
export interface SelectOptions {
  /** A format's id or alias; it wins over everything. */
  format?: string
  /** The model's own chat template, in Jinja: what it was trained on says more than its name. */
  template?: string
  /** What serves the model: an API with tools of its own has a format of its own. */
  backend?: "openai" | "anthropic" | "text"
}

/** A choice, and what led to it, as a sentence for people. */
export interface Selection {
  format: Format
  because: string
}

/**
 * The format with an id or alias.
 *
 * @throws ToolwrightError `UNKNOWN_FORMAT`, with the nearest one as its hint
 */
export function formatById(id: string): Format {
  const wanted = plainId(id)
  const format =
    FORMATS.find((candidate) => plainId(candidate.id) === wanted) ??
    FORMATS.find((candidate) => candidate.aliases.some((alias) => plainId(alias) === wanted))
  if (format !== undefined) return format
  const [near] = nearest(
    id.trim().toLowerCase(),
    FORMATS.flatMap((candidate) => [candidate.id, ...candidate.aliases]),
  )
  throw new ToolwrightError("UNKNOWN_FORMAT", `There is no format '${id}'.`, {
    hint:
      `${near === undefined ? "" : `Did you mean '${near}'? `}'toolwright format list' shows all; their ids: ` +
      `${FORMATS.map((candidate) => candidate.id).join(", ")}.`,
  })
}

/** Ids are compared without case and punctuation: `deepseek_v3.1` is `deepseek-v31`. */
function plainId(id: string): string {
  return id.toLowerCase().replaceAll(/[^a-z0-9]/g, "")
}

/**
 * Chooses the format for a model: by the explicit setting, else by an API that has tools of its own, else by the chat
 * template, else by the model's name, the particular before the general, else the generic one.
 *
 * @throws ToolwrightError `UNKNOWN_FORMAT` when the explicit setting names none
 */
export function selectFormat(modelName: string, options: SelectOptions = {}): Selection {
  if (options.format !== undefined)
    return { format: formatById(options.format), because: `The setting says '${options.format}'.` }
  if (options.backend === "openai")
    return { format: formatById("openai"), because: "The backend takes tools and answers calls in the OpenAI form." }
  if (options.backend === "anthropic")
    return { format: formatById("claude"), because: "The backend is the Anthropic Messages API." }
  const recognised = options.template === undefined ? undefined : recogniseTemplate(options.template)
  if (recognised !== undefined) {
    return {
      format: formatById(recognised.formatId),
      because: `The chat template contains ${recognised.markers.map((marker) => `'${marker}'`).join(" and ")}.`,
    }
  }
  const named = formatForModelName(modelName)
  if (named !== undefined)
    return { format: formatById(named.format), because: `The model's name '${modelName}' contains '${named.matched}'.` }
  return {
    format: formatById("generic"),
    because: `Nothing is known about '${modelName}'; any model can follow the generic form.`,
  }
}

/** The formatter with an id or alias; see {@link formatById} for its error. */
export function formatterById(id: string): ToolFormatter {
  return formatterOf(formatById(id))
}

/** The formatter for a model; see {@link selectFormat} for the order of reasons. */
export function getFormatter(modelName: string, options: SelectOptions = {}): ToolFormatter {
  return formatterOf(selectFormat(modelName, options).format)
}

/** Every format, in the order of the list in the documentation. */
export function listFormats(): readonly Format[] {
  return FORMATS
}
