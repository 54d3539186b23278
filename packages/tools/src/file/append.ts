import { success, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import type { Workspace } from "../paths/workspace.ts"
import { decodeText, encodeText } from "../text/encoding.ts"

/** Adds text at the end of a file, in the file's encoding; creates the file when it does not exist. */
export async function appendText(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const { path, content } = args as { path: string; content: string }
  const added = (existing: Buffer): Buffer => {
    const decoded = decodeText(existing)
    if (decoded === undefined) return Buffer.concat([existing, Buffer.from(content, "utf8")])
    return Buffer.concat([existing, encodeText({ ...decoded, text: content, bom: false })])
  }
  const written = await workspace.update(path, ({ bytes }) => added(bytes)).catch((thrown: unknown) => {
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== "NOT_FOUND") throw thrown
    return workspace.write(path, content, { exclusive: true })
  })
  const { shown, stat, created } = written!
  return success({
    output: `${created ? "Created" : "Appended to"} ${shown} (now ${stat.size} bytes).`,
    data: { path: shown, size_bytes: stat.size, created },
    modifiedFiles: [shown],
  })
}
