import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  type BigIntStats,
} from "node:fs"
import { descriptorPath, HAS_DESCRIPTOR_PATHS } from "../paths/descriptors.ts"
import { FILE_LIMIT_BYTES } from "../paths/file-content.ts"
import { hashOfBytes, type ContentStore } from "./content-store.ts"

/**
 * What lies at a path, as far as it can be brought back. `hash` is the SHA-256 of a file's content, which the content
 * store has; it is empty where the content was not kept.
 */
export type EntryState =
  | { readonly kind: "none" }
  | { readonly kind: "file"; readonly hash: string; readonly size: number; readonly mode: number }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "other" }

export const NONE: EntryState = { kind: "none" }

/** Whether two states are the same content, mode and target. A content that was not kept is like no other. */
export function sameState(one: EntryState, other: EntryState): boolean {
  switch (one.kind) {
    case "none":
      return other.kind === "none"
    case "file":
      return other.kind === "file" && one.hash === other.hash && one.hash !== "" && one.mode === other.mode
    case "link":
      return other.kind === "link" && one.target === other.target
    case "directory":
      return other.kind === "directory" && one.mode === other.mode
    case "other":
      return false
  }
}

/** Whether a state can be brought back. */
export function isKept(state: EntryState): boolean {
  return state.kind !== "other" && (state.kind !== "file" || state.hash !== "")
}

/** Identifies a state of a file on the disk: any write, replacement or change of mode gives another one. */
export function statMark(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mode}:${stat.mtimeNs}:${stat.ctimeNs}`
}

/** Undefined where there is nothing, or something above it is no directory by now. */
export function statOf(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOTDIR") return undefined
    throw thrown
  }
}

/** Where contents go, and how large they may be. */
export interface Keeping {
  readonly store: Pick<ContentStore, "put">
  /** Largest file whose content is looked at, in bytes; the largest that tools write unless given. */
  readonly limit?: number
}

/** For contents that are nobody's to keep, such as secrets: their hash alone is known. */
export const HASH_ONLY: Keeping = { store: { put: hashOfBytes } }

/** The state of what lies at a real path; a file's content goes to the store. */
export function stateOf(path: string, { store, limit = FILE_LIMIT_BYTES }: Keeping, stat = statOf(path)): EntryState {
  if (stat === undefined) return NONE
  const mode = Number(stat.mode) & 0o7777
  if (stat.isDirectory()) return { kind: "directory", mode }
  if (stat.isSymbolicLink()) return { kind: "link", target: readlinkSync(path) }
  if (!stat.isFile()) return { kind: "other" }
  const bytes = Number(stat.size) > limit ? undefined : readPlainFile(path)
  if (bytes === undefined) return { kind: "file", hash: "", size: Number(stat.size), mode }
  return { kind: "file", hash: store.put(bytes), size: bytes.length, mode }
}

/** The content of the very file at a real path: no link in its place or above it is followed, nothing is waited for. */
export function readPlainFile(path: string): Buffer | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    if (!fstatSync(descriptor).isFile()) return undefined
    if (HAS_DESCRIPTOR_PATHS && readlinkSync(descriptorPath(descriptor)) !== path) return undefined
    return readFileSync(descriptor)
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
