import type { Format } from "../engine/syntax.ts"
import { formatById, selectFormat, type Selection, type SelectOptions } from "../selector/index.ts"
import { inferFormat, type FormatInference } from "./infer.ts"
import { readOf } from "./judge.ts"
import { renderingsOf, type TemplateSettings } from "./renderings.ts"

/** A choice by a chat template. */
export interface TemplateSelection extends Selection {
  /** What the template itself showed. */
  inference: FormatInference
  /** Whether the format is the inferred one, and not one by hand. */
  inferred: boolean
}

/**
 * Chooses the format of a model by its chat template. Where a format by hand has the template's marks and reads what
 * the template shows, it is that one, since it also knows what models of the family get wrong; else the one that the
 * template lets infer. Templates that show no calls leave it to {@link selectFormat}.
 *
 * @throws TemplateError `TEMPLATE_SYNTAX`; ToolwrightError `UNKNOWN_FORMAT` where the options name none
 */
export function selectByTemplate(
  modelName: string,
  source: string,
  { settings = {}, ...options }: SelectOptions & { settings?: TemplateSettings } = {},
): TemplateSelection {
  const inference = inferFormat(source, settings)
  const usual = selectFormat(modelName, { ...options, template: source })
  const byHand = (selection: Selection): TemplateSelection => ({ ...selection, inference, inferred: false })
  const { format, recognised, judgement } = inference
  if (options.format !== undefined || format === undefined || judgement === undefined) return byHand(usual)
  if (recognised !== undefined && readOf(formatById(recognised), renderingsOf(source, settings)) >= judgement.read)
    return byHand(usual)
  if (inference.certainty === "unsure" && recognised !== undefined) return byHand(usual)
  return { format: withKnown(format, recognised), because: becauseOf(inference), inference, inferred: true }
}

/** An inferred format that also reads what a family with the same marks writes. */
function withKnown(format: Format, recognised: string | undefined): Format {
  return recognised === undefined ? format : { ...format, calls: [...format.calls, ...formatById(recognised).calls] }
}

function becauseOf({ certainty, judgement }: FormatInference): string {
  const counts = judgement === undefined ? "" : ` (${judgement.read} of ${judgement.shown} probes read back)`
  const words = { sure: "is sure", likely: "is likely right", unsure: "is unsure" }[certainty]
  return `It is inferred from the chat template; that ${words}${counts}.`
}
