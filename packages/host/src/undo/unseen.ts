import { lstatSync, readdirSync, type BigIntStats, type Dirent } from "node:fs"
import { join } from "node:path"
import type { Unkept } from "./change-log.ts"
import { statMark } from "./entry-state.ts"
import { createTurns } from "../turns.ts"

/** What runners and bundlers keep below dependencies, and make again whenever it is missing. */
const CACHES = new Set([".cache", ".vite", ".vite-temp", ".vitest", "__pycache__"])
const MOST_ENTRIES = 60_000
const MOST_NAMED = 3

/** Entries of a folder whose names are not UTF-8, by a name for people, with a mark of their state. */
export function oddlyNamed(folder: string): { shown: string; path: Buffer; mark: string }[] {
  return entriesOf(Buffer.from(folder)).flatMap(({ name }) => {
    const text = name.toString("utf8")
    if (Buffer.from(text, "utf8").equals(name)) return []
    const path = below(Buffer.from(folder), name)
    const stat = statOf(path)
    const shown = join(folder, `${text} (bytes ${name.toString("hex")})`)
    return stat === undefined ? [] : [{ shown, path, mark: statMark(stat) }]
  })
}

/**
 * What was changed deep in folders that are not looked into, since a moment: told, for it is not kept. The time of a
 * status cannot be set back by who changes a file.
 *
 * @param folders by their name for people
 */
export async function changedDeep(folders: ReadonlyMap<string, Buffer>, since: number): Promise<Unkept[]> {
  const unkept: Unkept[] = []
  const budget = { left: MOST_ENTRIES, turn: createTurns() }
  for (const [shown, path] of folders) {
    const changed = await changedBelow(path, BigInt(since) * 1_000_000n, budget)
    if (changed === undefined)
      unkept.push({ path: shown, reason: "what lies in it is not kept, and it is too large to see whether it changed" })
    else if (changed.length > 0) unkept.push({ path: shown, reason: reasonOf(changed) })
  }
  return unkept
}

function reasonOf(changed: readonly string[]): string {
  const named = changed.slice(0, MOST_NAMED).join(", ")
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : ""
  return `what lies in it is not kept, and this changed: ${named}${more}`
}

/** @returns undefined where there is too much to look at */
async function changedBelow(
  top: Buffer,
  since: bigint,
  budget: { left: number; readonly turn: () => Promise<void> | undefined },
): Promise<string[] | undefined> {
  const changed: string[] = []
  const pending = [top]
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of entriesOf(folder)) {
      if (--budget.left < 0) return undefined
      const others = budget.turn()
      if (others !== undefined) await others
      if (CACHES.has(entry.name.toString())) continue
      const path = below(folder, entry.name)
      const stat = statOf(path)
      if (stat === undefined) continue
      if (entry.isDirectory()) pending.push(path)
      // A folder's own time says that a name in it came or went; what came is named itself.
      if (stat.ctimeNs >= since) changed.push(path.subarray(top.length + 1).toString("utf8"))
    }
  }
  return changed.filter((path) => !changed.some((other) => other.startsWith(`${path}/`))).sort()
}

function below(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name])
}

function entriesOf(folder: Buffer): Dirent<Buffer>[] {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" })
  } catch {
    return []
  }
}

function statOf(path: Buffer): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}
