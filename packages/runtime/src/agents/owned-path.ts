import { realpathSync } from "node:fs"
import { basename, dirname, join, relative, resolve, sep } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"

/**
 * Where a file lies that an agent is to own, from the top of the workspace and with `/`, whichever way it was written:
 * through a link it would have a second name, and so a second owner.
 *
 * @throws ToolwrightError `INVALID_AGENT` for what lies outside, or is the workspace itself
 */
export function ownedPath(root: string, file: string): string {
  const top = real(resolve(root))
  const path = relative(top, real(resolve(root, file)))
  if (path === "" || path === ".." || path.startsWith(`..${sep}`) || resolve(path) === path || file.endsWith("/")) {
    throw new ToolwrightError("INVALID_AGENT", `'${file}' is no file of the workspace, so no agent can own it.`, {
      hint: `Name files from the top of ${root}: src/area.py`,
    })
  }
  return path.split(sep).join("/")
}

/** The path without links, as far as it is there. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(real(above), basename(path))
  }
}
