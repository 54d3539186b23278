import type { Backend } from "@toolwright/backends"
import type { ToolDefinition, ToolRegistry } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import type { Configuration } from "../configuration/settings.ts"
import { attachOwnTools, hosting } from "../own-tools/attach.ts"
import { toolWorkspace } from "../workspace/tool-workspace.ts"
import { builtinTools } from "./builtins.ts"
import { textGenerator } from "./text-generator.ts"
import { registered } from "./registered.ts"
import { connectServices } from "./services.ts"
import { connectSources } from "./sources.ts"

/** All tools that a configuration gives: the built-in ones, an application's own, and those of its sources. */
export interface AssembledTools {
  readonly registry: ToolRegistry
  /** Tools that cannot run here, and sources that are not there. */
  readonly unavailable: readonly { name: string; reason: string }[]
  /** Ends the connections to sources. */
  close(): Promise<void>
}

/** What {@link assembleTools} takes from its surroundings. */
export interface AssembleToolsOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly withBuiltins: boolean
  /** Tools of the application. */
  readonly own: readonly ToolDefinition[]
  /** The model that tools may ask, opened when they do; undefined where there is none. */
  readonly model: (() => Promise<Backend>) | undefined
  log(line: string): void
}

/** @throws ToolwrightError `DUPLICATE_TOOL`, `INVALID_TOOL`, `SOURCE_UNAVAILABLE`, `INVALID_CONFIGURATION` */
export async function assembleTools(
  configuration: Configuration,
  { cwd, env, withBuiltins, own, model, log }: AssembleToolsOptions,
): Promise<AssembledTools> {
  const generator = model === undefined ? undefined : textGenerator(model)
  const logit = { ...(model === undefined ? {} : { generator: model }), tools: () => registry.list() }
  let made: Workspace | undefined
  const workspace = (): Workspace => (made ??= toolWorkspace(configuration, cwd, env))
  const present = hosting(configuration, { env, workspace, recorded: withBuiltins, log })
  const builtins = withBuiltins
    ? await builtinTools(configuration, cwd, {
        env,
        logit,
        workspace: workspace(),
        ...(generator === undefined ? {} : { generator }),
      })
    : []
  const { registry, unavailable } = await registered([...builtins, ...own.map(present)], env)
  const files = await attachOwnTools(configuration.tools ?? [], registry, { cwd, env, present, log })
  const open: { close(): Promise<void> }[] = [files]
  const opened = async <Source extends { close(): Promise<void> }>(connecting: Promise<Source>): Promise<Source> => {
    try {
      const source = await connecting
      open.push(source)
      return source
    } catch (thrown) {
      for (const each of open) await each.close()
      throw thrown
    }
  }
  const services = await opened(connectServices(configuration, registry, { cwd, env, log }))
  const sources = await opened(connectSources(configuration, registry, { cwd, env, log }))
  return {
    registry,
    get unavailable() {
      return [...unavailable, ...files.unavailable(), ...services.away(), ...sources.missing]
    },
    async close() {
      for (const each of open) await each.close()
    },
  }
}
