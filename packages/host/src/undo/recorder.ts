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
import type { NameSeal } from "./sealed-names.ts"
import {
  changedUnseen,
  lookAtTree,
  packTree,
  treeDifference,
  type Tree,
  type TreeChange,
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
  readonly names: NameSeal
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

/** Makes a recorder; its state lasts as long as its workspace. */
export function createRecorder(parts: RecorderParts): CallRecorder {
  return new Recorder(parts)
}

/** What was kept of a path before its change. */
interface Kept {
  readonly n: number
  readonly path: string
  readonly before: EntryState
}

class Recorder implements CallRecorder {
  readonly #parts: RecorderParts
  readonly #calls = new AsyncLocalStorage<Call>()
  readonly #stamp = createStamps()
  readonly #entryId = createEntryIds()
  /** While programs run: what calls changed meanwhile, with the last change of each path. */
  readonly #touched = new Map<string, { n: number; after?: EntryState }>()
  #programs = 0
  #index: TreeIndex | undefined

  constructor(parts: RecorderParts) {
    this.#parts = parts
  }

  below(path: string): readonly string[] {
    try {
      return entriesBelow(path)
    } catch (thrown) {
      const call = this.#calls.getStore()
      if (call !== undefined) this.#tellUnkept(call, [{ path, reason: messageOf(thrown) }])
      return []
    }
  }

  async changing<Value>(
    changes: readonly (PlannedChange | UndoingChange)[],
    task: () => Promise<Value>,
  ): Promise<Value> {
    const call = this.#calls.getStore() ?? this.#newCall({ tool: "workspace" })
    call.changed = true
    const kept = this.#noteBefore(call, changes)
    try {
      return await task()
    } finally {
      this.#noteAfter(call, kept)
    }
  }

  async during<Value>(
    head: CallHead & { readonly readOnly?: boolean },
    task: () => Promise<Value>,
  ): Promise<{ value: Value; recorded: RecordedCall }> {
    const call = this.#newCall(head)
    const prepare = head.readOnly === true ? () => Promise.resolve() : () => this.#beforeProgram(call)
    let value
    try {
      value = await this.#calls.run(call, () => whenProgramsStart(prepare, task))
    } catch (thrown) {
      await this.#end(call)
      throw thrown
    }
    return { value, recorded: await this.#end(call) }
  }

  #newCall(head: CallHead): Call {
    const nameIt = this.#entryId()
    let id: string | undefined
    return {
      // Most calls change nothing and never need one.
      get id() {
        return (id ??= nameIt())
      },
      head,
      opened: false,
      changed: false,
      unkept: [],
    }
  }

  async #end(call: Call): Promise<RecordedCall> {
    const { log } = this.#parts
    await this.#afterProgram(call).catch((thrown: unknown) =>
      this.#tellUnkept(call, [
        { path: ".", reason: `what the program changed could not be noted: ${messageOf(thrown)}` },
      ]),
    )
    if (call.opened && !call.changed && call.unkept.length === 0) {
      log.remove(call.id)
      return { unkept: [] }
    }
    return { ...(call.opened ? { id: call.id } : {}), unkept: call.unkept }
  }

  #begin(call: Call): void {
    if (call.opened) return
    const { tool, callId, runId } = call.head
    const head = { tool, ...(callId === undefined ? {} : { callId }), ...(runId === undefined ? {} : { runId }) }
    this.#parts.makeFolder()
    this.#parts.log.append(call.id, [{ type: "call", ...head, at: new Date().toISOString(), pid: process.pid }])
    call.opened = true
  }

  #note(call: Call, lines: readonly LogLine[]): void {
    this.#begin(call)
    this.#parts.log.append(call.id, lines)
  }

  #tellUnkept(call: Call, unkept: readonly Unkept[]): void {
    if (unkept.length === 0) return
    call.unkept.push(...unkept)
    try {
      this.#note(call, [{ type: "unkept", unkept }])
    } catch {
      // The call's own record says it.
    }
  }

  /** Contents that tools may not read are not kept either: they can be moved back, not made again. */
  #stateNow(path: string): EntryState {
    return stateOf(path, this.#parts.isReadable(path) ? { store: this.#parts.store } : HASH_ONLY)
  }

  /** @returns what was noted: nothing where nothing could be, which the call then says */
  #noteBefore(call: Call, changes: readonly (PlannedChange | UndoingChange)[]): readonly Kept[] {
    try {
      this.#begin(call)
      const kept = changes.map(({ path }) => ({ n: this.#stamp(), path, before: this.#stateNow(path) }))
      this.#note(
        call,
        kept.map((each, at) => changeLine(each, changes[at]!)),
      )
      if (this.#programs > 0) for (const { n, path } of kept) this.#touched.set(path, { n })
      const reason = "it was too large to be kept, or is no file"
      this.#tellUnkept(
        call,
        kept.filter(({ before }) => !isKept(before)).map(({ path }) => ({ path, reason })),
      )
      return kept
    } catch (thrown) {
      const reason = `nothing could be noted: ${messageOf(thrown)}`
      this.#tellUnkept(
        call,
        changes.map(({ path }) => ({ path, reason })),
      )
      return []
    }
  }

  #noteAfter(call: Call, kept: readonly Kept[]): void {
    if (kept.length === 0) return
    try {
      const after = kept.map(({ n, path }) => [n, this.#stateNow(path)] as const)
      this.#note(call, [{ type: "done", after }])
      if (this.#programs === 0) return
      for (const [at, [n, state]] of after.entries()) this.#touched.set(kept[at]!.path, { n, after: state })
    } catch {
      // What was planned stands in the log.
    }
  }

  async #beforeProgram(call: Call): Promise<void> {
    call.program ??= this.#lookBefore(call).catch((thrown: unknown) => {
      this.#tellUnkept(call, [{ path: ".", reason: `nothing could be noted: ${messageOf(thrown)}` }])
      return undefined
    })
    await call.program
  }

  async #lookBefore(call: Call): Promise<{ at: number; since: number; tree: Tree }> {
    const { log, store, names, tree, index, limits } = this.#parts
    this.#programs += 1
    this.#index ??= index.read()
    this.#begin(call)
    const at = this.#stamp()
    const before = await lookAtTree(tree(), store, this.#index, limits)
    log.keepTree(call.id, packTree(before, names))
    this.#note(call, [{ type: "program" }])
    return { at, since: Date.now(), tree: before }
  }

  async #afterProgram(call: Call): Promise<void> {
    const { log, store, tree, index, limits } = this.#parts
    const program = await call.program
    if (call.program !== undefined) this.#programs -= 1
    if (program === undefined) return
    const after = await lookAtTree(tree(), store, this.#index!, limits)
    const { changes, unkept } = treeDifference(program.tree, after)
    const own = this.#withoutOthers(changes, program.at).map((change) => ({ ...change, n: this.#stamp() }))
    this.#note(call, [
      ...own.map(({ n, path, before }): LogLine => ({ type: "change", n, path, before })),
      { type: "done", after: own.map(({ n, after: state }) => [n, state] as const) },
      { type: "program-end" },
    ])
    this.#tellUnkept(call, [...unkept, ...(await changedUnseen(program.tree, after, program.since))])
    log.dropTree(call.id)
    call.changed ||= own.length > 0
    if (this.#programs === 0) this.#touched.clear()
    else for (const { path, n, after: state } of own) this.#touched.set(path, { n, after: state })
    index.write(this.#index!)
  }

  /** The changes that a program made: not those that other calls made meanwhile, and have noted. */
  #withoutOthers(changes: readonly TreeChange[], since: number): TreeChange[] {
    return changes.flatMap((change) => {
      const last = this.#touched.get(change.path)
      if (last === undefined || last.n < since) return [change]
      if (last.after === undefined || sameState(last.after, change.after)) return []
      return [{ ...change, before: last.after }]
    })
  }
}

function changeLine({ n, path, before }: Kept, change: PlannedChange | UndoingChange): LogLine {
  const undoing = "undoes" in change ? { planned: change.planned, undoes: change.undoes } : {}
  const { content } = change
  const written = content === undefined ? {} : { planned: plannedFile(content, before) }
  return { type: "change", n, path, before, ...written, ...undoing }
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
  program?: Promise<{ at: number; since: number; tree: Tree } | undefined>
}

/** Numbers that grow, in this process and from one to the next: microseconds since 1970. */
function createStamps(): () => number {
  let last = 0
  return () => (last = Math.max(last + 1, Date.now() * 1000))
}

/**
 * Ids that sort by time: the date and time to the millisecond, then a count and a few random characters. Time and count
 * are taken at once, the text is made when it is asked for.
 */
function createEntryIds(): () => () => string {
  let count = 0
  return () => {
    const at = Date.now()
    count = (count + 1) % 0x10000
    const own = count
    return () => {
      const stamp = new Date(at)
        .toISOString()
        .replaceAll(/[-:.Z]/g, "")
        .replace("T", "-")
      return `${stamp}-${own.toString(16).padStart(4, "0")}-${randomBytes(2).toString("hex")}`
    }
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
