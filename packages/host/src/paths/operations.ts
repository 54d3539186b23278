import type { Dirent, Stats } from "node:fs"
import { lstat, mkdir, readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { partsOf, ToolwrightError } from "@toolwright/toolbox"
import { fingerprint, replaceFile, type WriteOptions } from "./atomic-write.ts"
import {
  assertSize,
  FILE_LIMIT_BYTES,
  hashOf,
  openFile,
  readByHandle,
  type FileContent,
  type OpenedFile,
} from "./file-content.ts"
import { createJournal, type WriteJournal } from "./journal.ts"
import { createLocks } from "./lock.ts"
import { openOutputDirectory } from "./output-directory.ts"
import { printable } from "./path-errors.ts"
import { pin, pinDirectory, pinFile, pinParent } from "./pin.ts"
import type { Access, Located, PathPolicy } from "./policy.ts"
import { isReadAtOnce, readAtOnce } from "./read-at-once.ts"
import { moveEntry, removeDirectoryTree, removeFileEntry, type Place } from "./remove.ts"
import type { Root } from "./roots.ts"
import { defaultStateDirectory, ownDirectory } from "./state-directory.ts"
import { isTemporaryName } from "./temporary-name.ts"
import { NOTHING_KEPT, type ChangeRecorder } from "./change-recorder.ts"
import { walk, type WalkEntry, type WalkOptions } from "./walk.ts"
import type { Listing, WorkspaceOperations, Written } from "./workspace.ts"

/**
 * @param hidden directories that may be read beside the roots; the one for long outputs is added when it is made
 * @param configuredState the state directory; the default one unless given
 * @param recorder keeps what lies at a path before it is changed; every change here goes through it
 */
export function createOperations(
  policy: PathPolicy,
  hidden: Root[],
  configuredState: string | undefined,
  recorder: ChangeRecorder = NOTHING_KEPT,
): WorkspaceOperations {
  return new GuardedOperations(policy, hidden, configuredState, recorder)
}

/** What a workspace does, each step admitted by its policy. */
class GuardedOperations implements WorkspaceOperations {
  readonly #policy: PathPolicy
  readonly #hidden: Root[]
  readonly #configuredState: string | undefined
  readonly #recorder: ChangeRecorder
  #stateDirectory: Promise<string> | undefined
  readonly #journal: WriteJournal
  readonly #lock = createLocks()
  #recovered: Promise<number> | undefined

  constructor(policy: PathPolicy, hidden: Root[], configuredState: string | undefined, recorder: ChangeRecorder) {
    this.#policy = policy
    this.#hidden = hidden
    this.#configuredState = configuredState
    this.#recorder = recorder
    this.#journal = createJournal(this.#openState)
  }

  readonly #openState = () => (this.#stateDirectory ??= ownDirectory(this.#configuredState ?? defaultStateDirectory()))

  recover(): Promise<number> {
    return (this.#recovered ??= this.#journal.recover(async (path: string) => {
      try {
        return await pinDirectory(this.#policy, this.#policy.locate(path, "write"), "write")
      } catch {
        return undefined
      }
    }))
  }

  async #place(asked: string, makesParents = false): Promise<Place> {
    const located = this.#policy.locate(asked, "write")
    assertNotRoot(this.#policy, located)
    await this.recover()
    const { parent, name } = await pinParent(this.#policy, located).catch(async (thrown: unknown) => {
      if (!makesParents || !isOf("PARENT_NOT_FOUND", thrown)) throw thrown
      const folder = { ...located, path: dirname(located.path) }
      await makeDirectories(this.#policy, folder, this.#recorder, basename(located.path))
      return await pinParent(this.#policy, located)
    })
    const path = join(parent.real, name)
    try {
      this.#policy.admit(path, "write", asked)
    } catch (thrown) {
      await parent[Symbol.asyncDispose]()
      throw thrown
    }
    return { parent, name, path, asked, [Symbol.asyncDispose]: () => parent[Symbol.asyncDispose]() }
  }

  async #inParent<Value>(asked: string, task: (place: Place) => Promise<Value>, makesParents = false) {
    await using there = await this.#place(asked, makesParents)
    return await this.#lock([there.path], () => task(there))
  }

  async #replace(place: Place, bytes: Uint8Array, options: WriteOptions | undefined): Promise<Written> {
    const { path } = place
    const task = () => replaceFile(place, bytes, this.#journal, options)
    const { stat, created } = await this.#recorder.changing([{ path, content: bytes }], task)
    return { stat, created, shown: this.#policy.show(path), hash: hashOf(bytes) }
  }

  async realPath(path: string, access: Access): Promise<string> {
    await using pinned = await pin(this.#policy, this.#policy.locate(path, access), access)
    return pinned.real
  }

  open(path: string): Promise<OpenedFile> {
    return openFile(this.#policy, path)
  }

  async read(asked: string, limit = FILE_LIMIT_BYTES): Promise<FileContent> {
    await using pinned = await pinFile(this.#policy, this.#policy.locate(asked, "read"), "read")
    const { stat } = pinned
    assertSize(stat.size, limit, asked)
    const atOnce = (await isReadAtOnce(pinned)) ? readAtOnce(pinned) : undefined
    const bytes = atOnce ?? (await readByHandle(pinned, limit, asked))
    return { bytes, stat, shown: this.#policy.show(pinned.real), hash: hashOf(bytes) }
  }

  async write(asked: string, content: string | Uint8Array, options?: WriteOptions): Promise<Written> {
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content
    assertSize(bytes.byteLength, FILE_LIMIT_BYTES, asked, "Split it into several files.")
    return this.#inParent(asked, (place) => this.#replace(place, bytes, options), options?.makesParents)
  }

  update(asked: string, change: (content: FileContent) => Uint8Array | undefined): Promise<Written | undefined> {
    return this.#inParent(asked, async (place) => {
      const { path } = place
      const content = await this.read(path).catch((thrown: unknown) => {
        throw renamed(thrown, path, asked)
      })
      const bytes = change(content)
      if (bytes === undefined) return undefined
      assertSize(bytes.byteLength, FILE_LIMIT_BYTES, asked, "Split it into several files.")
      return await this.#replace(place, bytes, { expected: fingerprint(content.stat) })
    })
  }

  async stat(asked: string): Promise<{ stat: Stats; real: string; shown: string }> {
    await using pinned = await pin(this.#policy, this.#policy.locate(asked, "read"), "read")
    return { stat: pinned.stat, real: pinned.real, shown: this.#policy.show(pinned.real) }
  }

  async list(asked: string, select?: (entries: Dirent[]) => readonly Dirent[]): Promise<Listing> {
    await using directory = await pinDirectory(this.#policy, this.#policy.locate(asked, "read"), "read")
    const all = await readdir(directory.at(), { withFileTypes: true })
    const isReadable = this.#policy.readableIn(directory.real)
    const present = all.filter((entry) => !isTemporaryName(entry.name))
    const entries = present.filter((entry) => isReadable(entry.name))
    const stats = new Map<string, Stats>()
    const wanted = select?.(entries) ?? []
    for (let index = 0; index < wanted.length; index += 32) {
      const names = wanted.slice(index, index + 32).map((entry) => entry.name)
      const found = await Promise.all(names.map((name) => lstat(directory.at(name)).catch(() => undefined)))
      for (const [at, stat] of found.entries()) if (stat !== undefined) stats.set(names[at]!, stat)
    }
    return { entries, stats, shown: this.#policy.show(directory.real), denied: present.length - entries.length }
  }

  async walk(
    asked: string,
    visit: (entry: WalkEntry, start: { real: string; shown: string }) => "skip" | "stop" | undefined | void,
    options?: WalkOptions,
  ): Promise<{ shown: string; stopped?: "entries" | "depth" | "visitor"; unreadable: number; denied: number }> {
    await using start = await pinDirectory(this.#policy, this.#policy.locate(asked, "read"), "read")
    const place = { real: start.real, shown: this.#policy.show(start.real) }
    const summary = await walk(this.#policy, start, (entry) => visit(entry, place), options)
    return { ...summary, shown: place.shown }
  }

  async inDirectory<Value>(
    asked: string,
    task: (cwd: string, real: string) => Promise<Value>,
    access: Access = "read",
  ): Promise<Value> {
    await using directory = await pinDirectory(this.#policy, this.#policy.locate(asked, access), access)
    return await task(directory.at(), directory.real)
  }

  async makeDirectory(asked: string): Promise<{ created: boolean; shown: string }> {
    const located = this.#policy.locate(asked, "write")
    await this.recover()
    return { created: await makeDirectories(this.#policy, located, this.#recorder), shown: located.shown }
  }

  removeFile(asked: string): Promise<{ shown: string }> {
    return this.#inParent(asked, async ({ parent, name, path }) => {
      await this.#recorder.changing([{ path }], () => removeFileEntry(parent, name, asked))
      return { shown: this.#policy.show(path) }
    })
  }

  removeDirectory(asked: string, recursive: boolean): Promise<{ shown: string; removed: number }> {
    return this.#inParent(asked, async ({ parent, name, path }) => {
      assertHoldsNoRoot(this.#policy, path, asked)
      const gone = (recursive ? this.#recorder.below(path) : [path]).map((each) => ({ path: each }))
      const removed = await this.#recorder.changing(gone, () =>
        removeDirectoryTree(this.#policy, parent, name, asked, recursive),
      )
      return { shown: this.#policy.show(path), removed }
    })
  }

  async move(source: string, destination: string): Promise<{ source: string; destination: string }> {
    await using from = await this.#place(source)
    await using to = await this.#place(destination)
    return await this.#lock([from.path, to.path], async () => {
      assertHoldsNoRoot(this.#policy, from.path, source)
      const moved = this.#recorder.below(from.path)
      const places = moved.flatMap((path) => [{ path }, { path: to.path + path.slice(from.path.length) }])
      await this.#recorder.changing(places, () => moveEntry(this.#policy, from, to))
      return { source: this.#policy.show(from.path), destination: this.#policy.show(to.path) }
    })
  }

  async outputDirectory(): Promise<string> {
    const real = await openOutputDirectory(await this.#openState())
    if (!this.#hidden.some((root) => root.real === real))
      this.#hidden.push({ path: real, local: real, real, access: "read-only" })
    return real
  }
}

function assertNotRoot(policy: PathPolicy, located: Located): void {
  if (!policy.roots.some((root) => root.real === located.path)) return
  throw new ToolwrightError(
    "ACCESS_DENIED",
    `Access denied: ${printable(located.asked)} is an allowed directory itself`,
    {
      hint: "Name a file or directory inside it.",
    },
  )
}

function assertHoldsNoRoot(policy: PathPolicy, path: string, asked: string): void {
  if (!policy.roots.some((root) => root.real.startsWith(`${path}/`))) return
  throw new ToolwrightError("ACCESS_DENIED", `Access denied: ${printable(asked)} contains another allowed directory`)
}

/**
 * Makes a directory and the missing ones above it.
 * @param name of what is to come into it: where that is refused, nothing is made
 */
async function makeDirectories(
  policy: PathPolicy,
  located: Located,
  recorder: ChangeRecorder,
  name = "",
): Promise<boolean> {
  const missing: string[] = []
  let path = located.path
  while (path !== located.root.real && (await lstat(path).catch(() => undefined)) === undefined) {
    missing.unshift(basename(path))
    path = dirname(path)
  }
  let current = await pinDirectory(policy, { ...located, path }, "write")
  try {
    // What a link led to may be ruled otherwise than its name.
    policy.admit(join(current.real, ...missing, name), "write", located.asked)
    for (const each of missing) {
      path = join(current.real, each)
      const at = current.at(each)
      await recorder.changing([{ path }], () =>
        mkdir(at).catch((thrown: NodeJS.ErrnoException) => {
          if (thrown.code !== "EEXIST") throw thrown
        }),
      )
      const next = await pinDirectory(policy, { ...located, path }, "write")
      await current[Symbol.asyncDispose]()
      current = next
    }
  } finally {
    await current[Symbol.asyncDispose]()
  }
  return missing.length > 0
}

const isOf = (code: string, thrown: unknown): boolean => ToolwrightError.isInstance(thrown) && thrown.code === code

/** An error about the real path, told about the path that was asked for. */
function renamed(thrown: unknown, real: string, asked: string): unknown {
  if (!ToolwrightError.isInstance(thrown)) return thrown
  const { code, message, hint, next } = partsOf(thrown)
  return new ToolwrightError(code, message.replaceAll(real, asked), {
    ...(hint === undefined ? {} : { hint }),
    ...(next === undefined ? {} : { next: { ...next, arguments: { path: asked } } }),
  })
}
