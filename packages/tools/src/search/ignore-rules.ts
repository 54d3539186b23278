import type { Ignore } from "ignore"
import { decodeText } from "@toolwright/host/text"
import { isCheapRule } from "./glob-cost.ts"

/** Rules of `.gitignore` and `.ignore` files, each valid below its own directory. */
export interface IgnoreRules {
  /** Adds a directory's rules file. `directory` is its path below the root, empty for the root itself. */
  add(directory: string, bytes: Uint8Array): void
  ignores(path: string, isDirectory: boolean): boolean
}

/** @see https://git-scm.com/docs/gitignore for the format; deeper files win over those above them */
export async function createIgnoreRules(): Promise<IgnoreRules> {
  const { default: ignore } = await import("ignore")
  const rules = new Map<string, Ignore>()
  return {
    add(directory, bytes) {
      const decoded = decodeText(bytes)?.text
      if (decoded === undefined) return
      // The rules may be those of an attacker, and are matched by backtracking.
      const text = decoded.split("\n").filter(isCheapRule).join("\n")
      const existing = rules.get(directory)
      if (existing === undefined) rules.set(directory, ignore({ allowRelativePaths: true }).add(text))
      else existing.add(text)
    },
    ignores(path, isDirectory) {
      if (rules.size === 0) return false
      for (let end = path.lastIndexOf("/"); ; end = path.lastIndexOf("/", end - 1)) {
        const found = rules.get(end === -1 ? "" : path.slice(0, end))
        if (found !== undefined) {
          const below = path.slice(end + 1) + (isDirectory ? "/" : "")
          const verdict = found.test(below)
          if (verdict.ignored) return true
          if (verdict.unignored) return false
        }
        if (end === -1) return false
      }
    },
  }
}

/** In the order in which they count: rules of later ones win. */
export const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"]
/** Longest file of rules that is read, in bytes. */
export const LARGEST_IGNORE_FILE = 1024 * 1024
