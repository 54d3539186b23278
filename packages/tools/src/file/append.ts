import { success, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { decodeText, dominantEnding, encodeText } from "@toolwright/host/text"

/**
 * Adds text at the end of a file, in the file's encoding; creates the file, with the directories above it, when it does
 * not exist. A last line that is not ended yet is ended first: what is added never becomes a part of it.
 */
export async function appendText(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const { path, content } = args as { path: string; content: string }
  const extended = (existing: Buffer): Buffer => {
    const decoded = decodeText(existing)
    if (decoded === undefined) return Buffer.concat([existing, Buffer.from(content, "utf8")])
    const { text } = decoded
    const open = text !== "" && !text.endsWith("\n") && !/^\r?\n/.test(content)
    const added = open ? dominantEnding(text) + content : content
    return Buffer.concat([existing, encodeText({ ...decoded, text: added, bom: false })])
  }
  const create = () => workspace.write(path, content, { exclusive: true, makesParents: true })
  const extend = () => workspace.update(path, ({ bytes }) => extended(bytes))
  const written = await extend()
    .catch(when(["NOT_FOUND", "PARENT_NOT_FOUND"], create))
    // Somebody else created it meanwhile.
    .catch(when(["ALREADY_EXISTS"], extend))
  const { shown, stat, created } = written!
  return success({
    output: `${created ? "Created" : "Appended to"} ${shown} (now ${stat.size} bytes).`,
    data: { path: shown, size_bytes: stat.size, created },
    modifiedFiles: [shown],
  })
}

/** Tries something else after some kinds of errors. */
function when<Value>(codes: readonly string[], next: () => Promise<Value>): (thrown: unknown) => Promise<Value> {
  return async (thrown) => {
    if (!ToolwrightError.isInstance(thrown) || !codes.includes(thrown.code)) throw thrown
    return next()
  }
}
