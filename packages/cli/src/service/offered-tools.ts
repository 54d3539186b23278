import { AGENTS_BUNDLE, agentsTool, type Toolwright } from "@toolwright/runtime"
import { readingTools, setsOf, ToolwrightError, type ToolDefinition, type Toolset } from "@toolwright/toolbox"
import { ALL_BUNDLES, LISTED_BUNDLE } from "./bundles.ts"

/** What a server offers, and what of the registry it does not. */
export interface OfferedTools {
  readonly tools: Toolset
  /** Tools that would run here, and are offered only with a token. */
  readonly hidden: readonly string[]
  /** The user's own that are left out since they do not say whether they only read. */
  readonly silent: readonly string[]
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
export function offeredTools(toolwright: Toolwright, { secured, bundles: given }: Offering): OfferedTools {
  const bundles = given?.includes(ALL_BUNDLES) === true ? undefined : given
  const { registry, unavailable } = toolwright
  const known = new Set([...registry.list().flatMap(setsOf), AGENTS_BUNDLE])
  const unknown = bundles?.find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new ToolwrightError("USAGE", `There is no bundle '${unknown}' here.`, {
      hint: `Bundles that have tools: ${[...known].sort().join(", ")}; ${ALL_BUNDLES} is all of them.`,
    })
  // Who lets agents work does what all tools can: it is offered to those alone who asked for it.
  const add = secured && given?.includes(AGENTS_BUNDLE) === true ? [agentsTool(toolwright)] : []
  const chosen = registry.view({ unavailable, add, ...(bundles === undefined ? {} : { sets: bundles }) })
  const able = isWritable(toolwright) ? chosen : readingTools(chosen, isElsewhere)
  const tools = secured ? able : readingTools(able)
  const shown = new Set(tools.list().map((tool) => tool.name))
  const leftOut = (of: Toolset): ToolDefinition[] => of.list().filter(({ name }) => !shown.has(name))
  const isSilent = ({ effects, provenance }: ToolDefinition) =>
    effects === undefined && (provenance?.kind ?? "local") === "local"
  return { tools, hidden: namesOf(leftOut(able)), silent: namesOf(leftOut(chosen).filter(isSilent)) }
}

const namesOf = (tools: readonly ToolDefinition[]): string[] => tools.map(({ name }) => name)

/**
 * What an MCP host is told of: hosts hand whole listings to their models, and a window is soon full of them. Where no
 * bundle is chosen these are the tools for code, those of the user's own and those of other servers; what is not listed
 * is called by its name all the same.
 */
export function listedTools({ tools }: OfferedTools, bundles: readonly string[] | undefined): Toolset {
  if (bundles !== undefined) return tools
  const isListed = (tool: ToolDefinition): boolean =>
    tool.sets === undefined || tool.provenance !== undefined || setsOf(tool).includes(LISTED_BUNDLE)
  return {
    get version() {
      return tools.version
    },
    list: () => tools.list().filter(isListed),
    get: (name) => tools.get(name),
    withdrawn: (name) => tools.withdrawn(name),
    keptBack: (name) => tools.keptBack?.(name),
  }
}

/** Whether a tool works on another server, whose files are its own matter. */
function isElsewhere({ provenance }: ToolDefinition): boolean {
  return provenance !== undefined && provenance.kind !== "local"
}

/** Whether any folder may be written to. */
function isWritable({ configuration: { workspace } }: Toolwright): boolean {
  return workspace.readOnly === undefined || (workspace.roots ?? []).length > 0
}
