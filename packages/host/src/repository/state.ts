import { createHash } from "node:crypto"
import { join } from "node:path"
import { entriesOf, isThere } from "../look.ts"
import type { RepositoryLayout } from "./layout.ts"
import { plainFileOrNothing } from "./plain-file.ts"

const MOST_REFS = 50_000
const PACKED_BYTES = 64 * 1024 * 1024

type Folders = Pick<RepositoryLayout, "gitDir" | "commonDir">

/** Every ref of a repository with what it says. */
export function refsOf(layout: Folders): Map<string, string> {
  const refs = new Map<string, string>()
  readPacked(refs, textOf(join(layout.commonDir, "packed-refs"), PACKED_BYTES))
  readLoose(refs, layout)
  readTables(refs, layout)
  return refs
}

/** What a single ref says; undefined where it is not there, or kept in a way that only git reads. */
export function refAt({ commonDir }: Folders, name: string): string | undefined {
  const loose = textOf(join(commonDir, name), 4096).trim()
  if (loose !== "") return loose
  const packed = textOf(join(commonDir, "packed-refs"), PACKED_BYTES)
  const end = packed.indexOf(` ${name}\n`)
  return end === -1 ? undefined : packed.slice(packed.lastIndexOf("\n", end) + 1, end)
}

/** Whether refs lie in files of their own or in one list, which is what `refAt` reads. */
export function keepsRefsInFiles({ commonDir }: Folders): boolean {
  return !isThere(join(commonDir, "reftable"))
}

/** The commit that HEAD stands at; undefined where it has none yet, or where git alone can tell. */
export function headCommit(layout: Folders): string | undefined {
  const head = textOf(join(layout.gitDir, "HEAD"), 4096).trim()
  const branch = /^ref: (refs\/heads\/\S+)$/u.exec(head)?.[1]
  const id = branch === undefined ? head : keepsRefsInFiles(layout) ? refAt(layout, branch) : undefined
  return id !== undefined && ID.test(id) ? id : undefined
}

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u

function readPacked(refs: Map<string, string>, text: string): void {
  for (const line of text.split("\n")) {
    const [id, name] = line.split(" ")
    if (name !== undefined && /^[0-9a-f]{40,64}$/u.test(id!)) refs.set(name, id!)
  }
}

function readLoose(refs: Map<string, string>, { gitDir, commonDir }: Folders): void {
  const pending = [...new Set([commonDir, gitDir])].map((folder) => ({ folder, name: "refs" }))
  for (let at = pending.pop(); at !== undefined && refs.size < MOST_REFS; at = pending.pop()) {
    const { folder, name } = at
    for (const entry of entriesOf(join(folder, name))) {
      const below = `${name}/${entry.name}`
      if (entry.isDirectory()) pending.push({ folder, name: below })
      else if (!entry.name.endsWith(".lock")) refs.set(below, textOf(join(folder, below), 4096).trim())
    }
  }
}

/**
 * The other way to keep refs (`extensions.refStorage = reftable`): binary tables, of which the names and sizes count.
 */
function readTables(refs: Map<string, string>, { commonDir }: Folders): void {
  const list = textOf(join(commonDir, "reftable/tables.list"), 64 * 1024)
  if (list !== "") refs.set("reftable", createHash("sha256").update(list).digest("hex"))
}

function textOf(path: string, limit: number): string {
  return plainFileOrNothing(path, limit)?.toString("latin1") ?? ""
}
