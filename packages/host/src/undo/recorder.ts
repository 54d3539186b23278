import { AsyncLocalStorage } from "node:async_hooks"
import { randomBytes } from "node:crypto"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { messageOf } from "@toolwright/toolbox"
import type { ChangeRecorder, PlannedChange } from "../paths/change-recorder.ts"
import type { CallHead, ChangeLog, LogLine, Unkept } from "./change-log.ts"
import { hashOfBytes, type ContentStore } from "./content-store.ts"
import { HASH_ONLY, isKept, sameState, stateOf, statOf, type EntryState } from "./entry-state.ts"
import { whenProgramsStart } from "./program-start.ts"
import {
  lookAtTree,
  packTree,
  treeDifference,
  type Tree,
  type TreeIndex,
  type TreeLimits,
  type TreeSource,
} from "./tree.ts"

/** A path that is about to be what it was. */
export interface UndoingChange extends PlannedChange {
  readonly planned: EntryState
  /** The changes that this one takes back. */
  readonly undoes: readonly number[]
}

/** What a call left in the log. */
export interface RecordedCall {
  /** Of its entry; absent where it changed nothing. */
  readonly id?: string
  /** What it changed that cannot be taken back. */
  readonly unkept: readonly Unkept[]
}

/** Keeps what lies at paths before calls change it. */
export interface CallRecorder extends ChangeRecorder {
  changing<Value>(changes: readonly (PlannedChange | UndoingChange)[], task: () => Promise<Value>): Promise<Value>
  /**
   * Runs a call: its changes, and those of the programs that it starts unless it only reads, become one entry.
   */
  during<Value>(
    head: CallHead & { readonly readOnly?: boolean },
    task: () => Promise<Value>,
  ): Promise<{ value: Value; recorded: RecordedCall }>
}

/** What a recorder stands on. */
export interface RecorderParts {
  readonly log: ChangeLog
  readonly store: ContentStore
  readonly tree: () => TreeSource
  /** Makes the folder of the log; called before a call notes something. */
  makeFolder(): void
  /** Whether tools may read a real path. */
  isReadable(path: string): boolean
  readonly limits?: TreeLimits
  /** What is known of contents from earlier; read once, and written after it was brought up to date. */
  readonly index: { read(): TreeIndex; write(index: TreeIndex): void }
}

/** More entries of one directory are not kept when it is removed or moved. */
const MOST_BELOW = 20_000

