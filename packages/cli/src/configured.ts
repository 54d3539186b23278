import { lstatSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Invocation } from "./command.ts"

/**
 * Whether anything may configure a command beside its flags: one of these variables, or a file in its folder or above.
 * What knows how to do without is much quicker where not.
 */
export function isConfigured({ cwd, env }: Pick<Invocation, "cwd" | "env">, variables: readonly string[]): boolean {
  if (variables.some((name) => (env[name] ?? "") !== "")) return true
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (lstatSync(join(folder, "toolwright.yaml"), { throwIfNoEntry: false }) !== undefined) return true
    if (dirname(folder) === folder) return false
  }
}
