import { nearest, ToolwrightError, type ToolDefinition } from "@toolwright/toolbox"
import { createBuiltinTools, type LogitToolConfig } from "@toolwright/tools"
import type { Workspace } from "@toolwright/host/paths"
import type { Configuration } from "../configuration/settings.ts"
import { toolWorkspace } from "../workspace/tool-workspace.ts"
import { hasModel } from "./configured.ts"
import { commandLimits } from "./command-limits.ts"
import { chosenKits, furtherKits, type KitParts } from "./kits.ts"

/** What the tools take from their surroundings. */
export interface BuiltinToolsOptions {
  /** Where keys and tokens are looked up; the process's own variables unless given. */
  env?: Readonly<Record<string, string | undefined>>
  /** The model of the `logit` tool; the configured one, opened at the first use, unless given. */
  logit?: LogitToolConfig
  /** Writes texts with the model of the runs. */
  generator?: KitParts["generator"]
  /** A workspace made before, of the same configuration. */
  workspace?: Workspace
  /** A tool that is asked for by its name: found in every kit that is installed. */
  wanted?: string
}

/**
 * The built-in tools that a configuration selects, bound to its workspace: the coding tools, and those of the chosen
 * kits.
 *
 * @param cwd the folder that relative roots start from, and the root where none is given
 * @throws ToolwrightError `INVALID_ROOT`, or `INVALID_CONFIGURATION` when a selected tool does not exist, or a kit that
 *   is not installed was chosen
 */
export async function builtinTools(
  configuration: Configuration,
  cwd: string,
  options: BuiltinToolsOptions = {},
): Promise<ToolDefinition[]> {
  const { env, logit = configuredModel(configuration), wanted } = options
  const { builtins } = configuration
  if (!builtins.enabled) return []
  const kits = await chosenKits(builtins, options)
  const workspace = options.workspace ?? toolWorkspace(configuration, cwd, env)
  const make = (): ToolDefinition[] =>
    createBuiltinTools({
      roots: [],
      workspace,
      kits,
      processes: {
        sandbox: builtins.bash.sandbox,
        limits: commandLimits(builtins.limits),
        bash: commandRules(builtins.bash),
      },
      logit,
      ...(env === undefined ? {} : { env }),
      ...(builtins.network === undefined ? {} : { network: builtins.network }),
    })
  let tools = make()
  const asked = [...(builtins.only ?? []), ...(wanted === undefined ? [] : [wanted])]
  if (!asked.every((name) => hasTool(tools, name))) {
    kits.push(...(await furtherKits(builtins, kits, options)))
    tools = make()
  }
  const names = new Set(tools.map(({ name }) => name))
  for (const name of builtins.only ?? []) if (!names.has(name)) throw unknown("builtins.only", name, names)
  if (builtins.without?.some((name) => !names.has(name)) === true) {
    // A tool of a kit that was not chosen is left out as it is; a name that no kit has is a mistake.
    const others = createBuiltinTools({ roots: [], workspace, kits: await furtherKits(builtins, kits) })
    const known = new Set([...names, ...others.map(({ name }) => name)])
    for (const name of builtins.without) if (!known.has(name)) throw unknown("builtins.without", name, known)
  }
  return tools.filter(({ name }) => (builtins.only?.includes(name) ?? true) && !builtins.without?.includes(name))
}

/** Whether a tool, or one of its actions as a tool of its own, has this name. */
function hasTool(tools: readonly ToolDefinition[], name: string): boolean {
  return tools.some((tool) => tool.name === name || (name.startsWith(`${tool.name}_`) && tool.actions !== undefined))
}

/** Models take long to load, so it is not before the tool is called that even the code for it is. */
function configuredModel(configuration: Configuration): LogitToolConfig {
  if (!hasModel(configuration)) return {}
  return { generator: async () => (await import("./backend.ts")).configuredBackend(configuration) }
}

function unknown(key: string, name: string, names: ReadonlySet<string>): ToolwrightError {
  const close = nearest(name, names)[0]
  return new ToolwrightError(
    "INVALID_CONFIGURATION",
    `The setting '${key}' names '${name}', which is no built-in tool.`,
    {
      hint: close === undefined ? `Built-in tools: ${[...names].join(", ")}.` : `Did you mean '${close}'?`,
    },
  )
}

function commandRules({ allow, timeoutSeconds }: Configuration["builtins"]["bash"]) {
  return {
    ...(allow === undefined ? {} : { allow }),
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 }),
  }
}
