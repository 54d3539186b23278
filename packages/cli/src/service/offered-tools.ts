import type { Toolwright } from "@toolwright/runtime"
import { readingTools, ToolwrightError, type ToolDefinition, type Toolset } from "@toolwright/toolbox"

/** What a server offers, and what of the registry it does not. */
export interface OfferedTools {
  readonly tools: Toolset
  /** Tools that would run here, and are offered only with a token. */
  readonly hidden: readonly string[]
}

/** Which tools a surface offers. */
export interface Offering {
  /** Whether whoever calls is known: by a token, or since it started the server itself. */
  readonly secured: boolean
  /** Names of bundles, of which any will do; all tools unless given. */
  readonly bundles?: readonly string[] | undefined
}

/**
 * The tools that are served: those that can run here, of the chosen bundles; only what reads where every folder is
 * read-only, and where no token is asked for, since whoever reaches the port may call.
 *
 * @throws ToolwrightError `USAGE` for a bundle that has no tool
 */
export function offeredTools(toolwright: Toolwright, { secured, bundles }: Offering): OfferedTools {
  const { registry, unavailable } = toolwright
  const without = unavailable.map(({ name }) => name)
  const known = new Set(registry.list().flatMap(({ sets = ["general"] }) => sets))
  const unknown = bundles?.find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new ToolwrightError("USAGE", `There is no bundle '${unknown}' here.`, {
      hint: `Bundles that have tools: ${[...known].sort().join(", ")}.`,
    })
  const chosen = registry.view({ without, ...(bundles === undefined ? {} : { sets: bundles }) })
  const able = isWritable(toolwright) ? chosen : readingTools(chosen, isElsewhere)
  const tools = secured ? able : readingTools(able)
  const shown = new Set(tools.list().map((tool) => tool.name))
  return { tools, hidden: able.list().flatMap(({ name }) => (shown.has(name) ? [] : [name])) }
}

/** Whether a tool works on another server, whose files are its own matter. */
function isElsewhere({ provenance }: ToolDefinition): boolean {
  return provenance !== undefined && provenance.kind !== "local"
}

/** Whether any folder may be written to. */
function isWritable({ configuration: { workspace } }: Toolwright): boolean {
  return workspace.readOnly === undefined || (workspace.roots ?? []).length > 0
}
