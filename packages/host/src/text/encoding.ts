import { isUtf8 } from "node:buffer"
import { ToolwrightError } from "@toolwright/toolbox/errors"

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "iso-8859-1"

/** A text and what is needed to write it back byte for byte. */
export interface DecodedText {
  text: string
  encoding: Encoding
  /** Whether the bytes begin with a byte-order mark; `text` does not hold it. */
  bom: boolean
}

const BINARY_PROBE_BYTES = 8192

/**
 * Whether bytes are no text: a NUL in the first 8 KiB, as `git` and `grep` decide, unless a byte-order mark announces
 * UTF-16.
 */
export function isBinary(bytes: Uint8Array): boolean {
  if (byteOrderMark(bytes)?.encoding.startsWith("utf-16")) return false
  return bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)
}

/**
 * Decodes text without guessing languages: a byte-order mark decides, then valid UTF-8, and everything else is
 * ISO-8859-1, which gives every byte a character and so can always be written back unchanged.
 *
 * @returns undefined for binary content
 */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  if (isBinary(bytes)) return undefined
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const mark = byteOrderMark(bytes)
  if (mark?.encoding === "utf-8" && isUtf8(buffer))
    return { text: buffer.toString("utf8", 3), encoding: "utf-8", bom: true }
  if (mark !== undefined && mark.encoding !== "utf-8") {
    const text = decodeUtf16(buffer.subarray(2), mark.encoding)
    return text === undefined ? undefined : { text, encoding: mark.encoding, bom: true }
  }
  if (isUtf8(buffer)) return { text: buffer.toString("utf8"), encoding: "utf-8", bom: false }
  return { text: buffer.toString("latin1"), encoding: "iso-8859-1", bom: false }
}

/**
 * Writes a text in an encoding.
 * @throws ToolwrightError `ENCODING` when ISO-8859-1 has no byte for one of its characters
 */
export function encodeText({ text, encoding, bom }: DecodedText): Buffer {
  if (encoding === "utf-8") return Buffer.from(bom ? `\ufeff${text}` : text, "utf8")
  if (encoding === "iso-8859-1") {
    const foreign = /[^\u0000-\u00ff]/u.exec(text)?.[0]
    if (foreign !== undefined) {
      throw new ToolwrightError("ENCODING", `The file is in ISO-8859-1, which has no character "${foreign}"`, {
        hint: "Use characters of that encoding, or write the whole file anew, as UTF-8.",
      })
    }
    return Buffer.from(text, "latin1")
  }
  const buffer = Buffer.from(bom ? `\ufeff${text}` : text, "utf16le")
  return encoding === "utf-16be" ? buffer.swap16() : buffer
}

function byteOrderMark(bytes: Uint8Array): { encoding: Exclude<Encoding, "iso-8859-1"> } | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: "utf-8" }
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: "utf-16le" }
  return bytes[0] === 0xfe && bytes[1] === 0xff ? { encoding: "utf-16be" } : undefined
}

/** Undefined when the bytes are no well-formed UTF-16: they could not be written back. */
function decodeUtf16(bytes: Buffer, encoding: "utf-16le" | "utf-16be"): string | undefined {
  if (bytes.length % 2 !== 0) return undefined
  const text = (encoding === "utf-16le" ? bytes : Buffer.from(bytes).swap16()).toString("utf16le")
  return text.isWellFormed() ? text : undefined
}
