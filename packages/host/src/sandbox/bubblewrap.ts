import { lstat, readlink } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { isInside } from "../paths/roots.ts"
import { defaultMemoryMb, type Limits } from "./limits.ts"

/** What a sandboxed process may see and change. Everything that is not named is absent. */
export interface SandboxPlan {
  /** The folder that is readable and writable: the workspace. */
  readonly root: string
  readonly cwd: string
  /** The environment that the process is started with; for its PATH. */
  readonly env: Readonly<Record<string, string>>
  /** Whether the workspace may be changed. */
  readonly writable?: boolean
  /** Whether the network of the machine is reachable; without it there is only a loopback of its own. */
  readonly network?: boolean
  /** Further folders and files to read. */
  readonly readable?: readonly string[]
  readonly limits?: Limits
  /**
   * Folders inside the workspace that stay where they are: they can be neither renamed nor removed, with nothing else
   * put in their place. From the top down.
   */
  readonly pinned?: readonly { readonly path: string; readonly writable: boolean }[]
  /** Further folders of the workspace. */
  readonly folders?: readonly { readonly path: string; readonly writable: boolean }[]
  /** Files inside the workspace that cannot be read, by absolute path. */
  readonly hidden?: readonly string[]
  /** Folders inside the workspace of which nothing can be seen, by absolute path. */
  readonly hiddenFolders?: readonly string[]
  /** Folders that are shown in other places than their own, also in the place of others. */
  readonly mounts?: readonly { readonly source: string; readonly path: string; readonly writable: boolean }[]
  /** What this plan could not see to; told with the result. */
  readonly gap?: string
  /** Paths inside the workspace that stay read-only, such as `.git/config`. */
  readonly protect?: readonly string[]
}

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"]
const MASKED_FILES = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/krb5.keytab",
]
const MASKED_FOLDERS = ["/etc/ssl/private", "/etc/ssh", "/etc/sudoers.d", "/etc/NetworkManager", "/etc/wireguard"]
/** Where users' toolchains live, below the home folder; the rest of it is hidden. */
const TOOLCHAINS = [
  ".pyenv",
  ".nvm",
  ".fnm",
  ".volta",
  ".asdf",
  ".rustup",
  ".cargo/bin",
  ".cargo/registry",
  ".bun/bin",
  ".deno/bin",
  ".sdkman",
  ".local/bin",
  ".local/share/uv",
  ".local/share/mise",
  ".local/share/pnpm",
  ".local/lib",
  "go/bin",
  "go/pkg",
  "sdk",
]

/**
 * The argument vector that runs a command under bubblewrap: system folders read-only, the workspace, toolchains, fresh
 * `/proc`, `/dev`, `/tmp`, own process, IPC, host-name (and network) namespaces, no capabilities. The home folder,
 * other projects, sockets below `/run` and other processes are not there.
 *
 * @param program the bubblewrap executable
 * @param bounded whether this bubblewrap can bound its temporary file systems (`--size`, since 0.7)
 */
export async function bubblewrapArgv(
  program: string,
  argv: readonly string[],
  plan: SandboxPlan,
  bounded = false,
): Promise<string[]> {
  const args = [program, "--die-with-parent", "--new-session", "--unshare-all", "--cap-drop", "ALL"]
  if (plan.network === true) args.push("--share-net")
  const system = await (systemMounts ??= mountsOfSystem())
  args.push(...system.folders)
  const memory = (plan.limits?.memoryMb ?? defaultMemoryMb()) * 1024 * 1024
  // A tmpfs takes as much memory as is written to it.
  const tmpfs = (path: string) => [...(bounded ? ["--size", String(Math.floor(memory / 2))] : []), "--tmpfs", path]
  args.push("--proc", "/proc", ...system.kernel, "--dev", "/dev", ...tmpfs("/tmp"), ...tmpfs("/run"))
  args.push("--dir", "/var/tmp", ...system.masks)
  if (plan.network === true) args.push(...(await boundWhereThere(["/run/systemd/resolve"])))
  const home = homedir()
  if (home !== "/" && !SYSTEM.some((folder) => isInside(folder, home))) args.push("--tmpfs", home)
  for (const path of await toolchains(plan)) args.push(...bound(path, false))
  args.push(...(await workspaceMounts(plan)))
  return [...args, "--chdir", plan.cwd, "--", ...argv]
}

