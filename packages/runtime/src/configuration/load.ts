import { dirname } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox/errors"
import { addressFor } from "./address.ts"
import { findConfigurationFile, readConfigurationFile } from "./file.ts"
import { keyFor } from "./key.ts"
import type { Setting } from "./setting.ts"
import { SETTINGS, type Configuration } from "./settings.ts"
import { holdToFilesAbove } from "./trust/above.ts"
import { trustedPartOf, type TrustedPart, type TrustOptions, type TrustState } from "./trust/decide.ts"
import { trustStore } from "./trust/store.ts"
import type { WaitingSetting } from "./trust/waiting.ts"
import { readText } from "./value.ts"

/** Where a configuration comes from, in rising order: file, environment, flags. */
export interface ConfigurationInputs {
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  /** Flags by their name without dashes. */
  flags?: Readonly<Record<string, string | boolean | readonly string[] | undefined>>
  /** A file in place of the nearest `toolwright.yaml`. Whoever names it trusts it. */
  file?: string
  /** Whether the file that is found is trusted, whatever it says; `TOOLWRIGHT_TRUST=1` says so too. */
  trust?: boolean
  /** Asks a person whether a file that would do more than narrow is trusted; without it such settings are left out. */
  ask?: TrustOptions["ask"]
}

/** The effective configuration, and for each setting the value in force with its source. */
export interface LoadedConfiguration {
  configuration: Configuration
  /**
   * Source by key: `default`, `file PATH`, `environment NAME`, `flag --NAME`. Settings that have no value are left out.
   */
  sources: Map<string, string>
  file: string | undefined
  /** How the file stands; undefined where there is none. */
  trust: TrustState | undefined
  /** Settings of the file that take no effect until it is trusted. */
  waiting: readonly WaitingSetting[]
  /** They wait only since the file, or one that it names, is not what it was when it was trusted. */
  changed?: true
  /** What the user should know: a line each. */
  notices: readonly string[]
}

/**
 * Loads the configuration. What a file that was found may do to the user takes effect only once they trust it.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` with every mistake that was found
 */
export async function loadConfiguration(inputs: ConfigurationInputs): Promise<LoadedConfiguration> {
  const notices: string[] = []
  const path =
    inputs.file ??
    findConfigurationFile(
      inputs.cwd,
      (passed, reason) => notices.push(`${passed} is not read: ${reason}.`),
      (found) => trustsAll(inputs) || trustStore(inputs.env).knows(found),
    )
  const part = path === undefined ? undefined : await readTrusted(path, inputs)
  const file = path === undefined || part === undefined ? undefined : { path, values: part.values }
  const configuration = {}
  const sources = new Map<string, string>()
  const found = everyValue(inputs, file)
  startWhereTrusted(found, file?.path)
  if (path !== undefined && !["named", "trusted"].includes(part!.state)) await holdToFilesAbove(found, path, inputs.cwd)

  const withheld = addressAndKey(found, file, inputs.env)
  if (withheld !== undefined) notices.push(withheld)

  for (const { key: name } of SETTINGS) {
    const value = found.get(name)
    if (value === undefined) continue
    put(configuration, name, value.value)
    sources.set(name, value.source)
  }
  const { state: trust, waiting = [], changed } = part ?? {}
  const since = changed === undefined ? {} : { changed }
  return { configuration: withSections(configuration), sources, file: path, trust, waiting, ...since, notices }
}

/** What flags, variables, the file and the defaults say of every setting, the first of them that says something. */
function everyValue(
  inputs: ConfigurationInputs,
  file: { path: string; values: ReadonlyMap<string, unknown> } | undefined,
): Map<string, { value: unknown; source: string }> {
  const mistakes: string[] = []
  const found = new Map<string, { value: unknown; source: string }>()
  for (const setting of SETTINGS) {
    const value = valueOf(setting, inputs, file, mistakes)
    if (value !== undefined) found.set(setting.key, value)
  }
  if (mistakes.length > 0) throw new ToolwrightError("INVALID_CONFIGURATION", mistakes.join("\n"))
  return found
}

