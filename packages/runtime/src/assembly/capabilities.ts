import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import type { CapabilityProbe } from "@toolwright/toolbox"

/**
 * Probes what tools may need: `env:NAME` is a variable, `config:KEY` a setting that was not given, any other name a
 * program on the path.
 */
export function systemProbe(env: Readonly<Record<string, string | undefined>>): CapabilityProbe {
  return (capability) => {
    if (capability.startsWith("env:")) {
      const name = capability.slice("env:".length)
      return (env[name] ?? "") === "" ? { available: false, detail: `set ${name}` } : { available: true }
    }
    if (capability.startsWith("config:"))
      return { available: false, detail: `set ${capability.slice("config:".length)} in toolwright.yaml` }
    return onPath(capability, env.PATH ?? "")
      ? { available: true }
      : { available: false, detail: `install ${capability}` }
  }
}

function onPath(program: string, path: string): boolean {
  const endings = process.platform === "win32" ? [".exe", ".cmd", ""] : [""]
  return path.split(delimiter).some((folder) => endings.some((ending) => isExecutable(join(folder, program + ending))))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
