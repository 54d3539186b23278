import { access, constants, realpath } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { isInside } from "../paths/roots.ts"

/** The full path of a program on the PATH; undefined when it is not there or cannot be run. */
export async function findProgram(name: string, path = process.env.PATH ?? ""): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (folder === "") continue
    const candidate = join(folder, name)
    const runs = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (runs) return candidate
  }
  return undefined
}

/**
 * The PATH without folders that others may fill: relative ones, those inside a workspace, and `node_modules/.bin`,
 * which package runners put first. For programs that are started outside a sandbox, the sandbox's own first of all.
 */
export async function trustedPath(roots: readonly string[], path = process.env.PATH ?? ""): Promise<string> {
  const kept: string[] = []
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder) || /[\\/]node_modules[\\/]/u.test(folder)) continue
    const real = await realpath(folder).catch(() => undefined)
    if (real !== undefined && !roots.some((root) => isInside(root, real))) kept.push(folder)
  }
  return kept.join(delimiter)
}
