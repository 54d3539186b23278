import { success, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { changeFile, checkRange, insertLines, replaceLines, type LineRange, binaryFile } from "@toolwright/host/edit"
import type { Workspace } from "@toolwright/host/paths"
import { decodeText, splitLines, withoutEnding, windowOf } from "@toolwright/host/text"

interface LineChange {
  path: string
  expected_hash?: string
}

/** Replaces lines of a file; without content it deletes them. */
export function editLines(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const {
    path,
    content = "",
    expected_hash,
    ...range
  } = args as unknown as LineChange & LineRange & { content?: string }
  return changeFile(workspace, path, (text) => replaceLines(text, range, content, path), {
    expectedHash: expected_hash,
  })
}

/** Inserts lines before a line of a file. */
export function insertAtLine(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const { path, line, content, expected_hash } = args as unknown as LineChange & { line: number; content: string }
  return changeFile(workspace, path, (text) => insertLines(text, line, content, path), { expectedHash: expected_hash })
}

/** Lines of a file with their numbers, and the hash that makes a later change safe. */
export async function getLines(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const { path, start_line = 1, end_line } = args as unknown as { path: string } & Partial<LineRange>
  const content = await workspace.read(path)
  const decoded = decodeText(content.bytes)
  if (decoded === undefined) throw binaryFile(path)
  const lines = splitLines(decoded.text).map(withoutEnding)
  const last = Math.max(Math.min(end_line ?? lines.length, lines.length), start_line)
  if (lines.length > 0 || start_line > 1) {
    const wrong = checkRange(
      { start_line, end_line: end_line !== undefined && end_line < start_line ? end_line : last },
      lines.length,
      path,
    )
    if (wrong !== undefined) return wrong
  }
  const shown = lines.slice(start_line - 1, last)
  const width = String(last).length
  const numbered = shown.map((line, index) => `${String(start_line + index).padStart(width)}: ${line}\n`).join("")
  const text = windowOf(numbered, {
    firstLine: start_line,
    totalLines: lines.length,
    next: (line) => `Use start_line=${line}`,
  })
  return success({
    output: `${text}[${lines.length} lines, hash ${content.hash}]`,
    data: {
      path: content.shown,
      lines: shown.map((text, index) => ({ line: start_line + index, text })),
      line_count: lines.length,
      hash: content.hash,
    },
  })
}
