import { success, type ToolResult } from "@toolwright/toolbox"
import { hashOf, type FileContent } from "../paths/file-content.ts"
import type { Workspace } from "../paths/workspace.ts"
import { decodeText, encodeText } from "../text/encoding.ts"
import { countLines } from "../text/lines.ts"
import type { EditOutcome } from "./apply.ts"
import { unifiedDiff } from "./diff.ts"
import { binaryFile, matchesHash, staleResult } from "./refusals.ts"

export interface ChangeOptions {
  /** Report the diff and leave the file alone. */
  dryRun?: boolean
  /** The hash the file must have, as an earlier read reported it. */
  expectedHash?: string | undefined
}

/**
 * Changes a text file: decodes it, lets `compute` say what changes, writes it back in the same encoding, and answers
 * with a diff.
 * Other changes of the file wait; what changed outside meanwhile is `STALE`.
 *
 * @param compute gets the text without its byte-order mark
 * @throws ToolwrightError and system errors of the workspace; `BINARY_FILE`, `STALE`, `ENCODING`
 */
export async function changeFile(
  workspace: Workspace,
  path: string,
  compute: (text: string, content: FileContent) => EditOutcome,
  { dryRun = false, expectedHash }: ChangeOptions = {},
): Promise<ToolResult> {
  let done:
    | { before: string; outcome: Exclude<EditOutcome, { refused: ToolResult }>; content: FileContent; bytes: Buffer }
    | undefined
  let refused: ToolResult | undefined
  const change = (content: FileContent): Uint8Array | undefined => {
    if (expectedHash !== undefined && !matchesHash(content.hash, expectedHash)) {
      refused = staleResult(path, expectedHash, content.hash)
      return undefined
    }
    const decoded = decodeText(content.bytes)
    if (decoded === undefined) throw binaryFile(path)
    const outcome = compute(decoded.text, content)
    if ("refused" in outcome) {
      refused = outcome.refused
      return undefined
    }
    const bytes = encodeText({ ...decoded, text: outcome.text })
    done = { before: decoded.text, outcome, content, bytes }
    return dryRun ? undefined : bytes
  }
  const written = await workspace.update(path, change)
  if (refused !== undefined) return refused
  const { before, outcome, content, bytes } = done!
  const diff = await unifiedDiff(before, outcome.changes, path)
  const notes = outcome.applied.flatMap(({ matched, line }) =>
    matched === "exact" ? [] : [`Line ${line}: matched up to ${MATCHED[matched]}.`],
  )
  const headline = dryRun ? `Would change ${path} (dry run, nothing was written).` : `Changed ${path}.`
  return success({
    output: [headline, ...notes, diff].join("\n"),
    data: {
      path: content.shown,
      replacements: outcome.changes.length,
      edits: outcome.applied,
      diff,
      dry_run: dryRun,
      hash: written?.hash ?? hashOf(bytes),
      size_bytes: bytes.byteLength,
      line_count: countLines(outcome.text),
    },
    modifiedFiles: written === undefined ? [] : [written.shown],
  })
}

const MATCHED: Record<string, string> = {
  "line-endings": "line endings",
  "trailing-whitespace": "blanks at line ends",
  indentation: "indentation",
  punctuation: "typographic quotes, dashes and blanks",
}
