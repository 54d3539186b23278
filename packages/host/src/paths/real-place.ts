import { realpathSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** A path without links, as far as it is there. */
export function realPlace(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(realPlace(above), basename(path))
  }
}
