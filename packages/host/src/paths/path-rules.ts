import { resolve } from "node:path"
import { foldName, foldPattern, wildcard } from "@toolwright/toolbox"
import { compileDenyList } from "./deny-list.ts"
import { spelledOut } from "./path-patterns.ts"
import { realPlace } from "./real-place.ts"
import { componentsBelow, isInside, type Root } from "./roots.ts"

/** What a list of patterns says about real paths. */
export interface PathRules {
  /** The pattern that forbids a real path, or one of the directories above it; undefined where none does. */
  deny(real: string): string | undefined
  /** The same for the names in a directory that is known not to be denied: what they share is looked at once. */
  denyIn(directory: string): (name: string) => string | undefined
  /** Whether a pattern reaches into directories of this name, such as `node_modules`. */
  mentions(name: string): boolean
}

/**
 * Compiles patterns of names and of paths. One without a slash is about a name, wherever it lies (`.env`, `*.key`); one
 * with a slash is about a place: below a root (`private/*`, `a/**`), absolute (`/srv/keys`) or in the home folder
 * (`~/keys`). Either denies everything below what it matches. A leading `!` makes an exception. A pattern that begins
 * at a symbolic link denies what the link leads to as well. Paths are compared as the laxest file system would.
 */
export function compilePathRules(patterns: readonly string[], roots: () => readonly Root[]): PathRules {
  const plain = patterns.flatMap(spelledOut).flatMap((pattern) => belowRoots(pattern, roots()))
  const isPlace = (pattern: string): boolean => pattern.includes("/")
  const names = compileDenyList(plain.filter((pattern) => !isPlace(pattern)))
  const places = plain.filter(isPlace).flatMap(variantsOf)
  const linked = resolvedLinks(plain, roots())
  const denials = [...places, ...linked].filter((place) => !place.exception)
  const exceptions = places.filter((place) => place.exception)
  const memory = new Map<string, FolderRules>()

  const denialOf = (spelling: string, among: readonly Place[]): string | undefined => {
    const denial = among.find(({ fold }) => wildcard(fold, spelling))
    return denial === undefined || exceptions.some(({ fold }) => wildcard(fold, spelling)) ? undefined : denial.pattern
  }
  /** What the patterns of places say of one folder: remembered, since many paths share it. */
  const folderRules = (folder: string): FolderRules => {
    const known = memory.get(folder)
    if (known !== undefined) return known
    const end = folder.lastIndexOf("/")
    const above = end < 0 || folder === "/" ? undefined : folderRules(end === 0 ? "/" : folder.slice(0, end))
    const denied = above?.denied ?? (above === undefined ? undefined : placeIn(above, folder.slice(end + 1)))
    const candidates = spellings(folder, roots()).flatMap((spelling) => {
      const prefix = spelling.endsWith("/") ? spelling : `${spelling}/`
      const reaching = denials.filter(({ fixed }) => fixed.startsWith(prefix) || prefix.startsWith(fixed))
      return reaching.length === 0 ? [] : [{ prefix, reaching }]
    })
    const rules = { denied, candidates }
    if (memory.size >= MOST_REMEMBERED) memory.clear()
    memory.set(folder, rules)
    return rules
  }
  const placeIn = ({ denied, candidates }: FolderRules, name: string): string | undefined => {
    if (denied !== undefined || candidates.length === 0) return denied
    const folded = foldPath(name)
    for (const { prefix, reaching } of candidates) {
      const denial = denialOf(prefix + folded, reaching)
      if (denial !== undefined) return denial
    }
    return undefined
  }
  const placeOf = (real: string): string | undefined => {
    const end = real.lastIndexOf("/")
    if (denials.length === 0 || end < 0 || real === "/") return undefined
    return placeIn(folderRules(end === 0 ? "/" : real.slice(0, end)), real.slice(end + 1))
  }
  const namesAbove = (real: string): string | undefined => {
    const root = deepestRoot(roots(), real)
    return root === undefined ? undefined : names.denialIn(componentsBelow(root, real))
  }
  return {
    mentions: (name) => places.some(({ fold }) => fold.includes(foldName(name))),
    deny: (real) => namesAbove(real) ?? placeOf(real),
    denyIn(directory) {
      if (denials.length === 0) return names.denialOf
      const rules = folderRules(directory)
      return (name) => names.denialOf(name) ?? placeIn(rules, name)
    },
  }
}

/** What the patterns of places say of the names in a folder. */
interface FolderRules {
  /** The pattern that denies the folder itself. */
  readonly denied: string | undefined
  /** How its names may be spelled, and the patterns that could match one of them. */
  readonly candidates: readonly { readonly prefix: string; readonly reaching: readonly Place[] }[]
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
  /** The beginning of it that stands for itself. */
  readonly fixed: string
}

function place(pattern: string, exception: boolean, path: string): Place {
  const fold = foldPath(path.replaceAll("**", "*"), (name) => foldPattern(name, exception))
  return { pattern, exception, fold, fixed: /^[^*?]*/u.exec(fold)![0] }
}

/** A pattern about a place, as patterns in which `*` stands for any characters. */
function variantsOf(pattern: string): Place[] {
  const exception = pattern.startsWith("!")
  const written = exception ? pattern.slice(1) : pattern
  const rooted = written.startsWith("/") ? written : `/${written}`
  // `a/**/b` is about `a/b` too.
  const forms = [rooted, rooted.replaceAll("/**/", "/")]
  return [...new Set(forms)].map((form) => place(written, exception, form))
}

/** From each root, where a pattern leads out of one. */
function belowRoots(pattern: string, roots: readonly Root[]): string[] {
  const [, exception = "", rest = ""] = /^(!?)(.*)$/su.exec(pattern)!
  return rest.startsWith("../") ? roots.map(({ real }) => exception + resolve(real, rest)) : [pattern]
}

/** Where the fixed beginnings of patterns really lie, when links lead there. */
function resolvedLinks(patterns: readonly string[], roots: readonly Root[]): Place[] {
  const found: Place[] = []
  for (const pattern of patterns) {
    const fixed = /^[^*?[\]!]+(?=\/|$)/u.exec(pattern)?.[0]
    if (fixed === undefined || fixed === "") continue
    const rest = pattern.slice(fixed.length)
    const named = roots.map((root) => resolve(root.real, fixed.replace(/^\/+/u, "")))
    for (const path of fixed.startsWith("/") ? [...named, fixed] : named) {
      const real = realPlace(path)
      if (real !== path) found.push(place(pattern, false, real + rest))
    }
  }
  return found
}

/** A real path as patterns may speak of it: absolute, and below each root that holds it. */
function spellings(real: string, roots: readonly Root[]): string[] {
  const folded = [foldPath(real)]
  for (const root of roots) {
    if (!isInside(root.real, real)) continue
    const below = real.slice(root.real.endsWith("/") ? root.real.length - 1 : root.real.length)
    folded.push(foldPath(below), foldPath(root.path + below))
  }
  return folded
}

/** Backslashes in names separate here as they do in patterns. */
function foldPath(path: string, fold = foldName): string {
  return path
    .split(/[/\\]/u)
    .map((name) => fold(name))
    .join("/")
}
