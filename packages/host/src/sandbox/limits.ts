import { randomBytes } from "node:crypto"
import { access, constants, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises"
import { totalmem } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import type { DiskBound } from "../spawn/disk-watch.ts"

/** What one command may take of the machine. Every field has a default. */
export interface Limits {
  /**
   * Most processes at once; 512 unless given, null for no limits that have to be set (entering a control group takes
   * some 20 ms): then memory and disk are watched where they are given, and nothing else is.
   */
  readonly processes?: number | null
  /** Memory in megabytes: of all processes together where control groups can be made, of each one elsewhere. */
  readonly memoryMb?: number
  /** Longest file that may be written, in megabytes. */
  readonly fileMb?: number
  /** Most files and folders that one command may make; 500,000 unless given. */
  readonly files?: number
  /** What one command may write in all, in megabytes; 64 GB unless given, and nine tenths of what is free at most. */
  readonly diskMb?: number
}

/** The limits of one command, in force. */
export interface AppliedLimits {
  /** How many processes; null where nothing limits them. */
  readonly processes: number | null
  readonly memoryMb: number | null
  /** Wraps the command as it starts in the sandbox. */
  inside(argv: readonly string[]): string[]
  /** Wraps the sandbox's own command. */
  outside(argv: readonly string[]): string[]
  /** Ends what is left of the command, whatever it made of itself; only where there is a control group. */
  end(): Promise<void>
  /** To be called when the command has ended. There is no need to wait for it. */
  release(): Promise<void>
}

const MOST_PROCESSES = 512
const LONGEST_FILE_MB = 16 * 1024
const MOST_FILES = 500_000
const DISK_MB = 64 * 1024
const MEGABYTE = 1024 * 1024

/** What one command may take of the disk; nothing is watched where nothing may be written, or limits are off. */
export function diskBound(folder: string, writable: boolean, limits: Limits = {}): DiskBound | undefined {
  const { processes, files = MOST_FILES, diskMb: megabytes = DISK_MB } = limits
  const isBounded = processes !== null || limits.files !== undefined
  return writable && isBounded ? { folder, files, megabytes } : undefined
}

/** The memory that a command is watched for, where no limit could be set for it. */
export function memoryBound({ processes, memoryMb }: Limits = {}): number | undefined {
  return processes === null ? memoryMb : undefined
}

/** A program that is started often and takes little, but reads what others wrote: git first of all. */
const LIGHT_MEMORY_MB = 1024

/** Limits of such a program that cost nothing. @param given what a configuration says */
export function lightLimits({ memoryMb = LIGHT_MEMORY_MB, files = MOST_FILES, diskMb = DISK_MB }: Limits = {}): Limits {
  return { processes: null, memoryMb: Math.min(memoryMb, defaultMemoryMb()), files, diskMb }
}

const asItIs = (argv: readonly string[]) => [...argv]
const nothing = async () => {}
const UNLIMITED: AppliedLimits = {
  processes: null,
  memoryMb: null,
  inside: asItIs,
  outside: asItIs,
  end: nothing,
  release: nothing,
}

/** Three quarters of the machine's memory: a command can use it, and cannot take the machine down. */
export function defaultMemoryMb(): number {
  return Math.max(1024, Math.floor((totalmem() / MEGABYTE) * 0.75))
}

/**
 * Makes the strongest limits that this machine gives: control groups of its own where these can be made (usually as
 * root), and limits of each process (`ulimit`), which hold everywhere and bound memory and files one by one. The number
 * of a user's processes is bounded by the second only for others than root, and counts what runs in the sandbox's own
 * user namespace.
 *
 * @param sandboxed whether the command runs in a user namespace of its own
 */
export async function applyLimits(limits: Limits = {}, sandboxed = true): Promise<AppliedLimits> {
  const { processes = MOST_PROCESSES, memoryMb = defaultMemoryMb(), fileMb = LONGEST_FILE_MB } = limits
  if (processes === null || process.platform === "win32") return UNLIMITED
  const groups = await makeGroups(processes, memoryMb)
  const counted = groups === undefined && sandboxed && process.getuid?.() !== 0
  const script = [
    "ulimit -c 0",
    `ulimit -f ${fileMb * 2048}`,
    `ulimit -d ${memoryMb * 1024}`,
    ...(counted ? [`ulimit -p ${processes} || ulimit -u ${processes}`] : []),
  ]
    .map((line) => `{ ${line}; } 2>/dev/null`)
    .join("; ")
  const inside = (argv: readonly string[]) => ["/bin/sh", "-c", `${script}; exec "$@"`, "sh", ...argv]
  const applied = { processes: groups === undefined && !counted ? null : processes, memoryMb }
  if (groups === undefined) return { ...applied, inside, outside: asItIs, end: nothing, release: nothing }
  const enter = groups.map((_, index) => `{ echo $$ > "$${index + 1}/cgroup.procs"; } 2>/dev/null`).join("; ")
  // Limits of a process are its children's too: who enters the groups sets them, and no second shell has to.
  const script2 = `${enter}; shift ${groups.length}; ${script}; exec "$@"`
  return {
    ...applied,
    inside: asItIs,
    outside: (argv) => ["/bin/sh", "-c", script2, "sh", ...groups, ...argv],
    end: () => endGroup(groups[0]!),
    release: async () => void (await Promise.all(groups.map(removeGroup))),
  }
}

let parents: Promise<GroupFolders | undefined> | undefined

/** Where groups are made, for the number of processes and for memory; one folder for both in cgroup v2. */
interface GroupFolders {
  readonly processes: string
  readonly memory?: { readonly folder: string; readonly file: string }
}

async function makeGroups(processes: number, memoryMb: number): Promise<string[] | undefined> {
  parents ??= groupFolders()
  const above = await parents
  if (above === undefined) return undefined
  const name = `toolwright-${process.pid}-${randomBytes(4).toString("hex")}`
  const first = await makeGroup(join(above.processes, name), "pids.max", String(processes))
  if (first === undefined) return undefined
  if (above.memory === undefined) return [first]
  const { folder, file } = above.memory
  const second = await makeGroup(join(folder, name), file, String(memoryMb * MEGABYTE))
  return second === undefined || second === first ? [first] : [first, second]
}

async function makeGroup(folder: string, file: string, value: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, file), value)
    return folder
  } catch {
    await rmdir(folder).catch(() => {})
    return undefined
  }
}

