import { resolve } from "node:path"
import {
  loadConfiguration,
  SETTINGS,
  type ConfigurationInputs,
  type LoadedConfiguration,
} from "@toolwright/runtime/configuration"
import type { Invocation } from "./command.ts"
import type { OptionDeclaration, OptionDeclarations } from "./options.ts"
import { neutralise } from "./render/neutralise.ts"
import { askForTrust, trustNotice } from "./trust.ts"

const VALUE_NAMES: Readonly<Record<string, string>> = {
  model: "name",
  "base-url": "url",
  "model-path": "file",
  "model-template": "file",
  "format-file": "file",
  screenplay: "file",
  root: "dir",
  "read-only": "dir",
  database: "url|file",
  tools: "place",
  agents: "place",
  kits: "name",
  rest: "url",
  "only-tools": "name",
  "without-tools": "name",
  "deny-tool": "pattern",
  "allow-tool": "pattern",
  "tool-timeout": "seconds",
}

/** As the same is called in other commands. */
const ALSO: Readonly<Record<string, string>> = { "model-template": "template" }

/** The flags of the configuration's settings, so that a new setting is a new flag by itself. */
export const SETTING_OPTIONS: OptionDeclarations = Object.fromEntries(
  SETTINGS.filter((setting) => setting.flag !== undefined).map((setting): [string, OptionDeclaration] => {
    const allowed = setting.values === undefined ? "" : `: ${setting.values.join(", ")}`
    return [
      setting.flag!,
      {
        type: setting.type === "boolean" ? "boolean" : "string",
        description: `${setting.description}${allowed}`,
        value: VALUE_NAMES[setting.flag!] ?? (setting.type === "integer" || setting.type === "number" ? "n" : "value"),
        ...(setting.type === "string-list" ? { multiple: true } : {}),
        ...(ALSO[setting.flag!] === undefined ? {} : { also: ALSO[setting.flag!]! }),
        common: true,
      },
    ]
  }),
)

const FILE_OPTIONS = {
  config: {
    type: "string",
    value: "file",
    description: "Configuration file, in place of the nearest toolwright.yaml",
    common: true,
  },
  trust: {
    type: "boolean",
    description: "Trust the toolwright.yaml that is found, for this command, see 'toolwright help trust'",
    common: true,
  },
} as const satisfies OptionDeclarations

/** The file that configures, and the flags of all settings. */
export const CONFIGURATION_OPTIONS = {
  ...FILE_OPTIONS,
  ...SETTING_OPTIONS,
} as const satisfies OptionDeclarations

/** The flags that say which tools there are and what they may touch, for commands that use no model. */
export const WORKSPACE_OPTIONS = {
  ...FILE_OPTIONS,
  root: SETTING_OPTIONS.root!,
  "read-only": SETTING_OPTIONS["read-only"]!,
  kits: SETTING_OPTIONS.kits!,
  builtins: SETTING_OPTIONS.builtins!,
  "only-tools": SETTING_OPTIONS["only-tools"]!,
  "without-tools": SETTING_OPTIONS["without-tools"]!,
  tools: SETTING_OPTIONS.tools!,
  agents: SETTING_OPTIONS.agents!,
  rest: SETTING_OPTIONS.rest!,
  "mcp-server": SETTING_OPTIONS["mcp-server"]!,
  "mcp-config": SETTING_OPTIONS["mcp-config"]!,
  "show-secret": SETTING_OPTIONS["show-secret"]!,
  database: SETTING_OPTIONS.database!,
} as const satisfies OptionDeclarations

/** How {@link configurationFor} speaks with the person. */
export interface ConfigurationDialogue {
  /** Whether they may be asked; they are wherever standard input and output are a terminal, unless this is false. */
  ask?: boolean
}

/**
 * The configuration in force for a command. Whoever sits at a terminal is asked about a file that they have not
 * trusted; otherwise a line says what of it is left out.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION`
 */
export async function configurationFor(
  invocation: Invocation,
  values: Readonly<Record<string, unknown>>,
  { ask = true }: ConfigurationDialogue = {},
): Promise<LoadedConfiguration> {
  const { isTTY, stderr } = invocation
  const loaded = await loadConfiguration({
    ...configurationInputs(invocation, values),
    ...(ask && isTTY.stdin && isTTY.stdout ? { ask: askForTrust(invocation) } : {}),
  })
  for (const line of loaded.notices) stderr.write(`${neutralise(line)}\n`)
  const notice = trustNotice(loaded)
  if (notice !== undefined) stderr.write(`${notice}\n`)
  return loaded
}

/** What was given on the command line, as a configuration is loaded by it. */
export function configurationInputs(
  { cwd, env }: Invocation,
  values: Readonly<Record<string, unknown>>,
): ConfigurationInputs {
  const flags = Object.fromEntries(
    Object.keys(SETTING_OPTIONS)
      .filter((name) => values[name] !== undefined)
      .map((name) => [
        name,
        FILE_FLAGS.has(name) ? resolve(cwd, values[name] as string) : (values[name] as string | boolean | string[]),
      ]),
  )
  const file = values.config as string | undefined
  return {
    cwd,
    env,
    flags,
    ...(file === undefined ? {} : { file: resolve(cwd, file) }),
    ...(values.trust === true ? { trust: true } : {}),
  }
}

/** Flags that name a file, from where the command was started. */
export const FILE_FLAGS: ReadonlySet<string> = new Set(["screenplay", "model-path", "model-template"])