export function createRecorder(parts: RecorderParts): CallRecorder {
  const { log, store } = parts
  const calls = new AsyncLocalStorage<Call>()
  const stamp = createStamps()
  /** Paths that calls of this process changed, with the last change of each: a program's comparison leaves them out. */
  const touched = new Map<string, { n: number; after?: EntryState }>()
  const entryId = createEntryIds()
  /** Contents that tools may not read are not kept either: they can be moved back, not made again. */
  const stateNow = (path: string): EntryState => stateOf(path, parts.isReadable(path) ? { store } : HASH_ONLY)
  let running = 0
  let index: TreeIndex | undefined

  const begin = (call: Call): void => {
    if (call.opened) return
    const { tool, callId, runId } = call.head
    const head = { tool, ...(callId === undefined ? {} : { callId }), ...(runId === undefined ? {} : { runId }) }
    parts.makeFolder()
    log.append(call.id, [{ type: "call", ...head, at: new Date().toISOString(), pid: process.pid }])
    call.opened = true
  }
  const note = (call: Call, lines: readonly LogLine[]): void => {
    begin(call)
    log.append(call.id, lines)
  }
  const noteBefore = (
    call: Call,
    changes: readonly (PlannedChange | UndoingChange)[],
  ): { n: number; path: string; before: EntryState }[] => {
    begin(call)
    const kept = changes.map(({ path }) => ({ n: stamp(), path, before: stateNow(path) }))
    const unkept = kept.filter(({ before }) => !isKept(before))
    note(
      call,
      kept.map(({ n, path, before }, at): LogLine => {
        const change = changes[at]!
        const undoing = "undoes" in change ? { planned: change.planned, undoes: change.undoes } : {}
        const { content } = change
        const written = content === undefined ? {} : { planned: plannedFile(content, before) }
        return { type: "change", n, path, before, ...written, ...undoing }
      }),
    )
    for (const { n, path } of kept) if (running > 0) touched.set(path, { n })
    if (unkept.length > 0)
      tellUnkept(
        call,
        unkept.map(({ path }) => ({ path, reason: "it was too large to be kept, or is no file" })),
      )
    return kept
  }
  const tellUnkept = (call: Call, unkept: readonly Unkept[]): void => {
    call.unkept.push(...unkept)
    try {
      note(call, [{ type: "unkept", unkept }])
    } catch {
      // The call's own record says it.
    }
  }

  const changingIn = async <Value>(
    call: Call,
    changes: readonly (PlannedChange | UndoingChange)[],
    task: () => Promise<Value>,
  ): Promise<Value> => {
    let kept: ReturnType<typeof noteBefore> = []
    try {
      kept = noteBefore(call, changes)
    } catch (thrown) {
      tellUnkept(
        call,
        changes.map(({ path }) => ({ path, reason: `nothing could be noted: ${messageOf(thrown)}` })),
      )
    }
    try {
      return await task()
    } finally {
      noteAfter(call, kept)
    }
  }
  const noteAfter = (call: Call, kept: ReturnType<typeof noteBefore>): void => {
    if (kept.length === 0) return
    try {
      const after = kept.map(({ n, path }) => [n, stateNow(path)] as const)
      note(call, [{ type: "done", after }])
      if (running > 0) for (const [at, [n, state]] of after.entries()) touched.set(kept[at]!.path, { n, after: state })
    } catch {
      // What was planned stands in the log.
    }
  }

  const beforeProgram = async (call: Call): Promise<void> => {
    call.program ??= (async () => {
      running += 1
      index ??= parts.index.read()
      begin(call)
      const at = stamp()
      const tree = await lookAtTree(parts.tree(), store, index, parts.limits)
      log.keepTree(call.id, packTree(tree))
      note(call, [{ type: "program" }])
      return { at, tree }
    })().catch((thrown: unknown) => {
      tellUnkept(call, [{ path: ".", reason: `nothing could be noted: ${messageOf(thrown)}` }])
      return undefined
    })
    await call.program
  }
  const afterProgram = async (call: Call): Promise<void> => {
    const program = await call.program
    if (call.program !== undefined) running -= 1
    if (program === undefined) return
    const after = await lookAtTree(parts.tree(), store, index!, parts.limits)
    const { changes, unkept } = treeDifference(program.tree, after)
    const own = changes.flatMap((change) => {
      const last = touched.get(change.path)
      if (last === undefined || last.n < program.at) return [change]
      // Another call changed it meanwhile, and has noted that.
      if (last.after === undefined || sameState(last.after, change.after)) return []
      return [{ ...change, before: last.after }]
    })
    const stamped = own.map((change) => ({ ...change, n: stamp() }))
    if (running > 0) for (const { path, n, after: state } of stamped) touched.set(path, { n, after: state })
    note(call, [
      ...stamped.map(({ n, path, before }): LogLine => ({ type: "change", n, path, before })),
      { type: "done", after: stamped.map(({ n, after }) => [n, after] as const) },
      { type: "program-end" },
    ])
    if (unkept.length > 0) tellUnkept(call, unkept)
    log.dropTree(call.id)
    call.changed ||= stamped.length > 0
    if (running === 0) touched.clear()
    parts.index.write(index!)
  }

  const newCall = (head: CallHead): Call => ({ id: entryId(), head, opened: false, changed: false, unkept: [] })

  return {
    below(path) {
      try {
        return entriesBelow(path)
      } catch (thrown) {
        const call = calls.getStore()
        if (call !== undefined) tellUnkept(call, [{ path, reason: messageOf(thrown) }])
        return []
      }
    },
    async changing(changes, task) {
      const call = calls.getStore() ?? newCall({ tool: "workspace" })
      call.changed = true
      return changingIn(call, changes, task)
    },
    async during(head, task) {
      const call = newCall(head)
      const prepare = head.readOnly === true ? () => Promise.resolve() : () => beforeProgram(call)
      const ending = async (): Promise<RecordedCall> => {
        await afterProgram(call).catch((thrown: unknown) =>
          tellUnkept(call, [
            { path: ".", reason: `what the program changed could not be noted: ${messageOf(thrown)}` },
          ]),
        )
        if (call.opened && !call.changed && call.unkept.length === 0) {
          log.remove(call.id)
          return { unkept: [] }
        }
        return { ...(call.opened ? { id: call.id } : {}), unkept: call.unkept }
      }
      let value
      try {
        value = await calls.run(call, () => whenProgramsStart(prepare, task))
      } catch (thrown) {
        await ending()
        throw thrown
      }
      return { value, recorded: await ending() }
    },
  }
}

function plannedFile(content: Uint8Array, before: EntryState): EntryState {
  return {
    kind: "file",
    hash: hashOfBytes(content),
    size: content.length,
    mode: before.kind === "file" ? before.mode : 0o644,
  }
}

/** A call while it runs. */
interface Call {
  readonly id: string
  readonly head: CallHead
  readonly unkept: Unkept[]
  /** Whether the log has an entry of it. */
  opened: boolean
  changed: boolean
  program?: Promise<{ at: number; tree: Tree } | undefined>
}

/** Numbers that grow, in this process and from one to the next: microseconds since 1970. */
function createStamps(): () => number {
  let last = 0
  return () => (last = Math.max(last + 1, Date.now() * 1000))
}

/** Ids that sort by time: the date and time to the millisecond, then a count and a few random characters. */
function createEntryIds(): () => string {
  let count = 0
  return () => {
    const stamp = new Date()
      .toISOString()
      .replaceAll(/[-:.Z]/g, "")
      .replace("T", "-")
    count = (count + 1) % 0x10000
    return `${stamp}-${count.toString(16).padStart(4, "0")}-${randomBytes(2).toString("hex")}`
  }
}

/** The real paths of a file or directory and of everything below it, parents first; links are not followed. */
function entriesBelow(start: string): string[] {
  const found: string[] = [start]
  const pending = statOf(start)?.isDirectory() === true ? [start] : []
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (found.length >= MOST_BELOW) throw new Error(`it holds more than ${MOST_BELOW.toLocaleString("en")} entries`)
      const path = join(folder, entry.name)
      found.push(path)
      if (entry.isDirectory()) pending.push(path)
    }
  }
  return found
}