/** cgroup v1's own hierarchies, or the root of v2 when it has the controllers. */
async function groupFolders(): Promise<GroupFolders | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined
  const v1 = { pids: "/sys/fs/cgroup/pids", memory: "/sys/fs/cgroup/memory" }
  if (await writable(v1.pids)) {
    await withoutLeftovers(v1.pids)
    if (!(await writable(v1.memory))) return { processes: v1.pids }
    await withoutLeftovers(v1.memory)
    return { processes: v1.pids, memory: { folder: v1.memory, file: "memory.limit_in_bytes" } }
  }
  const v2 = "/sys/fs/cgroup"
  const controllers = (await readFile(join(v2, "cgroup.subtree_control"), "utf8").catch(() => "")).split(/\s+/u)
  if (!controllers.includes("pids") || !(await writable(v2))) return undefined
  await withoutLeftovers(v2)
  const memory = controllers.includes("memory") ? { memory: { folder: v2, file: "memory.max" } } : {}
  return { processes: v2, ...memory }
}

/** Removes the groups of processes that ended before they could do so. */
async function withoutLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = /^toolwright-(\d+)-/u.exec(name)?.[1]
    if (owner === undefined) continue
    const lives = await access(`/proc/${owner}`).then(
      () => true,
      () => false,
    )
    if (!lives) await rmdir(join(folder, name)).catch(() => {})
  }
}

async function writable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** Kills the members until there are none: one that forks meanwhile is met in the next turn. */
async function endGroup(folder: string): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    const pids = (await readFile(join(folder, "cgroup.procs"), "utf8").catch(() => "")).split("\n").filter(Boolean)
    if (pids.length === 0) return
    for (const pid of pids) {
      try {
        process.kill(Number(pid), "SIGKILL")
      } catch {
        // It ended by itself.
      }
    }
    await wait(2)
  }
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
