import { ToolwrightError } from "@toolwright/toolbox"
import { findConfigurationFile, readConfigurationFile } from "./file.ts"
import { SETTINGS, type Configuration, type Setting } from "./settings.ts"
import { readText } from "./value.ts"

/** Where a configuration comes from, in rising order: file, environment, flags. */
export interface ConfigurationInputs {
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  /** Flags by their name without dashes. */
  flags?: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  /** A file in place of the nearest `toolwright.yaml`. */
  file?: string
}

/** The effective configuration, and for each setting the value in force with its source. */
export interface LoadedConfiguration {
  configuration: Configuration
  /**
   * Source by key: `default`, `file PATH`, `environment NAME`, `flag --NAME`. Settings that have no value are left out.
   */
  sources: Map<string, string>
  file: string | undefined
}

/**
 * Loads the configuration.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` with every mistake that was found
 */
export async function loadConfiguration(inputs: ConfigurationInputs): Promise<LoadedConfiguration> {
  const path = inputs.file ?? findConfigurationFile(inputs.cwd)
  const file = path === undefined ? undefined : await readConfigurationFile(path)
  const configuration = {}
  const sources = new Map<string, string>()
  const mistakes: string[] = []
  for (const setting of SETTINGS) {
    const found = valueOf(setting, inputs, file, mistakes)
    if (found === undefined) continue
    put(configuration, setting.key, found.value)
    sources.set(setting.key, found.source)
  }
  if (mistakes.length > 0) throw new ToolwrightError("INVALID_CONFIGURATION", mistakes.join("\n"))
  return { configuration: withSections(configuration), sources, file: path }
}

/** The configuration that nothing was said about, with what a library user gives laid over it. */
export function defaultConfiguration(given: PartialConfiguration = {}): Configuration {
  const configuration = {}
  for (const { key, fallback } of SETTINGS) if (fallback !== undefined) put(configuration, key, fallback)
  for (const { key } of SETTINGS) {
    const value = key
      .split(".")
      .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], given)
    if (value !== undefined) put(configuration, key, value)
  }
  return withSections(configuration)
}

/** A configuration in part, as a library user writes it. */
export type PartialConfiguration = {
  [Section in keyof Configuration]?: Omit<Partial<Configuration[Section]>, "bash"> & {
    bash?: Partial<Configuration["builtins"]["bash"]>
  }
}

/** A secret as it may be shown: its last four characters at most. */
export function mask(secret: string): string {
  return secret.length > 12 ? `••••${secret.slice(-4)}` : "••••"
}

function valueOf(
  setting: Setting,
  { env, flags }: ConfigurationInputs,
  file: { path: string; values: Map<string, unknown> } | undefined,
  mistakes: string[],
): { value: unknown; source: string } | undefined {
  const flag = setting.flag === undefined ? undefined : flags?.[setting.flag]
  if (flag !== undefined) return text(setting, flag, `flag --${setting.flag}`, `--${setting.flag}`, mistakes)
  const variable = setting.env?.find((name) => (env[name] ?? "") !== "")
  if (variable !== undefined) return text(setting, env[variable]!, `environment ${variable}`, variable, mistakes)
  if (file?.values.has(setting.key)) return { value: file.values.get(setting.key), source: `file ${file.path}` }
  return setting.fallback === undefined ? undefined : { value: setting.fallback, source: "default" }
}

function text(
  setting: Setting,
  given: string | boolean | readonly string[],
  source: string,
  name: string,
  mistakes: string[],
) {
  const read = readText(setting, given)
  if ("value" in read) return { value: read.value, source }
  mistakes.push(`${name} ${read.wrong}.`)
  return undefined
}

function put(target: Record<string, unknown>, key: string, value: unknown): void {
  const keys = key.split(".")
  const last = keys.pop()!
  const node = keys.reduce((inner, part) => (inner[part] ??= {}) as Record<string, unknown>, target)
  node[last] = value
}

function withSections(configuration: object): Configuration {
  return {
    model: {},
    agent: {},
    workspace: {},
    builtins: {},
    mcp: {},
    permissions: {},
    runs: {},
    ...configuration,
  } as Configuration
}
