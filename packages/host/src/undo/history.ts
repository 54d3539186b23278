import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { createPathPolicy, type PathPolicy } from "../paths/policy.ts"
import { isInside } from "../paths/roots.ts"
import { readStateFile, writeStateFile } from "../paths/state-files.ts"
import { PREFIX, SUFFIX } from "../paths/temporary-name.ts"
import { createChangeLog, type ChangeLog, type ChangeEntry, type Unkept } from "./change-log.ts"
import { createContentStore, type ContentStore } from "./content-store.ts"
import { describeChange, describeDone } from "./difference.ts"
import { HASH_ONLY, stateOf } from "./entry-state.ts"
import { changesByPath, changesInEffect } from "./in-effect.ts"
import { outcomeOf, type InterruptedOutcome } from "./interrupted.ts"
import { closeOpenPrograms } from "./open-programs.ts"
import { planUndo, type RefusedPath, type UndoPlan } from "./plan-undo.ts"
import { isPruneDue, prune, type Retention } from "./prune.ts"
import { createRecorder, type CallRecorder } from "./recorder.ts"
import { restore } from "./restore.ts"
import { createNameSeal, type NameSeal } from "./sealed-names.ts"
import { TREE_LIMITS, type TreeIndex, type TreeLimits, type TreeSource } from "./tree.ts"

/** Where a history lies and how much it keeps. */
export interface HistoryConfig {
  /** Its folder. */
  folder(): string
  /** Makes the folder, this user's own; called before a call notes something. */
  makeFolder(): void
  /** What entries are marked with as this user's, so that those that came with a folder are told from them. */
  key?(): Uint8Array | undefined
  /** Takes secrets out of text: names that hold one are sealed with the key. */
  redact?(text: string): string
  /** 30 days and 512 MB unless given. */
  readonly retention?: Partial<Retention>
  /** How much of the tree is kept before a program runs. */
  readonly limits?: Partial<TreeLimits>
}

/** What can be taken back at once: the calls of a run, or one call. */
export interface HistoryItem {
  /** The run's id, or the entry's. */
  readonly id: string
  readonly kind: "run" | "call"
  /** ISO 8601, of its first change. */
  readonly at: string
  /** Names of the tools that changed something, in order, each once. */
  readonly tools: readonly string[]
  readonly entries: readonly ChangeEntry[]
  /** Paths that it changed. */
  readonly paths: readonly string[]
  readonly state: "in effect" | "taken back" | "taken back in part"
  readonly unkept: readonly Unkept[]
}

/** What taking back an item would do, with the lines that change. */
export interface PlannedUndo extends UndoPlan {
  readonly item: HistoryItem
  readonly described: readonly { line: string; diff: string }[]
}

/** What was taken back. */
export interface DoneUndo {
  /** The entry that takes this back in turn; absent where nothing was changed. */
  readonly id?: string
  readonly restored: readonly string[]
  readonly refused: readonly RefusedPath[]
}

/** The changes of all calls in a workspace, kept so that they can be taken back. */
export interface ChangeHistory extends CallRecorder {
  /** What was changed, newest first. */
  list(): Promise<HistoryItem[]>
  /** How many entries lie here that are not this user's, and are left out of everything. */
  foreign(): number
  /**
   * What taking back an item would do; nothing is changed.
   *
   * @param id of a run, an entry or a call, or its beginning; the newest item that is in effect unless given
   * @throws ToolwrightError `NOTHING_TO_UNDO`, `UNKNOWN_CHANGE`, `AMBIGUOUS_CHANGE`
   */
  plan(id?: string): Promise<PlannedUndo>
  /**
   * The same for several items, taken back one after another, as one that is called `id`; what changed nothing is none.
   */
  planAll(id: string, items: readonly string[]): Promise<PlannedUndo>
  /**
   * What an item changed, path by path, with the lines that differ where their text is still kept; nothing for an id
   * that changed nothing.
   */
  differences(id: string): Promise<{ line: string; diff: string }[]>
  /** What became of a call whose process died; undefined where it cannot be told. */
  outcome(call: { readonly runId: string; readonly callId: string }): Promise<InterruptedOutcome | undefined>
  /**
   * Takes an item back, path by path: a path that was changed since is left alone. It is noted as a call is, so that it
   * can be taken back in turn. Same errors.
   *
   * @param record the run on whose record it stands, by which it is taken back in turn
   */
  undo(id?: string, record?: string): Promise<DoneUndo>
}

