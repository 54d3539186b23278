import { ToolwrightError } from "@toolwright/toolbox"

/**
 * Where in a screenplay something happens. `number` counts steps from 1, `inference` requests from 1; `label` says it
 * in other words.
 */
export interface Place {
  number: number
  inference: number
  name?: string | undefined
  label?: string | undefined
}

/** A request was not what a step expects: a real model would not have had what it needs here. */
export function assertionError(place: Place, expected: string, was: string): ToolwrightError {
  const name = place.name === undefined ? "" : ` (${place.name})`
  const where = place.label ?? `Screenplay step ${place.number}${name}, inference ${place.inference}`
  return new ToolwrightError("SCREENPLAY_ASSERTION", `${where}: expected ${expected}.\nThere was: ${excerpt(was)}`)
}

/** A text short enough for an error message: its beginning and its end. */
export function excerpt(text: string, most = 1200): string {
  if (text === "") return "(nothing)"
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  return `${text.slice(0, half)}\n… ${text.length - 2 * half} characters left out …\n${text.slice(-half)}`
}
