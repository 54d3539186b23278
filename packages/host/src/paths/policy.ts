import { isAbsolute, relative, resolve, sep } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { compileDenyList, DEFAULT_DENY_READ, DEFAULT_DENY_WRITE } from "./deny-list.ts"
import { createTranslator, type PathMapping } from "./mapping.ts"
import { invalidPath, outsideRoots, printable } from "./path-errors.ts"
import { isInside, resolveRoots, type Root, type RootConfig } from "./roots.ts"

export type Access = "read" | "write"

/** What the path rules are made from. */
export interface PathPolicyConfig {
  /** Allowed directories; relative paths are resolved against the first. */
  roots: readonly RootConfig[]
  /** Name patterns whose content tools never read nor write; replaces {@link DEFAULT_DENY_READ}. */
  denyRead?: readonly string[]
  /**
   * Name patterns that tools never write; replaces {@link DEFAULT_DENY_WRITE}. What is denied to readers is denied to
   * writers too.
   */
  denyWrite?: readonly string[]
  /** Host directories and where they are mounted here; users see host paths only. */
  mapping?: readonly PathMapping[]
}

/** A path that passed the lexical rules. */
export interface Located {
  readonly root: Root
  /** Absolute path on this machine. Symbolic links in it are not resolved yet. */
  readonly path: string
  /** The path as users know it. */
  readonly shown: string
  /** As it was asked for, for messages. */
  readonly asked: string
}

export interface PathPolicy {
  readonly roots: readonly Root[]
  /**
   * Applies the rules that need no look at the disk: characters, roots, deny lists, access of the root.
   * @throws ToolwrightError `INVALID_PATH`, `ACCESS_DENIED`, `READ_ONLY`
   */
  locate(asked: string, access: Access): Located
  /** Applies the rules again to the real path of something that was opened. Same errors; they name `asked`. */
  admit(real: string, access: Access, asked: string): Located
  /** Whether a real path may be read; for walkers, which skip what they must not see. */
  readable(real: string): boolean
  /** Whether what has this name is a secret, wherever it lies. */
  hides(name: string): boolean
  /** A path on this machine as users know it. */
  show(path: string): string
}

/** Kernel file systems hold the process's own memory, environment and devices: never files of a workspace. */
const KERNEL = ["/proc", "/sys", "/dev"]
const LONGEST_PATH_BYTES = 4096
const NONE: readonly string[] = []

/**
 * @param hidden further directories that may be read but are never listed as roots; may grow later
 * @throws ToolwrightError `INVALID_ROOT`
 */
export function createPathPolicy(config: PathPolicyConfig, hidden: readonly Root[] = []): PathPolicy {
  const translator = createTranslator(config.mapping)
  const roots = resolveRoots(config.roots, translator.toLocal)
  const secret = compileDenyList(config.denyRead ?? DEFAULT_DENY_READ)
  const fixed = compileDenyList(config.denyWrite ?? DEFAULT_DENY_WRITE)

  const rootOf = (path: string): Root | undefined =>
    [...roots, ...hidden]
      .filter((root) => isInside(root.real, path))
      .reduce<Root | undefined>(
        (best, root) => (best !== undefined && best.real.length >= root.real.length ? best : root),
        undefined,
      )

  const show = (path: string): string => {
    const root = rootOf(path)
    if (root === undefined) return translator.toHost(path)
    const rest = relative(root.real, path)
    return rest === "" ? root.path : (root.path.endsWith(sep) ? root.path : root.path + sep) + rest
  }

  const check = (path: string, access: Access, asked: string): Located => {
    const root = rootOf(path)
    if (root === undefined || KERNEL.some((directory) => isInside(directory, path))) throw outsideRoots(asked, roots)
    const components = componentsBelow(root, path)
    const pattern = secret(components) ?? (access === "write" ? fixed(components) : undefined)
    if (pattern !== undefined) throw denied(asked, pattern, access)
    if (access === "write" && root.access !== "read-write") throw readOnly(asked, roots)
    return { root, path, shown: show(path), asked }
  }

  return {
    roots,
    show,
    admit: check,
    readable(real) {
      const root = rootOf(real)
      return root !== undefined && secret(componentsBelow(root, real)) === undefined
    },
    hides: (name) => secret([name]) !== undefined,
    locate(asked, access) {
      assertSpelling(asked, roots)
      const local = translator.toLocal(asked)
      const path = isAbsolute(local) ? resolve(local) : resolve(roots[0]!.real, local)
      const alias = rootOf(path) === undefined ? roots.find((root) => isInside(root.local, path)) : undefined
      return check(alias === undefined ? path : resolve(alias.real, relative(alias.local, path)), access, asked)
    },
  }
}

function componentsBelow(root: Root, path: string): readonly string[] {
  const below = relative(root.real, path)
  return below === "" ? NONE : below.split(sep)
}

function assertSpelling(asked: string, roots: readonly Root[]): void {
  if (typeof asked !== "string" || asked === "") throw invalidPath(String(asked ?? ""), "the path is empty")
  if (asked.includes("\0")) throw invalidPath(asked, "it contains a null byte")
  if (/[\u0000-\u001f\u007f]/u.test(asked)) throw invalidPath(asked, "it contains control characters")
  if (Buffer.byteLength(asked) > LONGEST_PATH_BYTES)
    throw invalidPath(asked, `it is longer than ${LONGEST_PATH_BYTES} bytes`)
  if (/^~($|[\\/])/u.test(asked)) throw outsideRoots(asked, roots)
}

function denied(asked: string, pattern: string, access: Access): ToolwrightError {
  return new ToolwrightError(
    "ACCESS_DENIED",
    `Access denied: ${printable(asked)} is protected (it matches "${pattern}")`,
    {
      hint:
        access === "read"
          ? "Tools never read this; ask the user for what you need from it."
          : "Tools never change this.",
    },
  )
}

function readOnly(asked: string, roots: readonly Root[]): ToolwrightError {
  const writable = roots.filter((root) => root.access === "read-write").map((root) => root.path)
  return new ToolwrightError("READ_ONLY", `Permission denied: ${printable(asked)} is in a read-only directory`, {
    hint:
      writable.length === 0
        ? "No directory is open for writing."
        : `Directories open for writing: ${writable.join(", ")}.`,
  })
}