/** The workspace, what is mounted beside it and over it, and what of it is hidden. */
async function workspaceMounts(plan: SandboxPlan): Promise<string[]> {
  const { root, folders = [], pinned = [], protect = [], mounts = [], hidden = [], hiddenFolders = [] } = plan
  return [
    ...bound(root, plan.writable !== false),
    ...[...folders, ...pinned].flatMap(({ path, writable }) => bound(path, writable)),
    ...(await boundWhereThere(protect.map((path) => resolve(root, path)))),
    ...mounts.flatMap(({ source, path, writable }) => bound(path, writable, source)),
    // Last, for a folder that is mounted later shows what was hidden in it.
    ...hidden.flatMap((path) => bound(path, false, "/dev/null")),
    ...hiddenFolders.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
  ]
}

function bound(path: string, writable: boolean, source = path): string[] {
  return [writable ? "--bind" : "--ro-bind", source, path]
}

async function boundWhereThere(paths: readonly string[], source?: string): Promise<string[]> {
  const there = await Promise.all(paths.map(async (path) => ((await exists(path)) ? [path] : [])))
  return there.flat().flatMap((path) => bound(path, false, source))
}

/**
 * What of `/proc` speaks to the kernel and not of processes. Who is root outside passes the kernel's checks of its
 * files in every user namespace, without a single capability, so these are read-only mounts, or nothing.
 */
const KERNEL_SETTINGS = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"]
const KERNEL_SECRETS = [
  "/proc/kcore",
  "/proc/kmsg",
  "/proc/keys",
  "/proc/key-users",
  "/proc/timer_list",
  "/proc/sched_debug",
]

/** What every sandbox of this machine has of the system; looked at once. */
interface SystemMounts {
  readonly folders: readonly string[]
  readonly kernel: readonly string[]
  readonly masks: readonly string[]
}

let systemMounts: Promise<SystemMounts> | undefined

async function mountsOfSystem(): Promise<SystemMounts> {
  const [folders, kernel, files, hidden] = await Promise.all([
    Promise.all(SYSTEM.map(systemFolder)),
    kernelMasks(),
    boundWhereThere(MASKED_FILES, "/dev/null"),
    Promise.all(MASKED_FOLDERS.map(async (path) => ((await exists(path)) ? ["--tmpfs", path] : []))),
  ])
  return { folders: folders.flat(), kernel, masks: [...files, ...hidden.flat()] }
}

async function kernelMasks(): Promise<string[]> {
  return [...(await boundWhereThere(KERNEL_SETTINGS)), ...(await boundWhereThere(KERNEL_SECRETS, "/dev/null"))]
}

async function systemFolder(path: string): Promise<string[]> {
  const stat = await lstat(path).catch(() => undefined)
  if (stat === undefined) return []
  return stat.isSymbolicLink() ? ["--symlink", await readlink(path), path] : ["--ro-bind", path, path]
}

/**
 * The toolchain that a folder of PATH is a part of, which it does not run without: a shim starts what lies beside it.
 * Whose home it lies in does not matter, since PATH may name another one's than HOME does.
 */
function toolchainAround(folder: string): string | undefined {
  const name = TOOLCHAINS.find((each) => each.startsWith(".") && `${folder}/`.includes(`/${each}/`))
  return name === undefined ? undefined : folder.slice(0, `${folder}/`.indexOf(`/${name}/`) + name.length + 1)
}

async function toolchains(plan: SandboxPlan): Promise<string[]> {
  const home = homedir()
  const node = [dirname(dirname(process.execPath)), dirname(process.execPath)]
  const inPath = (plan.env.PATH ?? "").split(":").filter((path) => path.startsWith("/"))
  const ofPath = inPath.map((path) => toolchainAround(path) ?? path)
  const wanted = [...TOOLCHAINS.map((path) => join(home, path)), ...node, ...ofPath, ...(plan.readable ?? [])]
  const found: string[] = []
  for (const path of wanted) {
    const covered = [...SYSTEM, plan.root, ...found].some((folder) => isInside(folder, path))
    // Never the home folder as a whole, nor one above the workspace.
    if (covered || isInside(path, home) || isInside(path, plan.root) || !(await exists(path))) continue
    found.push(path)
  }
  return found
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}
