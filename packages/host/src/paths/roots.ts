import { realpathSync, statSync } from "node:fs"
import { relative, resolve, sep } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"

export type RootAccess = "read-only" | "read-write"

/** A directory that tools may touch. `path` is the host's path where a mapping is in use. */
export interface RootConfig {
  path: string
  /** `read-only` unless given. */
  access?: RootAccess
}

/** A root as it lies on this machine. */
export interface Root {
  /** As configured and as shown to users. */
  readonly path: string
  /** The configured path on this machine, before symbolic links are resolved. */
  readonly local: string
  /** The same with symbolic links resolved; every check is made against this one. */
  readonly real: string
  readonly access: RootAccess
}

/** Whether `path` is `directory` or lies below it. Both absolute and normalised; `/ws-evil` is not inside `/ws`. */
export function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}

const NONE: readonly string[] = []

/** The names that lead from a root to a path inside it. */
export function componentsBelow(root: Root, path: string): readonly string[] {
  const below = relative(root.real, path)
  return below === "" ? NONE : below.split(sep)
}

/**
 * @param config the directories, the first of which relative paths are resolved against
 * @param toLocal host path to path on this machine
 * @throws ToolwrightError `INVALID_ROOT` when there is none, or one is missing or no directory
 */
export function resolveRoots(config: readonly RootConfig[], toLocal: (path: string) => string): Root[] {
  if (config.length === 0) {
    throw new ToolwrightError("INVALID_ROOT", "File tools need at least one allowed directory.", {
      hint: 'Pass roots: [{ path: "/my/project", access: "read-write" }].',
    })
  }
  return config.map(({ path, access = "read-only" }) => {
    const local = resolve(toLocal(path))
    return { path: toLocal(path) === path ? local : resolve(path), local, real: realDirectory(local), access }
  })
}

function realDirectory(path: string): string {
  let problem = "is not a directory"
  try {
    const real = realpathSync(path)
    if (statSync(real).isDirectory()) return real
  } catch {
    problem = "does not exist or cannot be read"
  }
  throw new ToolwrightError("INVALID_ROOT", `The allowed directory ${path} ${problem}.`)
}
