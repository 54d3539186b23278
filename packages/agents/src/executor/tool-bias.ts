import { toolBias } from "@toolwright/logits"
import { rulingFor } from "@toolwright/toolbox"
import type { Ledger } from "../gate/ledger.ts"
import type { Catalogue } from "./catalogue.ts"
import type { ExecutorOptions } from "./options.ts"

/** What of a run decides which tools are likelier. */
interface Weighed {
  readonly options: ExecutorOptions
  readonly ledger: Ledger
  readonly catalogue: Catalogue
}

/**
 * How much likelier each tool on offer is to be called next: more where all that it consumes is there, less with each
 * call beyond the second, least where the rules refuse it. What stands in the prompt stays as it is.
 */
export function biasOf({ options, ledger, catalogue }: Weighed): ReadonlyMap<string, number> | undefined {
  if (options.toolBias !== true) return undefined
  const tools = catalogue.callable
  const refused = tools.filter((tool) => rulingFor(options.permissions, tool, {}).permission === "deny")
  return toolBias(tools, {
    available: ledger.artifacts,
    calls: ledger.callsByTool,
    blocked: refused.map(({ name }) => name),
  })
}
