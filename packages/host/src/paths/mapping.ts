import { readFileSync } from "node:fs"
import { sep } from "node:path"
import { isInside, type RootConfig } from "./roots.ts"

/** A host directory and where it is mounted on this machine. */
export interface PathMapping {
  host: string
  container: string
}

export interface PathTranslator {
  /** Host path to the path on this machine; other paths come back as they are. */
  toLocal(path: string): string
  /** Path on this machine to the host's. */
  toHost(path: string): string
}

/** Translates between host paths, which users and models see, and mounted ones. The longest prefix wins. */
export function createTranslator(mappings: readonly PathMapping[] = []): PathTranslator {
  const translate = (from: keyof PathMapping, to: keyof PathMapping) => {
    const ordered = [...mappings].sort((a, b) => b[from].length - a[from].length)
    return (path: string) => {
      const found = ordered.find((mapping) => isInside(trimmed(mapping[from]), path))
      if (found === undefined) return path
      const rest = path.slice(trimmed(found[from]).length).replace(/^[\\/]+/u, "")
      const base = trimmed(found[to])
      return rest === "" ? base : (base.endsWith(sep) ? base : base + sep) + rest
    }
  }
  return { toLocal: translate("host", "container"), toHost: translate("container", "host") }
}

function trimmed(path: string): string {
  return path.length > 1 && path.endsWith(sep) ? path.slice(0, -1) : path
}

/** Where a container image mounts host directories, mirrored under a folder per access. */
const MOUNT_POINTS = { "/mnt/read_write": "read-write", "/mnt/read_only": "read-only" } as const

/**
 * Finds mounts that mirror host paths (`/mnt/read_only/home/me/app` is the host's `/home/me/app`), so that a container
 * needs no configuration of its own. Linux only: reads `/proc/self/mountinfo` (format: proc_pid_mountinfo(5), field 5
 * is the mount point).
 *
 * @param mountInfo the table's text; the running process's own unless given
 * @returns roots with host paths, and the mapping for them; both empty where nothing is mounted
 */
export function discoverMounts(mountInfo: string = ownMountInfo()): { roots: RootConfig[]; mapping: PathMapping[] } {
  const roots: RootConfig[] = []
  const mapping: PathMapping[] = []
  for (const line of mountInfo.split("\n")) {
    const field = line.split(" ")[4]
    if (field === undefined) continue
    const container = field.replace(/\\([0-7]{3})/gu, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    )
    for (const [point, access] of Object.entries(MOUNT_POINTS)) {
      if (container === point || !isInside(point, container)) continue
      const host = container.slice(point.length)
      roots.push({ path: host, access })
      mapping.push({ host, container })
    }
  }
  return { roots, mapping }
}

function ownMountInfo(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8")
  } catch {
    return ""
  }
}
