import { mkdtempSync, rmSync } from "node:fs"
import { open } from "node:fs/promises"
import { randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"

let folder: string | undefined
const files = new Map<string, string>()

/**
 * A new log file in this process's private folder, which is outside every workspace (so that nothing a tool runs can put
 * a link in its place) and is removed when the process ends.
 */
export function newLogFile(stream: string): string {
  if (folder === undefined) {
    const created = mkdtempSync(join(tmpdir(), "toolwright-logs-"))
    folder = created
    process.once("exit", () => rmSync(created, { recursive: true, force: true }))
  }
  const handle = `log_${randomBytes(6).toString("hex")}`
  const file = join(folder, `${handle}.${stream}`)
  files.set(handle, file)
  return file
}

/** The handle by which a model asks for a log file. */
export function handleOf(file: string): string {
  for (const [handle, path] of files) if (path === file) return handle
  return ""
}

/** A page of a log: `limit` bytes from `offset`. `undefined` when there is no such log. */
export async function readLog(
  handle: string,
  offset: number,
  limit: number,
): Promise<{ text: string; nextOffset: number | null; totalBytes: number } | undefined> {
  const path = files.get(handle)
  if (path === undefined) return undefined
  await using file = await open(path, "r")
  const totalBytes = (await file.stat()).size
  const { bytesRead, buffer } = await file.read(Buffer.alloc(limit), 0, limit, offset)
  const end = offset + bytesRead
  return { text: buffer.subarray(0, bytesRead).toString("utf8"), nextOffset: end < totalBytes ? end : null, totalBytes }
}