const RETENTION: Retention = { days: 30, bytes: 512 * 1024 * 1024 }

/** @param policy the workspace's own path rules */
export function createHistory(config: HistoryConfig, policy: PathPolicy): ChangeHistory {
  const { folder, makeFolder } = config
  const store = createContentStore(folder)
  const key = config.key && (() => config.key?.())
  const names = createNameSeal(key, config.redact && ((text) => config.redact!(text)))
  const log = createChangeLog(folder, policy.roots[0]!.real, names, key)
  const writable = policy.roots.filter(({ access }) => access === "read-write").map(({ real }) => real)
  const tree = () => ({ folders: writable, readableIn: (path: string) => policy.readableIn(path) })
  const index = indexIn(folder, names)
  const limits = config.limits === undefined ? {} : { limits: { ...TREE_LIMITS, ...config.limits } }
  const isReadable = (path: string): boolean => policy.readable(path)
  const recorder = createRecorder({ log, store, names, makeFolder, tree, index, isReadable, ...limits })

  const forgetOld = (): void => {
    try {
      if (!isPruneDue(folder())) return
      const known = [...index.read().values()].map(({ hash }) => hash)
      prune(log, store, { ...RETENTION, ...config.retention }, known)
    } catch {
      // It is tried again tomorrow; whether anything can be noted at all is told by the next call.
    }
  }
  return {
    below: (path) => recorder.below(path),
    changing: (changes, task) => recorder.changing(changes, task),
    async during(head, task) {
      const done = await recorder.during(head, task)
      if (done.recorded.id !== undefined) forgetOld()
      return done
    },
    ...createUndoing({ log, store, names, policy, tree, writable, recorder }),
  }
}

interface UndoingParts {
  log: ChangeLog
  store: ContentStore
  names: NameSeal
  policy: PathPolicy
  tree: () => TreeSource
  writable: readonly string[]
  recorder: CallRecorder
}

/** Looking at what was changed, and taking it back. */
function createUndoing(parts: UndoingParts): Omit<ChangeHistory, keyof CallRecorder> {
  const { log, store, policy, writable } = parts
  const sight = {
    now: (path: string) => stateOf(path, policy.readable(path) ? { store } : HASH_ONLY),
    has: (hash: string) => store.has(hash),
    admits: (path: string) => writable.some((root) => root !== path && isInside(root, path)),
  }
  const entries = async (): Promise<ChangeEntry[]> => {
    await closeOpenPrograms(parts)
    return log.read()
  }
  const planned = async (
    choose: (items: readonly HistoryItem[]) => HistoryItem,
  ): Promise<{ item: HistoryItem; plan: UndoPlan }> => {
    const all = await entries()
    const item = choose(itemsOf(all))
    return { item, plan: planUndo(all, new Set(item.entries.map((entry) => entry.id)), sight) }
  }
  const described = async (chosen: ReturnType<typeof planned>): Promise<PlannedUndo> => {
    const { item, plan } = await chosen
    const lines: { line: string; diff: string }[] = []
    for (const { path, now, to } of plan.restorations)
      lines.push(await describeChange(policy.show(path), now, to, store))
    return { item, ...plan, described: lines }
  }
  return {
    foreign: () => log.foreign(),
    outcome: async (call) => outcomeOf(log.read(), call, (path) => stateOf(path, HASH_ONLY)),
    list: async () => itemsOf(await entries()).reverse(),
    plan: (id) => described(planned((items) => chosenItem(items, id))),
    planAll: (id, several) =>
      described(
        planned((items) =>
          joined(
            id,
            items.filter((item) => several.includes(item.id)),
          ),
        ),
      ),
    async differences(id) {
      const item = itemsOf(await entries()).find((each) => each.id === id)
      const changes = (item?.entries ?? []).flatMap((entry) => entry.changes)
      const paths = [...new Set(changes.map(({ path }) => path))]
      return Promise.all(
        paths.map(async (path) => {
          const own = changes.filter((change) => change.path === path)
          // Looking at what lies there now keeps its text, which is what the item left where nobody changed it since.
          const now = await sight.now(path)
          return describeDone(policy.show(path), own[0]!.before, own.at(-1)!.after ?? now, store)
        }),
      )
    },
    async undo(id, record) {
      const { item, plan } = await planned((items) => chosenItem(items, id))
      return takeBack({ item, plan, record }, parts)
    },
  }
}

