import type { ToolDefinition } from "@toolwright/toolbox"
import { createArtifactStore, rememberResearch, type ArtifactStore, type Ground, type ToolKit } from "@toolwright/host"
import { createNetworkHost, type NetworkPolicy } from "@toolwright/host/net"
import { createWorkspace, type Workspace, type WorkspaceConfig } from "@toolwright/host/paths"
import { recordedTool } from "@toolwright/host/undo"
import { codingKit, type CodingKitConfig } from "./coding-kit.ts"
import { withFormerNames } from "./compat/former-names.ts"

/**
 * What the built-in tools are made from: the directories they may touch, the settings of the coding tools, and the kits
 * that are wanted beside them.
 */
export interface BuiltinToolsConfig extends WorkspaceConfig, CodingKitConfig {
  /** A workspace made before; the other path settings are then not used. */
  workspace?: Workspace
  /** What tools may reach over the network. */
  network?: NetworkPolicy
  /** Where keys and tokens are looked up; `process.env` unless given. */
  env?: Readonly<Record<string, string | undefined>>
  /** Kits beside the coding tools: `webKit()` of `@toolwright/tools-web` and others, also your own. */
  kits?: readonly ToolKit[]
  /** What runs have made so far; a store in memory unless given. */
  artifacts?: ArtifactStore
}

/**
 * Makes the coding tools and those of the given kits, bound to one workspace. An explicit list: importing this
 * registers nothing and loads no heavy library.
 *
 * @param config at least `roots`; roots are read-only unless they say `read-write`
 * @throws ToolwrightError `INVALID_ROOT`
 * @example
 * const tools = createBuiltinTools({ roots: [{ path: process.cwd(), access: "read-write" }] })
 */
export function createBuiltinTools(config: BuiltinToolsConfig): ToolDefinition[] {
  const ground: Ground = {
    workspace: config.workspace ?? createWorkspace(config),
    network: createNetworkHost(config.network, config.env),
    artifacts: config.artifacts ?? createArtifactStore(),
    ...(config.env === undefined ? {} : { env: config.env }),
  }
  return [codingKit(config), ...(config.kits ?? [])]
    .flatMap((kit) => kit.tools(ground))
    .map((tool) => recordedTool(rememberResearch(withFormerNames(tool), ground.artifacts), ground.workspace))
}
