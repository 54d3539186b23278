import { success, ToolwrightError, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import type { FileContent, Workspace, WriteOptions, Written } from "@toolwright/host/paths"
import { matchesHash, staleResult } from "@toolwright/host/edit"
import { countLines, decodeText } from "@toolwright/host/text"
import { textDiff } from "@toolwright/host/undo"

/**
 * Creates a file or replaces its content atomically; the parent directory must exist unless `makesParents` is given.
 * Where something is replaced, the result says what: how many lines, and the difference.
 */
export async function writeText(
  workspace: Workspace,
  args: JsonObject,
  options?: Pick<WriteOptions, "makesParents">,
): Promise<ToolResult> {
  const { path, content, expected_hash } = args as { path: string; content: string; expected_hash?: string }
  if (expected_hash !== undefined) {
    let before: FileContent | undefined
    const written = await workspace.update(path, (current) => {
      before = current
      return matchesHash(current.hash, expected_hash) ? Buffer.from(content, "utf8") : undefined
    })
    if (written === undefined) return staleResult(path, expected_hash, before!.hash)
    return report(written, content, before)
  }
  const before = await existing(workspace, path)
  return report(await workspace.write(path, content, options), content, before)
}

/** What writing would replace, for a person who is to permit it. */
export async function previewWrite(workspace: Workspace, args: JsonObject): Promise<string | undefined> {
  const { path, content } = args as { path?: unknown; content?: unknown }
  if (typeof path !== "string" || typeof content !== "string") return undefined
  const before = await existing(workspace, path)
  if (before === undefined) return undefined
  const replaced = await replacement(before, content)
  const head = `This replaces ${before.shown}: ${replaced.words}.`
  return replaced.diff === "" ? head : `${head}\n${replaced.diff}`
}

/** Undefined where there is no such file, or nothing can be said of it; writing finds out which. */
async function existing(workspace: Workspace, path: string): Promise<FileContent | undefined> {
  return workspace.read(path).catch((thrown: unknown) => {
    if (ToolwrightError.isInstance(thrown) || thrown instanceof Error) return undefined
    throw thrown
  })
}

/** Lines of the difference that a result shows. */
const MOST_LINES_SHOWN = 40

async function replacement(
  before: FileContent,
  content: string,
): Promise<{ words: string; diff: string; shown: string; lines: number | undefined }> {
  const text = decodeText(before.bytes)?.text
  if (text === undefined) {
    return { words: `${before.bytes.length} bytes that are no text go`, diff: "", shown: "", lines: undefined }
  }
  if (text === content) return { words: "with the same content", diff: "", shown: "", lines: countLines(text) }
  const diff = await textDiff(before.shown, text, content)
  const all = diff.split("\n")
  const cut = all.length > MOST_LINES_SHOWN ? [`[${all.length - MOST_LINES_SHOWN} more lines of the difference]`] : []
  return {
    words: `${lineCount(countLines(text))} before, ${lineCount(countLines(content))} now`,
    diff,
    shown: [...all.slice(0, MOST_LINES_SHOWN), ...cut].join("\n"),
    lines: countLines(text),
  }
}

async function report(written: Written, content: string, before: FileContent | undefined): Promise<ToolResult> {
  const { shown: path, stat, hash, created } = written
  const lines = countLines(content)
  const data = { path, size_bytes: stat.size, line_count: lines, modified_time: stat.mtimeMs / 1000, created, hash }
  if (created || before === undefined) {
    const output = `${created ? "Created" : "Replaced"} ${path} (${lineCount(lines)}, ${stat.size} bytes).`
    return success({ output, data, modifiedFiles: [path] })
  }
  const replaced = await replacement(before, content)
  const head = `Replaced ${path} (${replaced.words}, ${stat.size} bytes).`
  return success({
    output: replaced.shown === "" ? head : `${head}\n${replaced.shown}`,
    data: {
      ...data,
      replaced: {
        size_bytes: before.bytes.length,
        hash: before.hash,
        ...(replaced.lines === undefined ? {} : { line_count: replaced.lines }),
      },
      ...(replaced.diff === "" ? {} : { diff: replaced.diff }),
    },
    modifiedFiles: [path],
  })
}

function lineCount(lines: number): string {
  return `${lines} ${lines === 1 ? "line" : "lines"}`
}
