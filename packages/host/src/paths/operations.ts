import type { Stats } from "node:fs"
import { lstat, mkdir, readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { partsOf, ToolwrightError } from "@toolwright/toolbox"
import { fingerprint, replaceFile, type WriteOptions } from "./atomic-write.ts"
import { assertSize, FILE_LIMIT_BYTES, hashOf, openFile, readByHandle, type FileContent } from "./file-content.ts"
import { createJournal } from "./journal.ts"
import { createLocks } from "./lock.ts"
import { openOutputDirectory } from "./output-directory.ts"
import { printable } from "./path-errors.ts"
import { pin, pinDirectory, pinFile, pinParent } from "./pin.ts"
import type { Located, PathPolicy } from "./policy.ts"
import { isReadAtOnce, readAtOnce } from "./read-at-once.ts"
import { moveEntry, removeDirectoryTree, removeFileEntry, type Place } from "./remove.ts"
import type { Root } from "./roots.ts"
import { defaultStateDirectory, ownDirectory } from "./state-directory.ts"
import { isTemporaryName } from "./temporary-name.ts"
import { NOTHING_KEPT, type ChangeRecorder } from "./change-recorder.ts"
import { walk } from "./walk.ts"
import type { WorkspaceOperations, Written } from "./workspace.ts"

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
  let stateDirectory: Promise<string> | undefined
  const state = () => (stateDirectory ??= ownDirectory(configuredState ?? defaultStateDirectory()))
  const journal = createJournal(state)
  const lock = createLocks()
  let recovered: Promise<number> | undefined

  const recover = () =>
    (recovered ??= journal.recover(async (path) => {
      try {
        return await pinDirectory(policy, policy.locate(path, "write"), "write")
      } catch {
        return undefined
      }
    }))

  const place = async (asked: string): Promise<Place> => {
    const located = policy.locate(asked, "write")
    assertNotRoot(policy, located)
    await recover()
    const { parent, name } = await pinParent(policy, located)
    const path = join(parent.real, name)
    try {
      policy.admit(path, "write", asked)
    } catch (thrown) {
      await parent[Symbol.asyncDispose]()
      throw thrown
    }
    return { parent, name, path, asked, [Symbol.asyncDispose]: () => parent[Symbol.asyncDispose]() }
  }

  const inParent = async <Value>(asked: string, task: (place: Place) => Promise<Value>) => {
    await using there = await place(asked)
    return await lock([there.path], () => task(there))
  }

  const read = async (asked: string, limit: number): Promise<FileContent> => {
    await using pinned = await pinFile(policy, policy.locate(asked, "read"), "read")
    const { stat } = pinned
    assertSize(stat.size, limit, asked)
    const atOnce = (await isReadAtOnce(pinned)) ? readAtOnce(pinned) : undefined
    const bytes = atOnce ?? (await readByHandle(pinned, limit, asked))
    return { bytes, stat, shown: policy.show(pinned.real), hash: hashOf(bytes) }
  }

  const write = async (asked: string, bytes: Uint8Array, options: WriteOptions | undefined): Promise<Written> => {
    assertSize(bytes.byteLength, FILE_LIMIT_BYTES, asked, "Split it into several files.")
    return inParent(asked, (place) => replace(place, bytes, options))
  }
  const replace = async (place: Place, bytes: Uint8Array, options: WriteOptions | undefined): Promise<Written> => {
    const { path } = place
    const task = () => replaceFile(place, bytes, journal, options)
    const { stat, created } = await recorder.changing([{ path, content: bytes }], task)
    return { stat, created, shown: policy.show(path), hash: hashOf(bytes) }
  }

  return {
    recover,
    async realPath(path, access) {
      await using pinned = await pin(policy, policy.locate(path, access), access)
      return pinned.real
    },
    open: (path) => openFile(policy, path),
    read: (path, limit = FILE_LIMIT_BYTES) => read(path, limit),
    write: (path, content, options) =>
      write(path, typeof content === "string" ? Buffer.from(content, "utf8") : content, options),
    update: (asked, change) =>
      inParent(asked, async (place) => {
        const { path } = place
        const content = await read(path, FILE_LIMIT_BYTES).catch((thrown: unknown) => {
          throw renamed(thrown, path, asked)
        })
        const bytes = change(content)
        if (bytes === undefined) return undefined
        assertSize(bytes.byteLength, FILE_LIMIT_BYTES, asked, "Split it into several files.")
        return await replace(place, bytes, { expected: fingerprint(content.stat) })
      }),
    async stat(asked) {
      await using pinned = await pin(policy, policy.locate(asked, "read"), "read")
      return { stat: pinned.stat, real: pinned.real, shown: policy.show(pinned.real) }
    },
    async list(asked, select) {
      await using directory = await pinDirectory(policy, policy.locate(asked, "read"), "read")
      const all = await readdir(directory.at(), { withFileTypes: true })
      const isReadable = policy.readableIn(directory.real)
      const present = all.filter((entry) => !isTemporaryName(entry.name))
      const entries = present.filter((entry) => isReadable(entry.name))
      const stats = new Map<string, Stats>()
      const wanted = select?.(entries) ?? []
      for (let index = 0; index < wanted.length; index += 32) {
        const names = wanted.slice(index, index + 32).map((entry) => entry.name)
        const found = await Promise.all(names.map((name) => lstat(directory.at(name)).catch(() => undefined)))
        for (const [at, stat] of found.entries()) if (stat !== undefined) stats.set(names[at]!, stat)
      }
      return { entries, stats, shown: policy.show(directory.real), denied: present.length - entries.length }
    },
    async walk(asked, visit, options) {
      await using start = await pinDirectory(policy, policy.locate(asked, "read"), "read")
      const place = { real: start.real, shown: policy.show(start.real) }
      const summary = await walk(policy, start, (entry) => visit(entry, place), options)
      return { ...summary, shown: place.shown }
    },
    async inDirectory(asked, task, access = "read") {
      await using directory = await pinDirectory(policy, policy.locate(asked, access), access)
      return await task(directory.at(), directory.real)
    },
    async makeDirectory(asked) {
      const located = policy.locate(asked, "write")
      await recover()
      return { created: await makeDirectories(policy, located, recorder), shown: located.shown }
    },
    removeFile: (asked) =>
      inParent(asked, async ({ parent, name, path }) => {
        await recorder.changing([{ path }], () => removeFileEntry(parent, name, asked))
        return { shown: policy.show(path) }
      }),
    removeDirectory: (asked, recursive) =>
      inParent(asked, async ({ parent, name, path }) => {
        assertHoldsNoRoot(policy, path, asked)
        const gone = (recursive ? recorder.below(path) : [path]).map((each) => ({ path: each }))
        const removed = await recorder.changing(gone, () => removeDirectoryTree(policy, parent, name, asked, recursive))
        return { shown: policy.show(path), removed }
      }),
    async move(source, destination) {
      await using from = await place(source)
      await using to = await place(destination)
      return await lock([from.path, to.path], async () => {
        assertHoldsNoRoot(policy, from.path, source)
        const moved = recorder.below(from.path)
        const places = moved.flatMap((path) => [{ path }, { path: to.path + path.slice(from.path.length) }])
        await recorder.changing(places, () => moveEntry(policy, from, to))
        return { source: policy.show(from.path), destination: policy.show(to.path) }
      })
    },
    async outputDirectory() {
      const real = await openOutputDirectory(await state())
      if (!hidden.some((root) => root.real === real))
        hidden.push({ path: real, local: real, real, access: "read-only" })
      return real
    },
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

async function makeDirectories(policy: PathPolicy, located: Located, recorder: ChangeRecorder): Promise<boolean> {
  const missing: string[] = []
  let path = located.path
  while (path !== located.root.real && (await lstat(path).catch(() => undefined)) === undefined) {
    missing.unshift(basename(path))
    path = dirname(path)
  }
  let current = await pinDirectory(policy, { ...located, path }, "write")
  try {
    for (const name of missing) {
      path = join(current.real, name)
      const at = current.at(name)
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

/** An error about the real path, told about the path that was asked for. */
function renamed(thrown: unknown, real: string, asked: string): unknown {
  if (!ToolwrightError.isInstance(thrown)) return thrown
  const { code, message, hint, next } = partsOf(thrown)
  return new ToolwrightError(code, message.replaceAll(real, asked), {
    ...(hint === undefined ? {} : { hint }),
    ...(next === undefined ? {} : { next: { ...next, arguments: { path: asked } } }),
  })
}
