import { success, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { binaryFile, checkRange } from "@toolwright/host/edit"
import { FILE_LIMIT_BYTES, type OpenedFile, type Workspace } from "@toolwright/host/paths"
import {
  decodeText,
  type Encoding,
  countLines,
  splitLines,
  visibleControls,
  WINDOW_LINES,
  windowOf,
  type WindowOptions,
} from "@toolwright/host/text"
import { readHead, readLineRange, readTail } from "./partial-read.ts"

/** What `read_text_file` answers to programs; the text is complete, whatever a model is shown of it. */
export interface TextFile {
  path: string
  content: string
  /** Lines of `content`. */
  line_count: number
  /** Bytes of the whole file. */
  size_bytes: number
  /** Seconds since 1970. */
  modified_time: number
  /** Whether only a part was asked for or could be given. */
  is_truncated: boolean
  encoding: Encoding
  /** Of the whole file, where it was read whole. */
  hash?: string
}

interface ReadArguments {
  path: string
  head?: number
  tail?: number
  start_line?: number
  end_line?: number
}

/**
 * Reads a text file or a part of it. `head` wins over `tail`, both win over a line range. Parts from either end are
 * read without the rest of the file, so its size does not matter.
 *
 * @throws ToolwrightError `BINARY_FILE`, `FILE_TOO_LARGE`, and those of the workspace
 */
export async function readText(workspace: Workspace, args: JsonObject): Promise<ToolResult> {
  const asked = args as unknown as ReadArguments
  const part = asked.head !== undefined || asked.tail !== undefined
  return part ? readPart(workspace, asked) : readRange(workspace, asked)
}

async function readPart(workspace: Workspace, { path, head, tail }: ReadArguments): Promise<ToolResult> {
  await using file = await workspace.open(path)
  const part =
    head === undefined ? await readTail(file, tail!, FILE_LIMIT_BYTES) : await readHead(file, head, FILE_LIMIT_BYTES)
  const decoded = decodeText(part.bytes)
  if (decoded === undefined || part.binary) throw binaryFile(path)
  const data = describe(file, {
    content: decoded.text,
    encoding: part.encoding ?? decoded.encoding,
    is_truncated: true,
  })
  const next = (line: number) => (head === undefined ? "Use a smaller tail" : `Use start_line=${line}`)
  const cut = part.cut ? `\n[Cut: the lines asked for are longer than ${FILE_LIMIT_BYTES} bytes.]` : ""
  return success({ output: shown(decoded.text, { next }) + cut, data })
}

/** Lines of a file that is too large to be read whole; how many it has is not known then. */
async function readFarRange(file: OpenedFile, { path, start_line = 1, end_line }: ReadArguments): Promise<ToolResult> {
  const last = end_line ?? start_line + WINDOW_LINES - 1
  if (last < start_line) return checkRange({ start_line, end_line: last }, last, path)!
  const part = await readLineRange(file, start_line, last, FILE_LIMIT_BYTES)
  const decoded = decodeText(part.bytes)
  if (decoded === undefined || part.binary) throw binaryFile(path)
  const data = describe(file, {
    content: decoded.text,
    encoding: part.encoding ?? decoded.encoding,
    is_truncated: true,
  })
  const next = (line: number) => `Use start_line=${line}`
  const more =
    `\n[Lines ${start_line}–${start_line + data.line_count - 1}. ${next(start_line + data.line_count)} ` +
    "to continue.]"
  const output =
    data.line_count === 0
      ? `[${path} has fewer than ${start_line} lines.]`
      : shown(decoded.text, { firstLine: start_line, next }) + more
  return success({ output, data })
}

async function readRange(workspace: Workspace, asked: ReadArguments): Promise<ToolResult> {
  const { path, start_line, end_line } = asked
  if (start_line !== undefined || end_line !== undefined) {
    await using file = await workspace.open(path)
    if (file.stat.size > FILE_LIMIT_BYTES) return await readFarRange(file, asked)
  }
  const content = await workspace.read(path)
  const decoded = decodeText(content.bytes)
  if (decoded === undefined) throw binaryFile(path)
  const whole = describe(content, { content: decoded.text, encoding: decoded.encoding, is_truncated: false })
  const { hash } = content
  const next = (line: number) => `Use start_line=${line}`
  if (start_line === undefined && end_line === undefined) {
    return success({ output: shown(decoded.text, { lineCount: whole.line_count, next }), data: { ...whole, hash } })
  }
  const total = whole.line_count
  const first = start_line ?? 1
  const last = Math.max(Math.min(end_line ?? total, total), first)
  const range = { start_line: first, end_line: end_line !== undefined && end_line < first ? end_line : last }
  const wrong = total === 0 && first === 1 ? undefined : checkRange(range, total, path)
  if (wrong !== undefined) return wrong
  const lines = splitLines(decoded.text).slice(first - 1, last)
  const text = lines.join("")
  const data = { ...whole, content: text, line_count: lines.length, is_truncated: lines.length < total, hash }
  return success({ output: shown(text, { firstLine: first, totalLines: total, next }), data })
}

/** What a model sees: a window of the text, with characters that could deceive it or a terminal made visible. */
function shown(text: string, options: WindowOptions): string {
  const window = windowOf(text, options)
  const visible = visibleControls(window)
  return visible === window ? window : `${visible}\n[Control and direction characters are shown as \\uXXXX.]`
}

function describe(
  file: Pick<OpenedFile, "shown" | "stat">,
  text: { content: string; encoding: Encoding; is_truncated: boolean },
): TextFile {
  return {
    path: file.shown,
    content: text.content,
    line_count: countLines(text.content),
    size_bytes: file.stat.size,
    modified_time: file.stat.mtimeMs / 1000,
    is_truncated: text.is_truncated,
    encoding: text.encoding,
  }
}
