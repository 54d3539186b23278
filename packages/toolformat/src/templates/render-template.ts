import type { RenderLimits } from "./jinja/rendering.ts"
import { parseTemplate } from "./jinja/parse-template.ts"
import { renderWithData } from "./jinja/render.ts"

/**
 * Renders any Jinja template with plain data, as chat templates are rendered: bounded, and without reach into
 * JavaScript. Nothing is escaped.
 *
 * @throws TemplateError with the line and column of what is wrong
 * @example
 * renderTemplate("Hello {{ name }}!", { name: "Ada" })
 */
export function renderTemplate(
  source: string,
  data: Readonly<Record<string, unknown>>,
  limits: Partial<RenderLimits> = {},
): string {
  return renderWithData(parseTemplate(source), data, { limits })
}
