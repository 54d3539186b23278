import { createHmac } from "node:crypto"
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { isInside } from "../paths/roots.ts"
import { makeStateFolder, readStateFile, stateTextOf, writeStateFile } from "../paths/state-files.ts"
import type { EntryState } from "./entry-state.ts"
import { withTarget, type NameSeal } from "./sealed-names.ts"

/** Which call changed something. */
export interface CallHead {
  readonly tool: string
  readonly callId?: string
  readonly runId?: string
}

/** One path that a call changed. `n` orders all changes of all calls. */
export interface Change {
  readonly n: number
  /** Real path; in the file relative to the first root where it lies in it. */
  readonly path: string
  readonly before: EntryState
  /** What lay there afterwards; what was to lie there when nobody could look any more; undefined when nobody knows. */
  readonly after?: EntryState
  /** Whether the change was seen to be done. */
  readonly done: boolean
  /** Of the taking back of changes: which ones. */
  readonly undoes?: readonly number[]
}

/** All that one call changed. */
export interface ChangeEntry extends CallHead {
  readonly id: string
  /** ISO 8601. */
  readonly at: string
  readonly pid: number
  readonly changes: readonly Change[]
  /** What changed and cannot be brought back. */
  readonly unkept: readonly Unkept[]
  /** Whether it ran a program whose end nobody saw; `treeBefore` of the log has the tree as it was before. */
  readonly openProgram: boolean
}

export interface Unkept {
  readonly path: string
  readonly reason: string
}

/** What stands in a line of an entry's file. */
export type LogLine =
  | (CallHead & { readonly type: "call"; readonly at: string; readonly pid: number; readonly mark?: string })
  | {
      readonly type: "change"
      readonly n: number
      readonly path: string
      readonly before: EntryState
      readonly planned?: EntryState
      readonly undoes?: readonly number[]
    }
  | { readonly type: "done"; readonly after: readonly (readonly [n: number, state: EntryState])[] }
  | { readonly type: "program" }
  | { readonly type: "program-end" }
  | { readonly type: "unkept"; readonly unkept: readonly Unkept[] }

const LARGEST_LOG = 64 * 1024 * 1024
const ENTRY = /^(\d{8}-\d{9}-[0-9a-f]{4}-[0-9a-f]{4})\.jsonl$/u

/** The files of the log: one per call, each line written before what it speaks of happens. */
export interface ChangeLog {
  append(id: string, lines: readonly LogLine[]): void
  /** All entries of this user's, oldest first. Lines that were cut by a crash are left out. */
  read(): ChangeEntry[]
  /** How many entries bear no mark of this user's: they came with the folder. */
  foreign(): number
  remove(id: string): void
  /** Keeps a tree for as long as a program runs. */
  keepTree(id: string, tree: Uint8Array): void
  treeBefore(id: string): Buffer | undefined
  dropTree(id: string): void
}

/**
 * @param root the folder that paths are written relative to, so that a workspace may be moved with its log
 * @param key what entries are marked with as this user's; without one all count as theirs
 */