/**
 * Settles the address of the model's server, and the key that goes there.
 *
 * @returns why a key that is there is not sent
 */
function addressAndKey(
  found: Map<string, { value: unknown; source: string }>,
  file: { path: string; values: ReadonlyMap<string, unknown> } | undefined,
  env: ConfigurationInputs["env"],
): string | undefined {
  const address = addressFor(found.get("model.backend")?.value, found.get("model.baseUrl"), env)
  if (address !== undefined) found.set("model.baseUrl", address)
  const key = SETTINGS.find((setting) => setting.key === "model.apiKey")!
  const chosen = keyFor(key, { env, address, file, variable: found.get("model.apiKeyEnv") })
  if (chosen.key === undefined) found.delete(key.key)
  else found.set(key.key, chosen.key)
  return chosen.withheld
}

/**
 * Servers that a file names start in its folder, whichever folder below it a command is started in: a relative path
 * would otherwise start what lies in a folder that nobody trusted.
 */
function startWhereTrusted(found: Map<string, { value: unknown; source: string }>, path: string | undefined): void {
  if (path === undefined || found.has("mcp.folder")) return
  const source = `file ${path}`
  if (["mcp.connect", "mcp.file"].some((key) => found.get(key)?.source === source))
    found.set("mcp.folder", { value: dirname(path), source })
}

/** Reads a file, and leaves out what waits for trust. */
async function readTrusted(path: string, inputs: ConfigurationInputs): Promise<TrustedPart> {
  const { cwd, env, flags, ask } = inputs
  const named = inputs.file !== undefined
  // A key is chosen by the address, see `keyFor`: one in a variable does not always come before a file's.
  const decided = SETTINGS.filter((setting) => setting.key !== "model.apiKey" && isGiven(setting, { env, flags }))
  const groups = new Set(decided.flatMap(({ group = [] }) => group))
  const overruled = SETTINGS.filter(
    (setting) => decided.includes(setting) || (setting.group !== undefined && groups.has(setting.group)),
  ).map(({ key }) => key)
  const { values, ...part } = await trustedPartOf(await readConfigurationFile(path, named), {
    cwd,
    env,
    named,
    trustAll: trustsAll(inputs),
    overruled: new Set(overruled),
    ...(ask === undefined ? {} : { ask }),
  })
  return {
    ...part,
    values: new Map([...values].filter(([key]) => !overruled.includes(key) || key === "model.baseUrl")),
  }
}

function trustsAll({ trust, env }: Pick<ConfigurationInputs, "trust" | "env">): boolean {
  return trust === true || /^(1|true|yes|on)$/i.test(env.TOOLWRIGHT_TRUST ?? "")
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
  [Section in keyof Omit<Configuration, "tools">]?: Omit<Partial<Configuration[Section]>, "bash"> & {
    bash?: Partial<Configuration["builtins"]["bash"]>
  }
} & Pick<Configuration, "tools">

function isGiven(setting: Setting, { env, flags }: Pick<ConfigurationInputs, "env" | "flags">): boolean {
  if (setting.flag !== undefined && flags?.[setting.flag] !== undefined) return true
  return setting.env?.some((name) => (env[name] ?? "") !== "") === true
}

function valueOf(
  setting: Setting,
  { env, flags }: ConfigurationInputs,
  file: { path: string; values: ReadonlyMap<string, unknown> } | undefined,
  mistakes: string[],
): { value: unknown; source: string } | undefined {
  const flag = setting.flag === undefined ? undefined : flags?.[setting.flag]
  if (flag !== undefined) return text(setting, flag, `flag --${setting.flag}`, `--${setting.flag}`, mistakes)
  const variable = setting.env?.find((name) => (env[name] ?? "") !== "")
  if (variable !== undefined) return text(setting, env[variable]!, `environment ${variable}`, variable, mistakes)
  if (file?.values.has(setting.key) === true)
    return { value: file.values.get(setting.key), source: `file ${file.path}` }
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
  const sections = Object.fromEntries(
    SETTINGS.flatMap(({ key }) => (key.includes(".") ? [[key.split(".")[0]!, {}]] : [])),
  )
  return { ...sections, ...configuration } as Configuration
}
