import { resolve } from "node:path"
import { loadConfiguration, SETTINGS, type LoadedConfiguration } from "@toolwright/runtime/configuration"
import type { Invocation } from "./command.ts"
import type { OptionDeclaration, OptionDeclarations } from "./options.ts"

const VALUE_NAMES: Readonly<Record<string, string>> = {
  model: "name",
  "base-url": "url",
  "model-path": "file",
  screenplay: "file",
  root: "dir",
  "read-only": "dir",
  runs: "dir",
  "only-tools": "name",
  "without-tools": "name",
  "deny-tool": "pattern",
  "allow-tool": "pattern",
  "tool-timeout": "seconds",
}

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
      },
    ]
  }),
)

/** The file that configures, and the flags of all settings. */
export const CONFIGURATION_OPTIONS = {
  config: { type: "string", value: "file", description: "Configuration file, in place of the nearest toolwright.yaml" },
  ...SETTING_OPTIONS,
} as const satisfies OptionDeclarations

/** The flags that say which tools there are and what they may touch, for commands that use no model. */
export const WORKSPACE_OPTIONS = {
  config: CONFIGURATION_OPTIONS.config,
  root: SETTING_OPTIONS.root!,
  "read-only": SETTING_OPTIONS["read-only"]!,
  "only-tools": SETTING_OPTIONS["only-tools"]!,
  "without-tools": SETTING_OPTIONS["without-tools"]!,
  "mcp-server": SETTING_OPTIONS["mcp-server"]!,
  "mcp-config": SETTING_OPTIONS["mcp-config"]!,
} as const satisfies OptionDeclarations

/**
 * The configuration in force for a command.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION`
 */
export function configurationFor(
  invocation: Invocation,
  values: Readonly<Record<string, unknown>>,
): Promise<LoadedConfiguration> {
  const flags = Object.fromEntries(
    Object.keys(SETTING_OPTIONS)
      .filter((name) => values[name] !== undefined)
      .map((name) => [
        name,
        FILES.has(name)
          ? resolve(invocation.cwd, values[name] as string)
          : (values[name] as string | boolean | string[]),
      ]),
  )
  const file = values.config as string | undefined
  return loadConfiguration({
    cwd: invocation.cwd,
    env: invocation.env,
    flags,
    ...(file === undefined ? {} : { file: resolve(invocation.cwd, file) }),
  })
}

/** Flags that name a file, from where the command was started. */
const FILES: ReadonlySet<string> = new Set(["screenplay", "model-path"])
