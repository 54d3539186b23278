import { SETTINGS } from "@toolwright/runtime/configuration"
import type { OptionDeclarations } from "./options.ts"
import { CONFIGURATION_OPTIONS } from "./settings-options.ts"
import { TASK_LIMITS } from "./tasks/limit-options.ts"
import { optionLines, SCREEN, wrapped } from "./usage.ts"

/** How the sections of the configuration are called where a person looks for an option. */
const TITLES: Readonly<Record<string, string>> = {
  model: "Model",
  agent: "Runs",
  runs: "Runs",
  workspace: "Folders",
  builtins: "Tools",
  tools: "Tools",
  sources: "Tools of other servers",
  mcp: "Tools of other servers",
  permissions: "Permissions and secrets",
  secrets: "Permissions and secrets",
}

/** `toolwright help options`: what many commands have, by what it is about. */
export function optionsHelp(): string {
  const groups = new Map<string, [string, OptionDeclarations[string]][]>([["Configuration", []]])
  for (const [name, option] of Object.entries(CONFIGURATION_OPTIONS)) {
    const key = SETTINGS.find(({ flag }) => flag === name)?.key.split(".")[0]
    const title = key === undefined ? "Configuration" : (TITLES[key] ?? "Other")
    groups.set(title, [...(groups.get(title) ?? []), [name, option]])
  }
  groups.set("Tasks, for 'tasks add'", Object.entries(TASK_LIMITS))
  const intro =
    "Options that many commands have. Most are settings of toolwright.yaml too, and some are variables: see " +
    "'toolwright help settings'. What is true or false takes a value (--native-tools=false) or --no- before it; " +
    "several names may stand in one value (--kits blog,database)."
  const sections = [...groups].flatMap(([title, options]) => ["", `${title}:`, ...optionLines(options)])
  return `${[...wrapped(intro, SCREEN.columns), ...sections].join("\n")}\n`
}

/** `toolwright help settings`: every setting of toolwright.yaml, with its variables and its option. */
export function settingsHelp(): string {
  const lines = SETTINGS.flatMap(({ key, env = [], flag, description }) => {
    const also = [...(flag === undefined ? [] : [`--${flag}`]), ...env].join(", ")
    const head = also === "" ? `  ${key}` : `  ${key}  (${also})`
    return [head, ...wrapped(description, SCREEN.columns - 6).map((line) => `      ${line}`)]
  })
  return `${["Settings of toolwright.yaml, with their options and variables:", "", ...lines].join("\n")}\n`
}
