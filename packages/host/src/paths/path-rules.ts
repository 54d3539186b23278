import { realpathSync } from "node:fs"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { wildcard } from "@toolwright/toolbox"
import { compileDenyList, foldName } from "./deny-list.ts"
import { componentsBelow, isInside, type Root } from "./roots.ts"

/** What a list of patterns says about real paths. */
export interface PathRules {
  /** The pattern that forbids a real path, or one of the directories above it; undefined where none does. */
  deny(real: string): string | undefined
  /** The same for names in one directory: what does not depend on the name is looked at once. */
  denyIn(directory: string): (name: string) => string | undefined
  /** Whether some patterns are about places, so that what they deny can be carried out of its place. */
  readonly aboutPlaces: boolean
  /** Whether a pattern reaches into directories of this name, such as `node_modules`. */
  mentions(name: string): boolean
}

/**
 * Compiles patterns of names and of paths. One without a slash is about a name, wherever it lies (`.env`, `*.key`); one
 * with a slash is about a place: below a root (`private/*`, `a/**`), absolute (`/srv/keys`) or in the home folder
 * (`~/keys`). Either denies everything below what it matches. A leading `!` makes an exception. A pattern that begins at
 * a symbolic link denies what the link leads to as well. Paths are compared as the laxest file system would.
 */
export function compilePathRules(patterns: readonly string[], roots: () => readonly Root[]): PathRules {
  const plain = patterns.map((pattern) => pattern.replace(/^(!?)(?:\.\/+)+/u, "$1").replace(/\/+$/u, ""))
  const isPlace = (pattern: string): boolean => pattern.includes("/")
  const names = compileDenyList(plain.filter((pattern) => !isPlace(pattern)))
  const places = plain.filter(isPlace).flatMap(variantsOf)
  const linked = resolvedLinks(plain, roots())
  const denials = [...places, ...linked].filter((place) => !place.exception)
  const exceptions = places.filter((place) => place.exception)
  const memory = new Map<string, string | undefined>()

  const placeOf = (real: string): string | undefined => {
    if (denials.length === 0) return undefined
    for (const spelling of spellings(real, roots())) {
      const denial = denials.find(({ fold }) => wildcard(fold, spelling))
      if (denial !== undefined && !exceptions.some(({ fold }) => wildcard(fold, spelling))) return denial.pattern
    }
    return undefined
  }
  /** For a path and the directories above it; a directory's answer is remembered, since many paths share it. */
  const placeOrAbove = (real: string): string | undefined => {
    if (denials.length === 0) return undefined
    if (memory.has(real)) return memory.get(real)
    const end = real.lastIndexOf("/")
    const answer = (end > 0 ? placeOrAbove(real.slice(0, end)) : undefined) ?? placeOf(real)
    if (memory.size >= MOST_REMEMBERED) memory.clear()
    memory.set(real, answer)
    return answer
  }
  const namesAbove = (real: string): string | undefined => {
    const root = deepestRoot(roots(), real)
    return root === undefined ? undefined : names(componentsBelow(root, real))
  }
  return {
    aboutPlaces: denials.length > 0,
    mentions: (name) => places.some(({ fold }) => fold.includes(foldName(name))),
    deny: (real) => namesAbove(real) ?? placeOrAbove(real),
    denyIn(directory) {
      const above = namesAbove(directory) ?? placeOrAbove(directory)
      if (above !== undefined) return () => above
      const base = directory.endsWith("/") ? directory : `${directory}/`
      return (name) => names([name]) ?? (denials.length === 0 ? undefined : placeOf(base + name))
    },
  }
}

const MOST_REMEMBERED = 10_000

/** The deepest of the roots that hold a path. */
export function deepestRoot(roots: readonly Root[], path: string): Root | undefined {
  let best: Root | undefined
  for (const root of roots) {
    if (isInside(root.real, path) && (best === undefined || root.real.length > best.real.length)) best = root
  }
  return best
}

interface Place {
  /** As it was written, for messages. */
  readonly pattern: string
  readonly exception: boolean
  /** What is compared: folded, and beginning with `/` whether it is absolute or below a root. */
  readonly fold: string
}

/** A pattern about a place, as patterns in which `*` stands for any characters. */
function variantsOf(pattern: string): Place[] {
  const exception = pattern.startsWith("!")
  const written = exception ? pattern.slice(1) : pattern
  const absolute = written.startsWith("~/") ? homedir() + written.slice(1) : written
  const rooted = absolute.startsWith("/") ? absolute : `/${absolute}`
  // `a/**/b` is about `a/b` too.
  const forms = [rooted, rooted.replaceAll("/**/", "/")]
  return [...new Set(forms)].map((form) => ({
    pattern: written,
    exception,
    fold: foldPath(form.replaceAll("**", "*")),
  }))
}

/** Where the fixed beginnings of patterns really lie, when links lead there. */
function resolvedLinks(patterns: readonly string[], roots: readonly Root[]): Place[] {
  const found: Place[] = []
  for (const pattern of patterns) {
    const fixed = /^[^*?[\]!]+(?=\/|$)/u.exec(pattern)?.[0]
    if (fixed === undefined || fixed === "") continue
    const rest = pattern.slice(fixed.length)
    for (const root of roots) {
      const named = resolve(root.real, fixed.startsWith("~/") ? homedir() + fixed.slice(1) : fixed.replace(/^\/+/u, ""))
      const real = realPathOf(named)
      if (real !== undefined && real !== named)
        found.push({ pattern, exception: false, fold: foldPath(real + rest.replaceAll("**", "*")) })
    }
  }
  return found
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** A real path as patterns may speak of it: absolute, and below each root that holds it. */
function spellings(real: string, roots: readonly Root[]): string[] {
  const folded = [foldPath(real)]
  for (const root of roots) {
    if (!isInside(root.real, real) || root.real === real) continue
    const below = real.slice(root.real.endsWith("/") ? root.real.length - 1 : root.real.length)
    folded.push(foldPath(below), foldPath(root.path + below))
  }
  return folded
}

function foldPath(path: string): string {
  return path.split(/[/\\]/u).map(foldName).join("/")
}
