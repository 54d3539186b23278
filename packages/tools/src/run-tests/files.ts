import { readdir, realpath } from "node:fs/promises"
import { join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { isInside } from "@toolwright/host/paths"
import { insideRoot, shownPath, type ProcessHost } from "@toolwright/host/process"
import { visibleName } from "@toolwright/host/text"
import { isTestFile } from "./detect.ts"

/**
 * The files and folders that a call names, as paths from the workspace's top. Each is there and really lies in the
 * workspace: a link that leads out, and a pattern that a runner would make something of, are none.
 *
 * @throws ToolwrightError `ACCESS_DENIED`, `INVALID_PATH`, `NOT_FOUND`
 */
export async function testFilesOf(host: ProcessHost, named: readonly string[]): Promise<string[]> {
  const files: string[] = []
  for (const name of named) {
    const path = insideRoot(host, name)
    const { real } = await host.workspace.stat(name)
    if (!isInside(host.root, real)) {
      throw new ToolwrightError("ACCESS_DENIED", `${visibleName(name)} leads out of the workspace.`)
    }
    files.push(shownPath(host, path))
  }
  return files
}

const SKIPPED = new Set(["node_modules", ".git", ".venv", "venv", "dist", "build", "target", "__pycache__"])
const MOST_ENTRIES = 50_000

/**
 * Refuses to start a runner that nothing contains where links would take it out of the workspace: runners follow links
 * to folders and to test files.
 *
 * @throws ToolwrightError `LINK_OUTSIDE`
 */
export async function assertNoLinksOut(root: string): Promise<void> {
  const pending = [root]
  let seen = 0
  for (let folder = pending.pop(); folder !== undefined && seen < MOST_ENTRIES; folder = pending.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      seen++
      const path = join(folder, entry.name)
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) pending.push(path)
      if (!entry.isSymbolicLink() || SKIPPED.has(entry.name)) continue
      const real = await realpath(path).catch(() => undefined)
      if (real === undefined || isInside(root, real)) continue
      const isFolder = await readdir(real).then(
        () => true,
        () => false,
      )
      if (!isFolder && !isTestFile(entry.name)) continue
      throw new ToolwrightError(
        "LINK_OUTSIDE",
        `No tests were run: ${visibleName(shown(root, path))} is a link that leads out of the workspace, and ` +
          "nothing contains the runner here.",
        { hint: "A person must remove the link, or install bubblewrap." },
      )
    }
  }
}

function shown(root: string, path: string): string {
  return path.slice(root.length + 1)
}
