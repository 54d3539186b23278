import { statSync, watch, type FSWatcher } from "node:fs"
import { dirname } from "node:path"
import { messageOf } from "@toolwright/toolbox"

/** Files that are looked at when something happens in their folders. */
export interface FileWatch {
  /** Watches these in place of others before. */
  see(files: readonly string[]): void
  close(): void
}

/** Changes come in bursts, as an editor writes: milliseconds of quiet after which they are looked at. */
const QUIET_MS = 80

/**
 * Calls back when files were changed, made or removed. It keeps no process alive, and a folder that cannot be watched
 * costs the calling back alone.
 */
export function watchFiles(changed: () => void, log: (line: string) => void): FileWatch {
  const watchers = new Map<string, FSWatcher>()
  let seen: readonly string[] = []
  let state = ""
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    const now = stateOf(seen)
    if (now === state) return
    state = now
    changed()
  }
  const wake = (): void => {
    clearTimeout(timer)
    timer = setTimeout(look, QUIET_MS)
    timer.unref()
  }
  return {
    see(files) {
      seen = [...new Set(files)]
      state = stateOf(seen)
      for (const folder of new Set(seen.map((file) => (isFolder(file) ? file : dirname(file))))) {
        if (watchers.has(folder)) continue
        try {
          const watcher = watch(folder, { persistent: false }, wake)
          watchers.set(folder, watcher)
          watcher.on("error", () => watchers.delete(folder))
        } catch (thrown) {
          log(`Changes in ${folder} will not be seen: ${messageOf(thrown)}`)
        }
      }
    },
    close() {
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    },
  }
}

/** What tells one state of files from another. */
function stateOf(files: readonly string[]): string {
  const states = files.map((file) => {
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat === undefined ? `${file} -` : `${file} ${stat.mtimeMs} ${stat.size} ${stat.ino}`
  })
  return states.join("\n")
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
