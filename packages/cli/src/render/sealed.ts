import { redactDeep } from "@toolwright/host/text"
import type { RunEvent } from "@toolwright/toolbox"
import type { Renderer } from "./renderer.ts"

/** Events that hold what was said, given or returned. */
const SAYING: ReadonlySet<RunEvent["type"]> = new Set(["reply", "tool-start", "tool-end", "nudge", "run-end"])

/**
 * A renderer that shows no secret, whoever said it: what a person typed comes back in calls and answers, and a terminal
 * or a log of a build keeps what it was shown for longer than the run.
 *
 * @param redact takes secrets out of a text
 */
export function sealed(renderer: Renderer, redact: (text: string) => string): Renderer {
  return {
    show: (event) => renderer.show(SAYING.has(event.type) ? redactDeep(event, redact) : event),
    close: () => renderer.close(),
    hold: () => renderer.hold?.(),
    release: () => renderer.release?.(),
  }
}