export function createChangeLog(
  folder: () => string,
  root: string,
  names: NameSeal,
  key?: () => Uint8Array | undefined,
): ChangeLog {
  const marked = (id: string, line: LogLine): LogLine => {
    const owner = line.type === "call" ? key?.() : undefined
    return line.type === "call" && owner !== undefined ? { ...line, mark: markOf(id, line, owner) } : line
  }
  const texts = function* (): Iterable<{ id: string; text: string; own: boolean }> {
    const owner = key?.()
    const ids = namesIn(join(folder(), "log")).flatMap((name) => ENTRY.exec(name)?.[1] ?? [])
    for (const id of ids.sort()) {
      const text = stateTextOf(place(id), { limit: LARGEST_LOG }) ?? ""
      const [head] = linesOf(text.slice(0, text.indexOf("\n") + 1))
      const own = owner === undefined || (head?.type === "call" && head.mark === markOf(id, head, owner))
      yield { id, text, own }
    }
  }
  const place = (id: string): string => join(folder(), "log", `${id}.jsonl`)
  const tree = (id: string): string => join(folder(), "trees", `${id}.json`)
  return {
    append(id, lines) {
      makeStateFolder(folder(), "log")
      const relativeTo = (line: LogLine): LogLine =>
        withPaths(marked(id, line), (path) => names.seal(shorter(path, root)), names.seal)
      const text = lines.map((line) => `${JSON.stringify(relativeTo(line))}\n`).join("")
      writeStateFile(place(id), text, { how: "append", mode: 0o600 })
    },
    read: () => [...texts()].flatMap(({ id, text, own }) => (own ? entryOf(id, text, { root, names }) : [])),
    foreign: () => [...texts()].filter(({ own }) => !own).length,
    remove: (id) => {
      rmSync(place(id), { force: true })
      rmSync(tree(id), { force: true })
    },
    keepTree(id, bytes) {
      makeStateFolder(folder(), "trees")
      writeFileSync(tree(id), bytes, { flag: "wx", mode: 0o600 })
    },
    treeBefore: (id) => readStateFile(tree(id), { limit: LARGEST_LOG }),
    dropTree: (id) => rmSync(tree(id), { force: true }),
  }
}

/** Says who wrote an entry: what stands in its first line, by a key that no workspace holds. */
function markOf(
  id: string,
  { tool, callId, runId, at, pid }: Extract<LogLine, { type: "call" }>,
  key: Uint8Array,
): string {
  const said = JSON.stringify([id, tool, callId ?? null, runId ?? null, at, pid])
  return createHmac("sha256", key).update(said).digest("hex")
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** @returns nothing where the first line is not whole */
function entryOf(id: string, text: string, { root, names }: { root: string; names: NameSeal }): ChangeEntry[] {
  let head: Extract<LogLine, { type: "call" }> | undefined
  let openProgram = false
  const changes = new Map<number, Change>()
  const unkept: Unkept[] = []
  for (const written of linesOf(text)) {
    const line = withPaths(written, (path) => resolve(root, names.open(path)), names.open)
    if (line.type === "call") head = line
    else if (line.type === "change") changes.set(line.n, changeOf(line))
    else if (line.type === "program") openProgram = true
    else if (line.type === "program-end") openProgram = false
    else if (line.type === "unkept") unkept.push(...line.unkept)
    else {
      for (const [n, after] of line.after) {
        const change = changes.get(n)
        if (change !== undefined) changes.set(n, { ...change, after, done: true })
      }
    }
  }
  if (head === undefined) return []
  const { type: _type, mark: _mark, ...rest } = head
  return [{ ...rest, id, changes: [...changes.values()], unkept, openProgram }]
}

function changeOf(line: Extract<LogLine, { type: "change" }>): Change {
  const { n, path, before, planned, undoes } = line
  return {
    n,
    path,
    before,
    done: false,
    ...(planned === undefined ? {} : { after: planned }),
    ...(undoes === undefined ? {} : { undoes }),
  }
}

/** @param path changes what a line speaks of; `name` what is beside it: targets of links, and reasons */
function withPaths(line: LogLine, path: (path: string) => string, name: (text: string) => string): LogLine {
  if (line.type === "change") {
    const { planned } = line
    const before = withTarget(line.before, name)
    return {
      ...line,
      path: path(line.path),
      before,
      ...(planned === undefined ? {} : { planned: withTarget(planned, name) }),
    }
  }
  if (line.type === "done") return { ...line, after: line.after.map(([n, state]) => [n, withTarget(state, name)]) }
  if (line.type !== "unkept") return line
  return { ...line, unkept: line.unkept.map((each) => ({ path: path(each.path), reason: name(each.reason) })) }
}

function shorter(path: string, root: string): string {
  return isInside(root, path) ? relative(root, path) || "." : path
}

function linesOf(text: string): LogLine[] {
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as LogLine]
    } catch {
      // The last line of a killed process may be cut.
      return []
    }
  })
}
