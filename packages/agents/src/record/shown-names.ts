import { redactDeep } from "@toolwright/host/text"
import type { RunEvent } from "@toolwright/toolbox"

type Redact = ((text: string) => string) | undefined

/**
 * An event as others may hear of it. The paths that a result names are kept as they are for as long as the gate works
 * with them, and are the last that a secret could leave by.
 */
export function withShownNames(event: RunEvent, redact: Redact): RunEvent {
  if (event.type === "run-end") {
    const summary = namesIn(event.summary, redact)
    return summary === event.summary ? event : { ...event, summary }
  }
  if (event.type !== "tool-end") return event
  const result = namesIn(event.result, redact)
  return result === event.result ? event : { ...event, result }
}

/** The same of a result or a summary alone: itself where no name holds a secret. */
export function namesIn<Told extends { modifiedFiles: string[] }>(told: Told, redact: Redact): Told {
  const { modifiedFiles } = told
  if (redact === undefined || modifiedFiles.length === 0) return told
  const safe = redactDeep(modifiedFiles, redact)
  return safe === modifiedFiles ? told : { ...told, modifiedFiles: safe }
}
