import { isAbsolute, relative, resolve, sep } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { DEFAULT_DENY_READ, DEFAULT_DENY_WRITE } from "./deny-list.ts"
import { createDeniedFiles, type DeniedFiles } from "./denied-files.ts"
import { createTranslator, type PathMapping } from "./mapping.ts"
import { invalidPath, outsideRoots, printable } from "./path-errors.ts"
import { compilePathRules, deepestRoot } from "./path-rules.ts"
import { isInside, resolveRoots, type Root, type RootConfig } from "./roots.ts"

export type Access = "read" | "write"

/** What the path rules are made from. */
export interface PathPolicyConfig {
  /** Allowed directories; relative paths are resolved against the first. */
  roots: readonly RootConfig[]
  /**
   * Patterns of names (`*.key`) and places (`private/*`) that tools never read, list, search nor write; replaces
   * {@link DEFAULT_DENY_READ}. See `compilePathRules`.
   */
  denyRead?: readonly string[]
  /**
   * Patterns of names and places that tools never write; replaces {@link DEFAULT_DENY_WRITE}. What is denied to readers
   * is denied to writers too.
   */
  denyWrite?: readonly string[]
  /** Further patterns that tools never write; asked each time, and the same list as before for as long as it holds. */
  loaded?: () => readonly string[]
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
  /** {@link PathPolicy.readable} for the names in one directory, given by its real path. */
  readableIn(directory: string): (name: string) => boolean
  /** {@link PathPolicy.readableIn} for a directory that a walk reached by names that may be read, from one that may. */
  readableBelow(directory: string): (name: string) => boolean
  /** Whether something must not be moved since its place alone denies it, given by real paths. */
  bindsPlace(from: string, to: string): boolean
  /** Whether some place that is denied has this name in its path: walkers that skip dependencies then must not. */
  mentions(name: string): boolean
  /** What must not be read, by whichever name it is opened: the other names (hard links) of denied files. */
  readonly denied: DeniedFiles
  /** A path on this machine as users know it. */
  show(path: string): string
}

/** Kernel file systems hold the process's own memory, environment and devices: never files of a workspace. */
const KERNEL = ["/proc", "/sys", "/dev"]
const LONGEST_PATH_BYTES = 4096

/**
 * @param hidden further directories that may be read but are never listed as roots; may grow later
 * @throws ToolwrightError `INVALID_ROOT`
 */
export function createPathPolicy(config: PathPolicyConfig, hidden: readonly Root[] = []): PathPolicy {
  const translator = createTranslator(config.mapping)
  const roots = resolveRoots(config.roots, translator.toLocal)
  const all = (): readonly Root[] => (hidden.length === 0 ? roots : [...roots, ...hidden])
  const secret = compilePathRules(config.denyRead ?? DEFAULT_DENY_READ, all)
  const fixed = createFixedRules(config, all)
  const rootOf = (path: string): Root | undefined => deepestRoot(all(), path)
  const readable = (real: string): boolean => rootOf(real) !== undefined && secret.deny(real) === undefined
  const denied = createDeniedFiles(() => roots.map(({ real }) => real), { readable, mentions: secret.mentions })

  const readableBelow = (directory: string): ((name: string) => boolean) => {
    const deny = secret.denyIn(directory)
    return (name) => deny(name) === undefined
  }

  const show = (path: string): string => {
    const root = rootOf(path)
    if (root === undefined) return translator.toHost(path)
    const rest = relative(root.real, path)
    return rest === "" ? root.path : (root.path.endsWith(sep) ? root.path : root.path + sep) + rest
  }

  const check = (path: string, access: Access, asked: string): Located => {
    const root = rootOf(path)
    if (root === undefined || KERNEL.some((directory) => isInside(directory, path))) throw outsideRoots(asked, roots)
    const pattern = secret.deny(path) ?? (access === "write" ? fixed().deny(path) : undefined)
    if (pattern !== undefined) throw accessDenied(asked, pattern, access)
    if (access === "write" && root.access !== "read-write") throw readOnly(asked, roots)
    return { root, path, shown: show(path), asked }
  }

  return {
    roots,
    show,
    admit: check,
    readable,
    readableIn: (directory) => (readable(directory) ? readableBelow(directory) : () => false),
    readableBelow,
    bindsPlace: (from, to) =>
      (secret.deny(from) !== undefined && secret.deny(to) === undefined) ||
      (fixed().deny(from) !== undefined && fixed().deny(to) === undefined),
    mentions: secret.mentions,
    denied,
    locate(asked, access) {
      assertSpelling(asked, roots)
      const local = translator.toLocal(asked)
      const path = isAbsolute(local) ? resolve(local) : resolve(roots[0]!.real, local)
      const alias = rootOf(path) === undefined ? roots.find((root) => isInside(root.local, path)) : undefined
      return check(alias === undefined ? path : resolve(alias.real, relative(alias.local, path)), access, asked)
    },
  }
}

/** What tools never write; compiled anew when it is another list. */
function createFixedRules({ denyWrite = DEFAULT_DENY_WRITE, loaded }: PathPolicyConfig, roots: () => readonly Root[]) {
  let known = loaded?.() ?? []
  let rules = compilePathRules([...known, ...denyWrite], roots)
  return () => {
    const now = loaded?.() ?? known
    if (now !== known) rules = compilePathRules([...(known = now), ...denyWrite], roots)
    return rules
  }
}

function assertSpelling(asked: string, roots: readonly Root[]): void {
  if (typeof asked !== "string" || asked === "") throw invalidPath(String(asked ?? ""), "the path is empty")
  if (asked.includes("\0")) throw invalidPath(asked, "it contains a null byte")
  if (/[\u0000-\u001f\u007f]/u.test(asked)) throw invalidPath(asked, "it contains control characters")
  if (Buffer.byteLength(asked) > LONGEST_PATH_BYTES)
    throw invalidPath(asked, `it is longer than ${LONGEST_PATH_BYTES} bytes`)
  if (/^~($|[\\/])/u.test(asked)) throw outsideRoots(asked, roots)
}

/** The answer to a path that a pattern protects. */
export function accessDenied(asked: string, pattern: string, access: Access): ToolwrightError {
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
