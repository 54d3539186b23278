import type { OpenedFile } from "@toolwright/host/paths"
import { isBinary, type Encoding } from "@toolwright/host/text"

/** The bytes of some lines at one end of a file. */
export interface PartialRead {
  bytes: Buffer
  /** Whether the lines did not fit into the limit. */
  cut: boolean
  /** Whether the file, as far as it was seen, is no text. */
  binary: boolean
  /** The encoding that the beginning of the file announces, where the part itself cannot tell. */
  encoding?: Encoding
}

const CHUNK_BYTES = 64 * 1024
const NEWLINE = 0x0a

/** Reads the first `lines` lines, chunk by chunk, holding no more than what is returned. At most `limit` bytes. */
export async function readHead(
  file: OpenedFile & { offset?: number },
  lines: number,
  limit: number,
): Promise<PartialRead> {
  const wide = await wideEncoding(file)
  if (lines === 0) return { bytes: Buffer.alloc(0), cut: false, binary: false, ...announced(wide) }
  const chunks: Buffer[] = []
  let size = 0
  let missing = lines
  const start = file.offset ?? 0
  while (size < limit) {
    const chunk = await readAt(file, start + size, Math.min(CHUNK_BYTES, limit - size))
    if (chunk.length === 0) break
    if (size === 0 && wide === undefined && isBinary(chunk)) return { bytes: chunk, cut: false, binary: true }
    const end = endAfterNewlines(chunk, missing, wide, start + size)
    missing -= end.newlines
    chunks.push(chunk.subarray(0, end.offset))
    size += end.offset
    if (missing === 0) break
  }
  const cut = missing > 0 && size >= limit
  const bytes = Buffer.concat(chunks)
  if (start > 0 && wide !== undefined) return withMark([bytes], wide)
  return { bytes: cut ? wholeCharacters(bytes) : bytes, cut, binary: false, ...announced(wide) }
}

/**
 * Reads the last `lines` lines, backwards from the end. A last line without a line ending counts as one. At most
 * `limit` bytes.
 */
export async function readTail(file: OpenedFile, lines: number, limit: number): Promise<PartialRead> {
  const wide = await wideEncoding(file)
  const start = await readAt(file, 0, 8192)
  if (isBinary(start)) return { bytes: start, cut: false, binary: true }
  if (lines === 0) return { bytes: Buffer.alloc(0), cut: false, binary: false, ...announced(wide) }
  const { size: total } = await file.handle.stat()
  const chunks: Buffer[] = []
  let position = total
  let missing = lines + 1
  while (position > 0 && total - position < limit) {
    const length = Math.min(CHUNK_BYTES, position, limit - (total - position))
    const chunk = await readAt(file, position - length, length)
    if (chunk.length === 0) break
    position -= length
    const found = startAfterNewlines(chunk, missing, wide, position, total)
    missing -= found.newlines
    chunks.unshift(chunk.subarray(found.offset))
    if (missing === 0) return withMark(chunks, wide)
  }
  const bytes = Buffer.concat(chunks)
  const cut = position > 0
  return { bytes: cut ? bytes.subarray(continuationBytes(bytes)) : bytes, cut, binary: false, ...announced(wide) }
}

/**
 * Reads lines from the middle of a file of any size, `first` and `last` counted from 1 and included. At most `limit`
 * bytes.
 * @returns no bytes when the file ends before `first`
 */
export async function readLineRange(
  file: OpenedFile,
  first: number,
  last: number,
  limit: number,
): Promise<PartialRead> {
  const wide = await wideEncoding(file)
  return readHead({ ...file, offset: await skipLines(file, first - 1, wide) }, last - first + 1, limit)
}

/** Where the line after so many lines begins. */
async function skipLines(file: OpenedFile, lines: number, wide: WideEncoding): Promise<number> {
  let missing = lines
  let position = 0
  while (missing > 0) {
    const chunk = await readAt(file, position, CHUNK_BYTES)
    if (chunk.length === 0) break
    const end = endAfterNewlines(chunk, missing, wide, position)
    missing -= end.newlines
    position += end.offset
  }
  return position
}

type WideEncoding = "utf-16le" | "utf-16be" | undefined

/** UTF-16 is read by its two-byte line endings, and a part of it needs the mark in front to be recognised. */
async function wideEncoding(file: OpenedFile): Promise<WideEncoding> {
  const mark = await readAt(file, 0, 2)
  if (mark[0] === 0xff && mark[1] === 0xfe) return "utf-16le"
  return mark[0] === 0xfe && mark[1] === 0xff ? "utf-16be" : undefined
}

function announced(wide: WideEncoding): { encoding?: Encoding } {
  return wide === undefined ? {} : { encoding: wide }
}

function withMark(chunks: Buffer[], wide: WideEncoding): PartialRead {
  const mark = wide === undefined ? [] : [Buffer.from(wide === "utf-16le" ? [0xff, 0xfe] : [0xfe, 0xff])]
  return { bytes: Buffer.concat([...mark, ...chunks]), cut: false, binary: false, ...announced(wide) }
}

async function readAt(file: OpenedFile, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.handle.read(buffer, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

/** Whether the newline byte at this offset of the file ends a line, and where the line ends then. */
function lineEnd(chunk: Buffer, at: number, base: number, wide: WideEncoding): number | undefined {
  if (wide === undefined) return at + 1
  const even = (base + at) % 2 === 0
  if (wide === "utf-16le") return even && chunk[at + 1] === 0 ? at + 2 : undefined
  return !even && at > 0 && chunk[at - 1] === 0 ? at + 1 : undefined
}

function endAfterNewlines(
  chunk: Buffer,
  wanted: number,
  wide: WideEncoding,
  base: number,
): { offset: number; newlines: number } {
  let newlines = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
    const end = lineEnd(chunk, at, base, wide)
    if (end === undefined) continue
    newlines += 1
    if (newlines === wanted) return { offset: end, newlines }
  }
  return { offset: chunk.length, newlines }
}

/**
 * Where the lines after the wanted newline (counted from the end) begin; the one that ends the file counts as the
 * first.
 */
function startAfterNewlines(
  chunk: Buffer,
  wanted: number,
  wide: WideEncoding,
  base: number,
  total: number,
): { offset: number; newlines: number } {
  let newlines = 0
  if (base + chunk.length === total) {
    const last = wide === "utf-16le" ? chunk.length - 2 : chunk.length - 1
    const closed = chunk[last] === NEWLINE && lineEnd(chunk, last, base, wide) !== undefined
    if (!closed) newlines += 1
  }
  for (let at = chunk.lastIndexOf(NEWLINE); at !== -1; at = at === 0 ? -1 : chunk.lastIndexOf(NEWLINE, at - 1)) {
    const end = lineEnd(chunk, at, base, wide)
    if (end === undefined) continue
    newlines += 1
    if (newlines === wanted) return { offset: end, newlines }
  }
  return { offset: 0, newlines }
}

/** Without a character that the limit cut in two. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!
    if ((byte & 0xc0) !== 0x80) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
      return needed > back ? bytes.subarray(0, bytes.length - back) : bytes
    }
  }
  return bytes
}

/** How many bytes at the beginning belong to a character before it. */
function continuationBytes(bytes: Buffer): number {
  let count = 0
  while (count < 3 && count < bytes.length && (bytes[count]! & 0xc0) === 0x80) count += 1
  return count
}
