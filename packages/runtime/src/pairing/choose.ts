import type { AgentProfile } from "@toolwright/agents"
import type { Backend } from "@toolwright/backends"
import type { RunRow } from "@toolwright/store"
import { ToolwrightError, type ToolRegistry } from "@toolwright/toolbox"
import { hasModel, HOW_TO_CONFIGURE } from "../assembly/configured.ts"
import type { Configuration } from "../configuration/settings.ts"
import type { Pairing } from "./pairing.ts"
import { pocketPairing } from "./pocket.ts"

/** What answers where no model is configured. */
export const DEFAULT_PAIRING: Pairing = pocketPairing

/** All that there are. */
const PAIRINGS: readonly Pairing[] = [DEFAULT_PAIRING]

/**
 * The pairing that does the runs: the one that was chosen, and the first one in place of a model that is not
 * configured, if there are tools that it knows.
 *
 * @param own a backend that was given in place of the configured one
 * @returns nothing where a model does them that needs none
 */
export function pairingFor(
  configuration: Configuration,
  own: Backend | undefined,
  registry: ToolRegistry,
): Pairing | undefined {
  if (own !== undefined) return PAIRINGS.find(({ model }) => model === own.modelName())
  if (hasModel(configuration)) return pairingNamed(configuration.model.backend)
  return DEFAULT_PAIRING.knowsAny(registry) ? DEFAULT_PAIRING : undefined
}

/** The pairing of a value of `model.backend`; the first one where nothing is configured. */
export function pairingNamed(backend: string | undefined): Pairing | undefined {
  return PAIRINGS.find((pairing) => pairing.backend === backend)
}

/**
 * A run that another model began is not gone on with by one that only stands in where none is configured.
 *
 * @throws ToolwrightError `NO_MODEL`
 */
export function checkModelOf({ id, model }: RunRow, configuration: Configuration, pairing: Pairing | undefined): void {
  if (pairing === undefined || hasModel(configuration) || model === pairing.model) return
  throw new ToolwrightError("NO_MODEL", `The model of the run ${id} was '${model}', and no model is configured.`, {
    hint:
      `Say where it is served, with \`model.baseUrl: http://…\`; \`model.name: …\` takes another one.\n` +
      `${HOW_TO_CONFIGURE}`,
  })
}

/** @throws ToolwrightError `NO_MODEL` for an agent that the pairing cannot be */
export function checkAgent(pairing: Pairing | undefined, profile: AgentProfile): void {
  if (pairing === undefined || pairing.canBe(profile)) return
  throw new ToolwrightError("NO_MODEL", pairing.words.cannotBe(profile), { hint: HOW_TO_CONFIGURE })
}
