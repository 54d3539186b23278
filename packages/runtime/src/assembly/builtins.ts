import { nearest, ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { createBuiltinTools, type BuiltinToolsConfig, type LogitToolConfig } from "@toolwright/tools"
import type { Workspace } from "@toolwright/host/paths"
import type { Configuration } from "../configuration/settings.ts"
import { toolWorkspace } from "../workspace/tool-workspace.ts"

/** What the tools take from their surroundings. */
export interface BuiltinToolsOptions {
  /** Where keys and tokens are looked up; the process's own variables unless given. */
  env?: Readonly<Record<string, string | undefined>>
  /** The model of the `logit` tool; the configured one, opened at the first use, unless given. */
  logit?: LogitToolConfig
  /** A workspace made before, of the same configuration. */
  workspace?: Workspace
}

/**
 * The built-in tools that a configuration selects, bound to its workspace.
 *
 * @param cwd the folder that relative roots start from, and the root where none is given
 * @throws ToolwrightError `INVALID_ROOT`, or `INVALID_CONFIGURATION` when a selected tool does not exist
 */
export function builtinTools(
  configuration: Configuration,
  cwd: string,
  options: BuiltinToolsOptions = {},
): ToolDefinition[] {
  const { env, logit = configuredModel(configuration) } = options
  const { builtins } = configuration
  const tools = createBuiltinTools({
    roots: [],
    workspace: options.workspace ?? toolWorkspace(configuration, cwd, env),
    processes: {
      sandbox: builtins.bash.sandbox,
      bash: builtins.bash.allow === undefined ? {} : { allow: builtins.bash.allow },
    },
    logit,
    ...(env === undefined ? {} : { env }),
    ...settingsOf(builtins),
  })
  const names = tools.map(({ name }) => name)
  for (const key of ["only", "without"] as const) {
    for (const name of builtins[key] ?? []) if (!names.includes(name)) throw unknown(`builtins.${key}`, name, names)
  }
  return tools.filter(({ name }) => (builtins.only?.includes(name) ?? true) && !builtins.without?.includes(name))
}

/** The settings of single groups of tools, in the tools' own words. */
function settingsOf({ network, web, blog, databases }: Configuration["builtins"]): Partial<BuiltinToolsConfig> {
  return {
    ...(network === undefined ? {} : { network }),
    ...(web === undefined ? {} : { web }),
    ...(blog === undefined ? {} : { blog }),
    ...(databases === undefined ? {} : { databases: { databases } }),
  }
}

/** Models take long to load, so it is not before the tool is called that even the code for it is. */
function configuredModel(configuration: Configuration): LogitToolConfig {
  return { generator: async () => (await import("./backend.ts")).configuredBackend(configuration) }
}

function unknown(key: string, name: string, names: readonly string[]): ToolwrightError {
  const close = nearest(name, names)[0]
  return new ToolwrightError(
    "INVALID_CONFIGURATION",
    `The setting '${key}' names '${name}', which is no built-in tool.`,
    {
      hint: close === undefined ? `Built-in tools: ${names.join(", ")}.` : `Did you mean '${close}'?`,
    },
  )
}
