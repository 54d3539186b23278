import { accessSync, constants } from "node:fs"
import { delimiter, isAbsolute, join, parse } from "node:path"
import { realOf } from "../look.ts"
import { isInside } from "../paths/roots.ts"

/** The full path of a program on the PATH; undefined when it is not there or cannot be run. */
export function findProgram(name: string, path = process.env.PATH ?? ""): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (folder === "") continue
    const candidate = join(folder, name)
    if (isExecutable(candidate)) return candidate
  }
  return undefined
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * The PATH without folders that others may fill: relative ones, those inside a workspace, and `node_modules/.bin`,
 * which package runners put first. For programs that are started outside a sandbox, the sandbox's own first of all.
 */
export function trustedPath(roots: readonly string[], path = process.env.PATH ?? ""): string {
  const kept: string[] = []
  const resolved = roots.map((root) => realOf(root) ?? root)
  // Whoever works at the very top has every program inside, and none that others put there more than anywhere.
  const filled = resolved.filter((root) => parse(root).root !== root)
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder) || /[\\/]node_modules[\\/]/u.test(folder)) continue
    const real = realOf(folder)
    if (real !== undefined && !filled.some((root) => isInside(root, real))) kept.push(folder)
  }
  return kept.join(delimiter)
}
