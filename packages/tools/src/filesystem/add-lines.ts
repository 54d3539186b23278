import { success, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { changeFile, insertLines } from "@toolwright/host/edit"
import type { Workspace } from "@toolwright/host/paths"
import { countLines } from "@toolwright/host/text"

interface Addition {
  path: string
  content: string
  expected_hash?: string
}

/** Inserts lines before the one of this number; the number after the last line appends. */
export function insertLinesAt(workspace: Workspace, args: JsonObject, line: number): Promise<ToolResult> {
  const { path, content, expected_hash } = args as unknown as Addition
  return changeFile(workspace, path, (text) => insertLines(text, line, content, path), { expectedHash: expected_hash })
}

/**
 * Adds whole lines at the end of a file, in its encoding and with its line endings; makes the file where it is not
 * there.
 */
export async function appendLines(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const { path, content, expected_hash } = args as unknown as Addition
  const extend = (): Promise<ToolResult> =>
    changeFile(workspace, path, (text) => insertLines(text, countLines(text) + 1, content, path), {
      expectedHash: expected_hash,
    })
  const create = async (): Promise<ToolResult> => {
    const text = content.endsWith("\n") ? content : `${content}\n`
    const { shown, hash } = await workspace.write(path, text, { exclusive: true })
    const lines = countLines(text)
    return success({
      output: `Created ${shown} (${lines} ${lines === 1 ? "line" : "lines"}).`,
      data: { path: shown, line_count: lines, hash },
      modifiedFiles: [shown],
    })
  }
  if (expected_hash !== undefined) return extend()
  // Where there is no file it is made; where somebody else makes it meanwhile, that one is extended.
  return extend().catch(when("NOT_FOUND", create)).catch(when("ALREADY_EXISTS", extend))
}

/** Tries something else after one kind of error. */
function when(code: string, next: () => Promise<ToolResult>): (thrown: unknown) => Promise<ToolResult> {
  return async (thrown) => {
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== code) throw thrown
    return next()
  }
}
