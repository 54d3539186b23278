import { createNetworkHost } from "@toolwright/host/net"
import { createToolHost, hostedTool } from "@toolwright/host/own"
import type { Workspace } from "@toolwright/host/paths"
import {
  attachSource,
  messageOf,
  type AttachedSource,
  type ToolDefinition,
  type ToolRegistry,
} from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { unavailableOf } from "../assembly/registered.ts"
import { placeOfTools } from "./entries.ts"
import { ownToolsSource } from "./source.ts"

/** What the tools of a user are made with. */
export interface OwnToolsHost {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The workspace of the built-in tools, made where it is needed. */
  workspace(): Workspace
  /** Whether what they change is kept, so that it can be taken back. */
  readonly recorded: boolean
  log(line: string): void
}

/** Gives tools of a user what built-in ones have. */
export function hosting(
  { builtins }: Configuration,
  { env, workspace, recorded, log }: OwnToolsHost,
): (tool: ToolDefinition) => ToolDefinition {
  const { allow: _allow, ...processes } = builtins.bash
  let made: ReturnType<typeof make> | undefined
  const make = () => {
    const place = workspace()
    const callHost = createToolHost({
      workspace: place,
      network: createNetworkHost(builtins.network, env),
      processes,
      log,
    })
    return { callHost, ...(recorded ? { recordedIn: place } : {}) }
  }
  return (tool) => hostedTool(tool, () => (made ??= make()))
}

/** Tools of files, folders and packages that stand in a registry. */
export interface OwnTools {
  /** Those that cannot run here, as they were last loaded. */
  unavailable(): readonly { name: string; reason: string }[]
  close(): Promise<void>
}

/** What {@link attachOwnTools} takes from its surroundings. */
export interface AttachOwnToolsOptions extends Pick<OwnToolsHost, "env" | "log"> {
  readonly cwd: string
  present(tool: ToolDefinition): ToolDefinition
}

/**
 * Registers the tools of files, folders and packages, and keeps them as these are.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION`, `DUPLICATE_TOOL`
 */
export async function attachOwnTools(
  entries: readonly string[],
  registry: ToolRegistry,
  { cwd, env, present, log }: AttachOwnToolsOptions,
): Promise<OwnTools> {
  const attached: AttachedSource[] = []
  const missing = new Map<string, readonly { name: string; reason: string }[]>()
  const close = async (): Promise<void> => {
    for (const source of attached) await source.close()
  }
  try {
    for (const entry of entries) {
      const path = placeOfTools(entry, cwd)
      const loaded = async (tools: readonly ToolDefinition[]): Promise<void> =>
        void missing.set(path, await unavailableOf(tools, env))
      const source = ownToolsSource(path, { present, loaded, log })
      attached.push(await attachSource(registry, source, {}, (thrown) => log(messageOf(thrown))))
    }
    return { unavailable: () => [...missing.values()].flat(), close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}
