import { success, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { matchesHash, staleResult } from "@toolwright/host/edit"
import { countLines } from "@toolwright/host/text"

/** Creates a file or replaces its content atomically; the parent directory must exist. */
export async function writeText(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const { path, content, expected_hash } = args as { path: string; content: string; expected_hash?: string }
  if (expected_hash !== undefined) {
    let now = ""
    const written = await workspace.update(path, (current) => {
      now = current.hash
      return matchesHash(now, expected_hash) ? Buffer.from(content, "utf8") : undefined
    })
    if (written === undefined) return staleResult(path, expected_hash, now)
    return report(written.shown, written.stat, content, written.hash, false)
  }
  const { shown, stat, hash, created } = await workspace.write(path, content)
  return report(shown, stat, content, hash, created)
}

function report(
  path: string,
  stat: { size: number; mtimeMs: number },
  content: string,
  hash: string,
  created: boolean,
): ToolResult {
  const lines = countLines(content)
  return success({
    output: `${created ? "Created" : "Wrote"} ${path} (${lines} ${lines === 1 ? "line" : "lines"}, ${stat.size} bytes).`,
    data: { path, size_bytes: stat.size, line_count: lines, modified_time: stat.mtimeMs / 1000, created, hash },
    modifiedFiles: [path],
  })
}
