import { lstatSync } from "node:fs"
import { relative, resolve, sep } from "node:path"
import { realPlace } from "@toolwright/host/paths"
import { ToolwrightError } from "@toolwright/toolbox"

/**
 * Where a file lies that an agent is to own, from the top of the workspace and with `/`, whichever way it was written:
 * through a link it would have a second name, and so a second owner.
 *
 * @throws ToolwrightError `INVALID_AGENT` for what lies outside, or is the workspace itself
 */
export function ownedPath(root: string, file: string): string {
  if (/[\u0000-\u001f\u007f-\u009f]/.test(file))
    throw notOwnable(root, file, "has signs in its name that cannot be seen")
  const top = realPlace(resolve(root))
  const path = relative(top, realPlace(resolve(root, file)))
  if (path === "" || path === ".." || path.startsWith(`..${sep}`) || resolve(path) === path || file.endsWith("/")) {
    throw notOwnable(root, file, "is no file of the workspace")
  }
  // What is no file now may be one later, under another name: a folder never, a link to nothing wherever it leads.
  const there = lstatSync(resolve(top, path), { throwIfNoEntry: false })
  if (there?.isFile() === false) throw notOwnable(root, file, "is a folder, or a link to nothing")
  if ((there?.nlink ?? 1) > 1)
    throw notOwnable(root, file, "has a second name (a hard link), which another agent could own")
  return path.split(sep).join("/")
}

function notOwnable(root: string, file: string, why: string): ToolwrightError {
  return new ToolwrightError("INVALID_AGENT", `${JSON.stringify(file)} ${why}, so no agent can own it.`, {
    hint: `Name files from the top of ${root}: src/area.py`,
  })
}
