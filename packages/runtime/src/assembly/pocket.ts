import { PROFILES, type AgentProfile, type ExecutorOptions } from "@toolwright/agents"
import { absentPocketTools, POCKET_TOOLS, pocketGrounding, pocketTools, type Backend } from "@toolwright/backends"
import { ToolwrightError, type PermissionPolicy, type ToolRegistry, type Toolset } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import type { Configuration } from "../configuration/settings.ts"
import { hasModel, HOW_TO_CONFIGURE } from "./backend.ts"

/** The name by which the pocket model is known, however its backend was made. */
export const POCKET_NAME = "toolwright-pocket"

/**
 * Tools that are asked about when the pocket model calls them: what they do cannot be taken back, and it is often
 * wrong.
 */
export const POCKET_ASKS: readonly string[] = ["bash", "delete_file", "move_file"]

/** Inferences of a run with the pocket model at most: it does two or three steps, and then goes in circles. */
const POCKET_ROUNDS = 8

/**
 * The tools that the pocket model is offered: all that it knows, those that are not there as ones that say so.
 *
 * @param readOnly leaves out tools that change something
 */
export function pocketToolset(registry: ToolRegistry, readOnly: boolean): Toolset {
  const known = pocketTools(registry.view({ splitActions: true, readOnly }).list())
  const absent = POCKET_TOOLS.filter((name) => known.every((tool) => tool.name !== name))
  return registry.view({ only: [], add: [...known, ...absentPocketTools(absent)] })
}

/**
 * Whether runs are done by the pocket model: when it was chosen, and in place of a model that is not configured, if
 * there are tools
 * that it knows.
 *
 * @param own a backend that was given in place of the configured one
 */
export function runsOnPocket(configuration: Configuration, own: Backend | undefined, registry: ToolRegistry): boolean {
  if (own !== undefined) return own.modelName() === POCKET_NAME
  if (hasModel(configuration)) return configuration.model.backend === "pocket"
  return pocketTools(registry.list()).length > 0
}

/** What an executor does otherwise with the pocket model. */
export function pocketOptions(
  { agent, model }: Configuration,
  permissions: PermissionPolicy | undefined,
): Partial<ExecutorOptions> {
  return {
    // Tools are not described to it: they are in its weights, and no prompt of ours reaches it.
    formatter: { ...formatterById("hermes"), formatToolsForPrompt: () => "" },
    grounding: model.grounding === "off" ? "off" : pocketGrounding,
    maxRounds: Math.min(agent.maxRounds, POCKET_ROUNDS),
    completion: {},
    // It is not shown what it is told, and decides the same on the same.
    loops: { tell: 2, stop: 2 },
    nudges: 0,
    unavailable: [],
    ...(permissions === undefined ? {} : { permissions }),
  }
}

/** Agents that write, debug and review need a model that can; those of an application are its own business. */
export function canBePocket(profile: AgentProfile): boolean {
  return profile.name === "assistant" || !PROFILES.includes(profile)
}

/** @throws ToolwrightError `NO_MODEL` for an agent that the pocket model cannot be */
export function checkPocketAgent(profile: AgentProfile): void {
  if (canBePocket(profile)) return
  throw new ToolwrightError(
    "NO_MODEL",
    `The agent '${profile.name}' needs a real model: the built-in pocket model only does plain requests, as 'assistant'.`,
    { hint: HOW_TO_CONFIGURE },
  )
}
