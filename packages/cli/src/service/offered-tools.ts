import type { Toolwright } from "@toolwright/runtime"
import { readingTools, type Toolset } from "@toolwright/toolbox"

/** What a server offers, and what of the registry it does not. */
export interface OfferedTools {
  readonly tools: Toolset
  /** Tools that would run here, and are offered only with a token. */
  readonly hidden: readonly string[]
}

/**
 * The tools that are served: those that can run here; and where no token is asked for, only what reads, since
 * whoever reaches the port may call.
 */
export function offeredTools(toolwright: Toolwright, secured: boolean): OfferedTools {
  const able = toolwright.registry.view({ without: toolwright.unavailable.map(({ name }) => name) })
  const tools = secured ? able : readingTools(able)
  const shown = new Set(tools.list().map((tool) => tool.name))
  return { tools, hidden: able.list().flatMap(({ name }) => (shown.has(name) ? [] : [name])) }
}
