import type { RunEvent } from "@toolwright/toolbox"

/** Shows a run while it happens. `close` takes away whatever is not to stay. */
export interface Renderer {
  show(event: RunEvent): void
  close(): void
}
