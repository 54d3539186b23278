import { failure, success, ToolwrightError, type JsonSchema, type ToolResult } from "@toolwright/toolbox"
import { hashOf, type FileContent, type Workspace } from "../paths/workspace.ts"
import { decodeText, encodeText } from "../text/encoding.ts"
import { countLines } from "../text/lines.ts"
import type { EditOutcome } from "./apply.ts"
import { unifiedDiff } from "./diff.ts"

export interface ChangeOptions {
  /** Report the diff and leave the file alone. */
  dryRun?: boolean
  /** The hash the file must have, as an earlier read reported it. */
  expectedHash?: string | undefined
}

/** `output` schema of every tool that changes a text file. */
export const CHANGE_OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    replacements: { type: "integer", description: "Places that changed" },
    edits: { type: "array", items: { type: "object" }, description: "Per edit: line, replacements, how it was matched" },
    diff: { type: "string", description: "Unified diff" },
    dry_run: { type: "boolean" },
    hash: { type: "string", description: "Of the content after the change; pass it as expected_hash to the next one" },
    size_bytes: { type: "integer" },
    line_count: { type: "integer" },
  },
  required: ["path", "replacements", "diff", "dry_run", "hash", "size_bytes", "line_count"],
}

/** The argument that makes a change conditional on what was read. */
export const EXPECTED_HASH: JsonSchema = {
  type: "string",
  pattern: "^[0-9a-f]{8,64}$",
  description: "Hash from an earlier read; the change is refused when the file is no longer the same",
}

/**
 * Changes a text file: decodes it, lets `compute` say what changes, writes it back in the same encoding, and answers with a diff.
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
  let done: { before: string; outcome: Exclude<EditOutcome, { refused: ToolResult }>; content: FileContent; bytes: Buffer } | undefined
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
  const notes = outcome.applied.flatMap(({ matched, line }) => (matched === "exact" ? [] : [`Line ${line}: matched up to ${MATCHED[matched]}.`]))
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

export function matchesHash(hash: string, expected: string): boolean {
  return expected.length >= hash.length ? expected.startsWith(hash) : hash.startsWith(expected)
}

export function staleResult(path: string, expected: string, now: string): ToolResult {
  return failure({
    code: "STALE",
    message: `Nothing was changed: ${path} is no longer what was read (expected hash ${expected}, now ${now})`,
    hint: "Read the file again and repeat the change on what it holds now.",
    details: { expected_hash: expected, hash: now },
  })
}

export function binaryFile(path: string): ToolwrightError {
  return new ToolwrightError("BINARY_FILE", `Not a text file: ${path} is binary`, {
    hint: "Use read_media_file to get its bytes in base64.",
  })
}
