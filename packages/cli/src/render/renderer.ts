import type { RunEvent } from "@toolwright/toolbox"

/**
 * Shows a run while it happens. `close` takes away whatever is not to stay; between `hold` and `release` somebody else
 * has the terminal, as for a question.
 */
export interface Renderer {
  show(event: RunEvent): void
  close(): void
  hold?(): void
  release?(): void
}
