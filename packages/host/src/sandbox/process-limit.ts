import { randomBytes } from "node:crypto"
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises"
import { release } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { findProgram, trustedPath } from "./find-program.ts"

/** How many processes a sandboxed command may have at once unless told otherwise; beyond it forks fail. */
export const MOST_PROCESSES = 512

/** A limit on the number of processes, for one command. */
export interface ProcessLimit {
  /** How many; null where nothing limits them. */
  readonly most: number | null
  /** Wraps the command as it starts in the sandbox. */
  inside(argv: readonly string[]): string[]
  /** Wraps the sandbox's own command. */
  outside(argv: readonly string[]): string[]
  /** To be called when the command has ended. There is no need to wait for it. */
  release(): Promise<void>
}

const asItIs = (argv: readonly string[]) => [...argv]
const UNLIMITED: ProcessLimit = { most: null, inside: asItIs, outside: asItIs, release: async () => {} }

/**
 * Makes the strongest limit that this machine gives: a control group of its own where these can be made (usually as
 * root), the limit of the
 * user otherwise. That one does not bind root; since Linux 5.14 it counts what runs in the sandbox's own user
 * namespace, before that
 * everything of the user, so that it would be no limit of the command.
 */
export async function processLimit(most: number | null = MOST_PROCESSES): Promise<ProcessLimit> {
  if (most === null) return UNLIMITED
  const folder = await makeGroup(most)
  if (folder !== undefined) {
    return {
      most,
      inside: asItIs,
      outside: (argv) => ["/bin/sh", "-c", '{ echo $$ > "$0/cgroup.procs"; } 2>/dev/null; exec "$@"', folder, ...argv],
      release: () => removeGroup(folder),
    }
  }
  const counted = process.getuid?.() !== 0 && atLeast(release(), 5, 14)
  const prlimit = counted ? await findProgram("prlimit", await trustedPath([])) : undefined
  if (prlimit === undefined) return UNLIMITED
  return { most, inside: (argv) => [prlimit, `--nproc=${most}`, ...argv], outside: asItIs, release: async () => {} }
}

function atLeast(version: string, major: number, minor: number): boolean {
  const [first = 0, second = 0] = version.split(".").map(Number)
  return first > major || (first === major && second >= minor)
}

let parent: Promise<string | undefined> | undefined

async function makeGroup(most: number): Promise<string | undefined> {
  parent ??= groupsFolder()
  const above = await parent
  if (above === undefined) return undefined
  const folder = join(above, `toolwright-${process.pid}-${randomBytes(4).toString("hex")}`)
  try {
    await mkdir(folder)
    await writeFile(join(folder, "pids.max"), String(most))
    return folder
  } catch {
    await rmdir(folder).catch(() => {})
    return undefined
  }
}

/**
 * Where groups that count processes are made: cgroup v1's own hierarchy, or the root of v2 when it has the controller.
 */
async function groupsFolder(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined
  const v1 = "/sys/fs/cgroup/pids"
  if (await writable(v1)) return withoutLeftovers(v1)
  const v2 = "/sys/fs/cgroup"
  const controllers = await readFile(join(v2, "cgroup.subtree_control"), "utf8").catch(() => "")
  return controllers.split(/\s+/u).includes("pids") && (await writable(v2)) ? withoutLeftovers(v2) : undefined
}

/** Removes the groups of processes that ended before they could do so. */
async function withoutLeftovers(folder: string): Promise<string> {
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = /^toolwright-(\d+)-/u.exec(name)?.[1]
    if (owner === undefined) continue
    const lives = await access(`/proc/${owner}`).then(
      () => true,
      () => false,
    )
    if (!lives) await rmdir(join(folder, name)).catch(() => {})
  }
  return folder
}

async function writable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** A group can be removed once its last process is gone, which takes a moment. */
async function removeGroup(folder: string): Promise<void> {
  for (let attempt = 0; attempt < 40; attempt++) {
    const removed = await rmdir(folder).then(
      () => true,
      (thrown: NodeJS.ErrnoException) => thrown.code === "ENOENT",
    )
    if (removed) return
    await wait(attempt < 10 ? 2 : 25)
  }
}
