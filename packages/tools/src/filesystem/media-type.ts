import { extname } from "node:path"
import { decodeText } from "@toolwright/host/text"

/** Types that a content does not tell by its first bytes, and those that look like something more general. */
const BY_EXTENSION: Record<string, string> = {
  ".svg": "image/svg+xml",
  ".html": "text/html",
  ".htm": "text/html",
  ".css": "text/css",
  ".csv": "text/csv",
  ".md": "text/markdown",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".ts": "text/plain",
  ".json": "application/json",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
}

/** The MIME type of a file: what its bytes say, then what its name says, then whether it is text. */
export async function mediaType(path: string, bytes: Uint8Array): Promise<string> {
  const byName = BY_EXTENSION[extname(path).toLowerCase()]
  const isText = decodeText(bytes) !== undefined
  if (isText && byName !== undefined) return byName
  const { fileTypeFromBuffer } = await import("file-type")
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined)
  return found?.mime ?? (isText ? "text/plain" : "application/octet-stream")
}
