import { FORMATS } from "../formats/index.ts"

/**
 * The format whose marks a chat template contains. Of several, the one with the most text in its marks: those of a
 * general syntax also occur in templates of particular ones.
 *
 * @param template the template's source, in Jinja
 * @returns the format's id and its marks that were found; undefined for templates that know no tools
 */
export function recogniseTemplate(template: string): { formatId: string; markers: readonly string[] } | undefined {
  let best: { formatId: string; markers: readonly string[]; weight: number } | undefined
  for (const format of FORMATS) {
    for (const markers of format.templateMarkers) {
      const weight = markers.reduce((sum, marker) => sum + marker.length, 0)
      if (weight > (best?.weight ?? 0) && markers.every((marker) => template.includes(marker)))
        best = { formatId: format.id, markers, weight }
    }
  }
  return best === undefined ? undefined : { formatId: best.formatId, markers: best.markers }
}

/**
 * Whether a template is one of Ollama's own, in Go's language: such a one is not rendered here, and only its marks say
 * something. Its fields begin with a dot, which no name in Jinja does. What is looked through ends at the next brace:
 * each part of a template is read once, however many begin in it.
 */
export function isGoTemplate(template: string): boolean {
  return /\{\{-?\s*(?:(?:if|else if|range|with)\s[^{}]*?)?\$?\.(?:Messages|Prompt|System|Tools|Response|Content|Role)\b/.test(
    template,
  )
}