/** Carries a plan out, as a change that can be taken back itself. */
async function takeBack(
  { item, plan, record }: { item: HistoryItem; plan: UndoPlan; record: string | undefined },
  { policy, store, recorder }: UndoingParts,
): ReturnType<ChangeHistory["undo"]> {
  const { restorations, refused, settled } = plan
  const shown = (each: RefusedPath): RefusedPath => ({ ...each, path: policy.show(each.path) })
  const noted = [...restorations, ...settled]
  if (noted.length === 0) return { restored: [], refused: refused.map(shown) }
  const changes = noted.map(({ path, to, undoes }) => ({ path, planned: to, undoes }))
  const task = () => restore(restorations, { policy: openPolicy(policy), store, temporaryName })
  const head = { tool: "undo", callId: item.id, readOnly: true, ...(record === undefined ? {} : { runId: record }) }
  const { value: failed, recorded } = await recorder.during(head, () => recorder.changing(changes, task))
  const lost = new Set(failed.map(({ path }) => path))
  return {
    ...(recorded.id === undefined ? {} : { id: record ?? recorded.id }),
    restored: restorations.filter(({ path }) => !lost.has(path)).map(({ path }) => policy.show(path)),
    refused: [...refused, ...failed].map(shown),
  }
}

/** Taking back is the user's: what tools must not touch is brought back too. */
function openPolicy({ roots }: PathPolicy): PathPolicy {
  return createPathPolicy({
    roots: roots.map(({ real, access }) => ({ path: real, access })),
    denyRead: [],
    denyWrite: [],
  })
}

function temporaryName(): string {
  return `${PREFIX}undo-${randomBytes(6).toString("hex")}${SUFFIX}`
}

const LARGEST_INDEX = 64 * 1024 * 1024

function indexIn(folder: () => string, names: NameSeal): { read(): TreeIndex; write(index: TreeIndex): void } {
  const path = (): string => join(folder(), "index.json")
  return {
    read() {
      try {
        const text = readStateFile(path(), { limit: LARGEST_INDEX })?.toString("utf8")
        const known = text === undefined ? [] : (JSON.parse(text) as [string, { mark: string; hash: string }][])
        return new Map(known.map(([name, each]) => [names.open(name), each]))
      } catch {
        // Only what can be found out again stands in it.
        return new Map()
      }
    },
    write(index) {
      const text = JSON.stringify([...index])
      const sealed = () => JSON.stringify([...index].map(([name, each]) => [names.seal(name), each]))
      writeStateFile(path(), names.mayHold(text) ? sealed() : text, { mode: 0o600 })
    },
  }
}

