import { randomBytes } from "node:crypto"
import { access, constants, mkdir, readFile, rmdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { findProgram } from "./find-program.ts"

/** How many processes a sandboxed command may have at once; beyond it forks fail. */
export const MOST_PROCESSES = 512

/** A limit on the number of processes, for one command. */
export interface ProcessLimit {
  readonly kind: "cgroup" | "rlimit" | "none"
  /** The command, so wrapped that the limit holds for it and all that it starts. */
  wrap(argv: readonly string[]): string[]
  /** To be called when the command has ended. */
  release(): Promise<void>
}

/**
 * Makes the strongest limit that this machine gives: a control group of its own where these can be made (usually as root), the limit of the
 * user otherwise, which within a user namespace of its own counts only what runs there, but does not bind root.
 */
export async function processLimit(): Promise<ProcessLimit> {
  const folder = await makeGroup()
  if (folder !== undefined) {
    return {
      kind: "cgroup",
      wrap: (argv) => ["/bin/sh", "-c", '{ echo $$ > "$0/cgroup.procs"; } 2>/dev/null; exec "$@"', folder, ...argv],
      release: () => removeGroup(folder),
    }
  }
  const prlimit = process.getuid?.() === 0 ? undefined : await findProgram("prlimit")
  if (prlimit === undefined) return { kind: "none", wrap: (argv) => [...argv], release: async () => {} }
  // The user's limit counts everything of the user outside a namespace, so that it must leave room for that.
  return { kind: "rlimit", wrap: (argv) => [prlimit, `--nproc=${MOST_PROCESSES * 8}`, "--", ...argv], release: async () => {} }
}

let parent: Promise<string | undefined> | undefined

async function makeGroup(): Promise<string | undefined> {
  parent ??= groupsFolder()
  const above = await parent
  if (above === undefined) return undefined
  const folder = join(above, `toolwright-${process.pid}-${randomBytes(4).toString("hex")}`)
  try {
    await mkdir(folder)
    await writeFile(join(folder, "pids.max"), String(MOST_PROCESSES))
    return folder
  } catch {
    await rmdir(folder).catch(() => {})
    return undefined
  }
}

/** Where groups that count processes are made: cgroup v1's own hierarchy, or the root of v2 when it has the controller. */
async function groupsFolder(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined
  const v1 = "/sys/fs/cgroup/pids"
  if (await writable(v1)) return v1
  const v2 = "/sys/fs/cgroup"
  const controllers = await readFile(join(v2, "cgroup.subtree_control"), "utf8").catch(() => "")
  return controllers.split(/\s+/u).includes("pids") && (await writable(v2)) ? v2 : undefined
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
