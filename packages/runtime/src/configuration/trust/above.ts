import { dirname } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { findConfigurationFile, readConfigurationFile } from "../file.ts"

/** Settings that only take away, with how what a file above says is joined to what stands nearer. */
const NAMES = ["permissions.deny", "permissions.ask", "builtins.without"]
const PATTERNS = ["permissions.denyPaths", "workspace.denyRead", "workspace.denyWrite"]
const SWITCHES: readonly (readonly [key: string, value: unknown])[] = [
  ["permissions.careful", true],
  ["builtins.bash.sandbox", "required"],
]
/** Files above that are looked at: a folder that brings more along would hide what the ones above them forbid. */
const MOST_FILES = 50

type Found = Map<string, { value: unknown; source: string }>

/**
 * Holds a folder to what the files above its own `toolwright.yaml` forbid: only the nearest one counts otherwise, so
 * that a folder that was cloned would lift the rules of the one that it was cloned into by bringing a file along. What
 * flags and variables say stays.
 *
 * @param nearest the file that counts, which nobody trusted
 * @throws ToolwrightError `INVALID_CONFIGURATION` where there are more files above than are looked at
 */
export async function holdToFilesAbove(found: Found, nearest: string, cwd: string): Promise<void> {
  let folder = dirname(nearest)
  for (let looked = 0; dirname(folder) !== folder; looked++) {
    const path = findConfigurationFile(dirname(folder))
    if (path === undefined) return
    if (looked === MOST_FILES) {
      const many = `More than ${MOST_FILES} files above ${nearest} are configurations, too many to hold it to.`
      throw new ToolwrightError(
        "INVALID_CONFIGURATION",
        `${many} Trust it ("toolwright trust"), or name it by --config.`,
      )
    }
    folder = dirname(path)
    // A mistake up there stops commands where that file is the nearest.
    const file = await readConfigurationFile(path).catch(() => undefined)
    if (file !== undefined) await join(found, file.values, path, cwd)
  }
}

async function join(found: Found, values: ReadonlyMap<string, unknown>, path: string, cwd: string): Promise<void> {
  const add = (key: string, list: readonly string[]): void => {
    const there = found.get(key)
    if (list.length === 0 || isSaidByUser(there)) return
    const all = [...new Set([...((there?.value as string[] | undefined) ?? []), ...list])]
    found.set(key, { value: all, source: sourceOf(there, path) })
  }
  for (const key of NAMES) add(key, listOf(values.get(key)))
  for (const key of PATTERNS) {
    const hiding = listOf(values.get(key)).filter((pattern) => !pattern.startsWith("!"))
    if (hiding.length === 0) continue
    const { patternsFor } = await import("@toolwright/host/paths")
    add(key, patternsFor(hiding, cwd, cwd, dirname(path)))
  }
  for (const [key, value] of SWITCHES) {
    const there = found.get(key)
    if (values.get(key) === value && !isSaidByUser(there)) found.set(key, { value, source: sourceOf(there, path) })
  }
}

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? (value as string[]) : [])

const isSaidByUser = (there: { source: string } | undefined): boolean =>
  there !== undefined && /^(?:flag|environment) /.test(there.source)

function sourceOf(there: { source: string } | undefined, path: string): string {
  return there === undefined || there.source === "default" ? `file ${path}` : `${there.source}, and ${path}`
}
