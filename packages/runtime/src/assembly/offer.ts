import { ESSENTIAL_SET, FINDING_SET, type AgentProfile, type CatalogueLimits, type Phase } from "@toolwright/agents"
import {
  GENERAL_SET,
  nearest,
  setsOf,
  ToolwrightError,
  type ToolDefinition,
  type ToolRegistry,
  type Toolset,
} from "@toolwright/toolbox"
import type { AssembledTools } from "./assembled-tools.ts"
import { judgedBy, type Judging } from "./judged-by.ts"
import type { Pairing } from "../pairing/pairing.ts"

/** What an agent is offered, and what it would be if it could run here. */
export interface Offer {
  readonly tools: Toolset
  readonly unavailable: readonly { name: string; reason: string; tool?: ToolDefinition }[]
  /** Which of them are declared where not all have room. */
  readonly catalogue?: CatalogueLimits
}

/**
 * The tools for an agent: of those that can run here, what its profile takes; of a pairing what that knows.
 *
 * @throws ToolwrightError `UNKNOWN_TOOL` for a tool that the profile names and nobody has registered
 */
export function offerFor(
  profile: AgentProfile,
  { registry, unavailable }: AssembledTools,
  { pairing, writable, search }: { pairing: Pairing | undefined; writable: boolean; search: boolean },
): Offer {
  checkNames(profile, registry, unavailable)
  checkKits(profile, registry)
  const isWanted = wouldBeOffered(registry, profile)
  const missing = unavailable
    .filter(({ name }) => isWanted(name))
    .map((each) => ({ ...each, ...definitionOf(registry, each.name) }))
  if (pairing?.canBe(profile) === true) {
    const onlyReads = !writable || profile.tools.readOnly === true
    return { tools: pairing.toolset(registry, onlyReads), unavailable: missing }
  }
  const { declared = [ESSENTIAL_SET, FINDING_SET] } = profile
  const tools = registry.view({ ...profile.tools, unavailable, ...(writable ? {} : { readOnly: true }) })
  return {
    tools,
    unavailable: missing,
    ...(search ? { catalogue: declared === "all" ? { all: true } : { rank: rankFor(declared) } } : {}),
  }
}

/** The phases of an agent, each with the tools that it takes. */
export function phasesOf(
  profile: AgentProfile,
  { offer, maxRounds, judging }: { offer: (profile: AgentProfile) => Offer; maxRounds: number; judging: Judging },
): { phases?: readonly Phase[] } {
  const { phases } = profile
  if (phases === undefined) return {}
  return {
    phases: phases.map(({ tools, declared, agents: _agents, judgedBy: _judgedBy, ...phase }, at) => ({
      maxRounds,
      ...phase,
      ...judgedBy(phases[at]!, judging),
      ...(tools === undefined
        ? {}
        : offer({ ...profile, tools, ...(declared === undefined ? {} : { declared }), kits: [] })),
    })),
  }
}

/** A user's own tools come first, then those of the agent's sets in their order, then those of other servers. */
function rankFor(declared: readonly string[]): (tool: ToolDefinition) => number | undefined {
  return (tool) => {
    const kind = tool.provenance?.kind
    if (kind === "local" || (kind === undefined && tool.sets === undefined)) return 0
    const sets = setsOf(tool)
    const place = declared.findIndex((set) => sets.includes(set))
    if (place >= 0) return 1 + place
    return kind === undefined ? undefined : 1 + declared.length
  }
}

/**
 * Whether an agent would be offered a tool if it could run here; of a source that is missing nobody knows the tools.
 */
function wouldBeOffered(registry: ToolRegistry, { tools }: AgentProfile): (name: string) => boolean {
  const { readOnly: _readOnly, splitActions: _split, ...selection } = tools
  const offered = registry.view(selection).list()
  const names = new Set(offered.map(({ name }) => name))
  const takesAny = tools.only === undefined && (tools.sets?.includes(GENERAL_SET) ?? true)
  return (name) => names.has(name) || (takesAny && registry.get(name) === undefined)
}

/** A name that no tool has is a mistake in the profile, or its source is away: neither is passed over. */
function checkNames(
  { name: agent, tools: { only = [], add = [] } }: AgentProfile,
  registry: ToolRegistry,
  unavailable: Offer["unavailable"],
): void {
  if (only.length === 0) return
  const split = registry.view({ splitActions: true })
  const known = new Set([...registry.list(), ...split.list(), ...add, ...unavailable].map(({ name }) => name))
  const unknown = only.filter((name) => !known.has(name) && registry.get(name) === undefined)
  if (unknown.length === 0) return
  const meant = unknown.flatMap((name) => nearest(name, known).slice(0, 1))
  // A source that is away: nobody knows whether the tools are its own.
  const away = unavailable.flatMap(({ name, reason }) =>
    registry.get(name) === undefined ? `${name} (${reason})` : [],
  )
  throw new ToolwrightError(
    "UNKNOWN_TOOL",
    `The agent '${agent}' takes only tools that it names, and of these no tool is registered: ${unknown.join(", ")}.`,
    {
      hint: [
        meant.length === 0 ? "" : `Did you mean ${meant.join(", ")}?`,
        away.length === 0 ? "" : `Not available here: ${away.join("; ")}.`,
      ]
        .filter(Boolean)
        .join(" "),
    },
  )
}

/** An agent whose tools come in a kit that was not chosen would have nothing to work with. */
function checkKits({ name, tools, kits = [] }: AgentProfile, registry: ToolRegistry): void {
  const { readOnly: _readOnly, splitActions: _split, ...selection } = tools
  if (kits.length === 0 || registry.view(selection).list().length > 0) return
  throw new ToolwrightError("MISSING_TOOLS", `The agent '${name}' works with tools that were not chosen here.`, {
    hint: `Choose them: ${kits.map((kit) => `\`builtins.kits: [${kit}]\``).join(", ")}`,
  })
}

function definitionOf(registry: ToolRegistry, name: string): { tool?: ToolDefinition } {
  const tool = registry.get(name)
  return tool === undefined ? {} : { tool }
}
