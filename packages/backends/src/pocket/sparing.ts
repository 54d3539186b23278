import { lstatSync } from "node:fs"
import { resolve } from "node:path"
import type { PocketCall } from "./call.ts"
import { WRITING_TOOL } from "./tools.ts"

/** Names that are tried for a file that is to stand beside another. */
const MOST_NAMES = 50

/**
 * Readings with one that spares what is there beside each that would write over a file: the same text under a name that
 * is free. Those that write over come last.
 */
export function sparing(readings: readonly PocketCall[], root: string | undefined): PocketCall[] {
  if (root === undefined) return [...readings]
  const kept: PocketCall[] = []
  const last: PocketCall[] = []
  for (const reading of readings) {
    const { path } = reading.arguments
    if (reading.name !== WRITING_TOOL || typeof path !== "string" || !isThere(root, path)) {
      kept.push(reading)
      continue
    }
    const free = freeName(root, path)
    if (free !== undefined) kept.push({ ...reading, arguments: { ...reading.arguments, path: free } })
    last.push(reading)
  }
  return [...kept, ...last]
}

/** `notes-2.txt` beside `notes.txt`. */
function freeName(root: string, path: string): string | undefined {
  const [, stem = "", ending = ""] = /^(.*?)(\.[^./]*)?$/.exec(path) ?? []
  // What begins with a dot has no ending: that is its name.
  const [name, rest] = /(?:^|\/)$/.test(stem) ? [path, ""] : [stem, ending]
  for (let number = 2; number < MOST_NAMES; number++)
    if (!isThere(root, `${name}-${number}${rest}`)) return `${name}-${number}${rest}`
  return undefined
}

function isThere(root: string, path: string): boolean {
  return lstatSync(resolve(root, path), { throwIfNoEntry: false }) !== undefined
}
