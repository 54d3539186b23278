import type { Stats } from "node:fs"
import { join } from "node:path"
import { entriesOf, lookAt } from "../look.ts"
import { createTurns } from "../turns.ts"

/** What path rules keep from everybody, as it lies on the disk now. */
export interface DeniedFiles {
  /** Whether a file is another name (a hard link) of a denied one. Files with one name only are answered at once. */
  holds(stat: Stats): Promise<boolean>
}

/** The denied files and directories below some folders; of a denied directory nothing below is listed. */
export interface DeniedEntries {
  readonly files: string[]
  readonly folders: string[]
  /** Whether there were too many entries to see all of them. */
  readonly incomplete: boolean
}

/** The part of the path rules that walking needs. */
export interface ReadRules {
  readable(real: string): boolean
  mentions(name: string): boolean
  /** How many entries are looked at; 200,000 unless told. */
  readonly mostEntries?: number
}

/** Dependencies: many files, and nobody's secrets; git keeps its own state. */
const SKIPPED = new Set([".git", "node_modules", ".venv", "venv"])
const MOST_ENTRIES = 200_000
/** Where contents of earlier times are kept: files of our own that nobody links, and many. */
export const KEPT_CONTENTS = ".toolwright/undo"

/** Finds what path rules deny, by names. Links are not followed. */
export async function findDenied(folders: readonly string[], rules: ReadRules): Promise<DeniedEntries> {
  const found: DeniedEntries = { files: [], folders: [], incomplete: false }
  const seenFiles = new Set<string>()
  const pending = [...folders]
  const turn = createTurns()
  let seen = 0
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const others = turn()
    if (others !== undefined) await others
    const entries = entriesOf(folder)
    seen += entries.length
    if (seen > (rules.mostEntries ?? MOST_ENTRIES)) return { ...found, incomplete: true }
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const skipped = SKIPPED.has(entry.name) && !rules.mentions(entry.name)
      if (entry.isDirectory()) {
        if (!rules.readable(path)) found.folders.push(path)
        else if (!skipped) pending.push(path)
      } else if (entry.isFile() && !rules.readable(path) && !seenFiles.has(path)) {
        seenFiles.add(path)
        found.files.push(path)
      }
    }
  }
  return found
}

/** The shortest time between two looks at the disk, and how many times longer than the look itself it is at least. */
const LOOK_MS = 500
const LOOK_SHARE = 20

/**
 * Knows denied files by their inodes. The list is made when a file with several names is met, and kept for a short time
 * only, since files come and go.
 */
export function createDeniedFiles(folders: () => readonly string[], rules: ReadRules): DeniedFiles {
  let inodes: Promise<ReadonlySet<string>> | undefined
  let staleAt = 0
  const look = async (): Promise<ReadonlySet<string>> => {
    const started = performance.now()
    staleAt = Number.POSITIVE_INFINITY
    const found = await findDenied(folders(), rules)
    const set = new Set<string>()
    for (const file of [...found.files, ...(await filesBelow(found.folders.filter(mayBeLinked)))]) {
      const stat = lookAt(file)
      if (stat !== undefined && stat.nlink > 1) set.add(keyOf(stat))
    }
    const now = performance.now()
    staleAt = now + Math.max(LOOK_MS, LOOK_SHARE * (now - started))
    return set
  }
  return {
    async holds(stat) {
      if (stat.nlink < 2 || !stat.isFile()) return false
      if (inodes === undefined || performance.now() > staleAt) inodes = look()
      return (await inodes).has(keyOf(stat))
    },
  }
}

/** Whether files in a denied folder may have names elsewhere. */
export function mayBeLinked(folder: string): boolean {
  return !folder.endsWith(`/${KEPT_CONTENTS}`)
}

function keyOf(stat: Stats): string {
  return `${stat.dev}:${stat.ino}`
}

/** Every regular file below some folders, up to a number that no folder of secrets has. */
export async function filesBelow(folders: readonly string[]): Promise<string[]> {
  const files: string[] = []
  const pending = [...folders]
  const turn = createTurns()
  for (let folder = pending.pop(); folder !== undefined && files.length < MOST_ENTRIES; folder = pending.pop()) {
    const others = turn()
    if (others !== undefined) await others
    for (const entry of entriesOf(folder)) {
      if (entry.isDirectory()) pending.push(join(folder, entry.name))
      else if (entry.isFile()) files.push(join(folder, entry.name))
    }
  }
  return files
}
