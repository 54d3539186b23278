import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import type { CapabilityProbe } from "@toolwright/toolbox"

/** Probes what the built-in tools may need: `env:NAME` a variable, `bin:NAME` a program on the path. Others are taken to be there. */
export function systemProbe(env: Readonly<Record<string, string | undefined>>): CapabilityProbe {
  return (capability) => {
    const [kind, name = ""] = capability.split(":", 2)
    if (kind === "env") {
      return (env[name] ?? "") === "" ? { available: false, detail: `set ${name}` } : { available: true }
    }
    if (kind === "bin") {
      return onPath(name, env.PATH ?? "") ? { available: true } : { available: false, detail: `install ${name}` }
    }
    return { available: true }
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
