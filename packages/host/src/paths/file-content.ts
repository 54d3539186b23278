import { createHash } from "node:crypto"
import type { Stats } from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { ToolwrightError } from "@toolwright/toolbox"
import { printable } from "./path-errors.ts"
import { pinFile, type Pinned } from "./pin.ts"
import type { PathPolicy } from "./policy.ts"

/** Largest file that is read whole or written, in bytes. */
export const FILE_LIMIT_BYTES = 50 * 1024 * 1024

/** An open file, checked; dispose of it. */
export interface OpenedFile extends AsyncDisposable {
  readonly handle: FileHandle
  readonly stat: Stats
  readonly shown: string
}

/** A whole file as it was at one moment. */
export interface FileContent {
  readonly bytes: Buffer
  readonly stat: Stats
  readonly shown: string
  /** First 16 hexadecimal digits of the content's SHA-256: `expected_hash` of a later change. */
  readonly hash: string
}

/** First 16 hexadecimal digits of the SHA-256 of a content. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16)
}

/** Opens a regular file for reading, checked on its descriptor. */
export async function openFile(policy: PathPolicy, asked: string): Promise<OpenedFile> {
  await using pinned = await pinFile(policy, policy.locate(asked, "read"), "read")
  const handle = await pinned.reopen()
  return { handle, stat: pinned.stat, shown: policy.show(pinned.real), [Symbol.asyncDispose]: () => handle.close() }
}

/** Reads a pinned file whole, whatever its size and wherever it lies. */
export async function readByHandle(pinned: Pinned, limit: number, asked: string): Promise<Buffer> {
  const handle = await pinned.reopen()
  try {
    return await readWhole(handle, pinned.stat, limit, asked)
  } finally {
    await handle.close()
  }
}

/** Reads to the end; the size in the status is not trusted, since a file may grow or lie about it. */
async function readWhole(handle: FileHandle, stat: Stats, limit: number, asked: string): Promise<Buffer> {
  assertSize(stat.size, limit, asked)
  let buffer = Buffer.allocUnsafe(stat.size + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
    length += bytesRead
    // A file that ends where its status says has been read; one without a size, as below /proc, is read until nothing
    // comes.
    if (bytesRead === 0 || (length === stat.size && bytesRead < buffer.length)) return buffer.subarray(0, length)
    assertSize(length, limit, asked)
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2)
      buffer.copy(larger)
      buffer = larger
    }
  }
}

const READ_LESS = "Read a part of it, by its lines."

/** @throws ToolwrightError `FILE_TOO_LARGE`, with both sizes in the message */
export function assertSize(size: number, limit: number, asked: string, hint = READ_LESS): void {
  if (size <= limit) return
  const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(bytes % (1024 * 1024) === 0 ? 0 : 1)} MB`
  throw new ToolwrightError(
    "FILE_TOO_LARGE",
    `File too large: ${printable(asked)} is ${megabytes(size)}, the limit is ${megabytes(limit)}`,
    {
      hint,
    },
  )
}
