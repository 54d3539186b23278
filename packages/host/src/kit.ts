import type { ToolDefinition } from "@toolwright/toolbox"
import type { ArtifactStore } from "./artifacts.ts"
import type { NetworkHost } from "./net/network-host.ts"
import type { Workspace } from "./paths/workspace.ts"

/** What tools stand on: the folders and hosts that they may touch, and what runs have made so far. */
export interface Ground {
  readonly workspace: Workspace
  readonly network: NetworkHost
  readonly artifacts: ArtifactStore
  /** Where addresses, keys and tokens are looked up; `process.env` unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/**
 * Tools that are installed together, in one package. To make them loads no heavy library and touches nothing; what they
 * need is loaded when one of them is called.
 */
export interface ToolKit {
  /** The name by which a configuration chooses it. */
  readonly name: string
  tools(ground: Ground): readonly ToolDefinition[]
}