/** Runs and single calls, oldest first; what changed nothing is left out. */
function itemsOf(entries: readonly ChangeEntry[]): HistoryItem[] {
  const inEffect = new Set<number>()
  const effectful = new Map<number, readonly number[]>()
  for (const changes of changesByPath(entries).values()) {
    for (const { change } of changes) effectful.set(change.n, change.undoes ?? [])
    for (const { change } of changesInEffect(changes)) inEffect.add(change.n)
  }
  /** The taking back of something is in effect for as long as that is not. */
  const isActive = (n: number): boolean => {
    const undoes = effectful.get(n) ?? []
    return undoes.length === 0 ? inEffect.has(n) : !undoes.some((undone) => inEffect.has(undone))
  }
  const groups = new Map<string, ChangeEntry[]>()
  for (const entry of entries) {
    if (entry.unkept.length === 0 && !entry.changes.some(({ n }) => effectful.has(n))) continue
    const key = entry.runId ?? entry.id
    groups.set(key, [...(groups.get(key) ?? []), entry])
  }
  return [...groups].map(([id, group]): HistoryItem => {
    const numbers = group.flatMap(({ changes }) => changes.map(({ n }) => n)).filter((n) => effectful.has(n))
    const active = numbers.filter(isActive).length
    return {
      id,
      kind: group[0]!.runId === undefined ? "call" : "run",
      at: group[0]!.at,
      tools: [...new Set(group.map(({ tool }) => tool))],
      entries: group,
      paths: [
        ...new Set(group.flatMap(({ changes }) => changes.filter(({ n }) => effectful.has(n))).map(({ path }) => path)),
      ],
      state: stateOfItem(active, numbers.length),
      unkept: group.flatMap(({ unkept }) => unkept),
    }
  })
}

/** What changed nothing that was kept is in effect for good. */
function stateOfItem(active: number, all: number): HistoryItem["state"] {
  if (active === all) return "in effect"
  return active === 0 ? "taken back" : "taken back in part"
}

function chosenItem(items: readonly HistoryItem[], id: string | undefined): HistoryItem {
  if (id === undefined || id === "latest") {
    const last = items.findLast(
      ({ state, tools, paths }) => state !== "taken back" && paths.length > 0 && !tools.includes("undo"),
    )
    if (last !== undefined) return last
    throw new ToolwrightError("NOTHING_TO_UNDO", "Nothing that is on record can be taken back.", {
      hint:
        items.length === 0
          ? "No tool has changed anything here of which a copy was kept."
          : "'toolwright undo list' shows what was changed, and what of it is taken back already.",
    })
  }
  const single = items.flatMap((item) => [item, ...(item.kind === "run" ? item.entries.map(itemOf(item)) : [])])
  const exact = single.find(
    (item) => item.id === id || item.entries.some(({ callId }) => callId === id && item.kind === "call"),
  )
  if (exact !== undefined) return exact
  const begun = single.filter((item) => item.id.startsWith(id))
  if (begun.length === 1) return begun[0]!
  if (begun.length === 0)
    throw new ToolwrightError("UNKNOWN_CHANGE", `Nothing that can be taken back is on record for '${id}'.`, {
      hint:
        "'toolwright undo list' shows what can. What was committed stays: git takes that back ('git revert', " +
        "'git reset').",
    })
  throw new ToolwrightError(
    "AMBIGUOUS_CHANGE",
    `'${id}' is the beginning of several: ${begun.map((item) => item.id).join(", ")}.`,
  )
}

/** Several items as one, in the order of the log. */
function joined(id: string, items: readonly HistoryItem[]): HistoryItem {
  const [first] = items
  if (first === undefined) return chosenItem([], id)
  const every = <Part>(part: (item: HistoryItem) => readonly Part[]): Part[] => [...new Set(items.flatMap(part))]
  return {
    ...first,
    id,
    tools: every(({ tools }) => tools),
    entries: every(({ entries }) => entries),
    paths: every(({ paths }) => paths),
    unkept: every(({ unkept }) => unkept),
  }
}

/** One call of a run as an item of its own. */
function itemOf(run: HistoryItem): (entry: ChangeEntry) => HistoryItem {
  return (entry) => ({
    ...run,
    id: entry.id,
    kind: "call",
    at: entry.at,
    tools: [entry.tool],
    entries: [entry],
    paths: entry.changes.map(({ path }) => path),
    unkept: entry.unkept,
  })
}
