import { readlinkSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { isThere, lookAt, realOf } from "../look.ts"
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
  /**
   * The path of a program that starts no others but its own, and is all that runs here: it gets its libraries, the
   * workspace and what is named; no `/proc`, no devices, no toolchains, and of `/etc` who it is and what time. Every
   * mount takes time. Passed over where it does not lie with the programs of the system.
   */
  readonly alone?: string
}

const PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
const SYSTEM = [...PROGRAMS, "/etc", "/opt", "/nix"]
/** What a program that runs alone sees of `/etc`: names of users, the time zone, where libraries lie. */
const ETC_ALONE = ["passwd", "group", "nsswitch.conf", "localtime", "ld.so.cache"]
const DEVICES_ALONE = ["/dev/null", "/dev/urandom"]
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
export function bubblewrapArgv(program: string, argv: readonly string[], plan: SandboxPlan, bounded = false): string[] {
  const args = [program, "--die-with-parent", "--new-session", "--unshare-all", "--cap-drop", "ALL"]
  if (plan.network === true) args.push("--share-net")
  const memory = (plan.limits?.memoryMb ?? defaultMemoryMb()) * 1024 * 1024
  // A tmpfs takes as much memory as is written to it.
  const tmpfs = (path: string) => [...(bounded ? ["--size", String(Math.floor(memory / 2))] : []), "--tmpfs", path]
  const machine = (machineMounts ??= mountsOfMachine())
  // Nothing of what it starts outlives the first process of a namespace, so that there is nothing to be waited for.
  if (runsAlone(argv, plan)) args.push("--as-pid-1", ...machine.alone, ...tmpfs("/tmp"), ...namedToRead(plan))
  else args.push(...systemMounts(plan, machine, tmpfs))
  args.push(...workspaceMounts(plan))
  return [...args, "--chdir", plan.cwd, "--", ...argv]
}

/** Whether a command gets the narrow view that its plan allows: what it runs lies where all of it is shown. */
function runsAlone([first = ""]: readonly string[], { alone, network }: SandboxPlan): boolean {
  if (alone === undefined || network === true) return false
  return [first, alone].every((path) => {
    const real = realOf(path)
    return real !== undefined && PROGRAMS.some((folder) => isInside(folder, real))
  })
}

/** Files beside the workspace that a program which runs alone was named; folders that lie in others shown are not. */
function namedToRead({ root, readable = [] }: SandboxPlan): string[] {
  return boundWhereThere(readable.filter((path) => !isInside(path, root) && !isInside(root, path)))
}

function systemMounts(plan: SandboxPlan, machine: MachineMounts, tmpfs: (path: string) => string[]): string[] {
  const args = [...machine.folders, "--proc", "/proc", ...machine.kernel, "--dev", "/dev"]
  args.push(...tmpfs("/tmp"), ...tmpfs("/run"), "--dir", "/var/tmp", ...machine.masks)
  if (plan.network === true) args.push(...boundWhereThere(["/run/systemd/resolve"]))
  const home = homedir()
  if (home !== "/" && !SYSTEM.some((folder) => isInside(folder, home))) args.push("--tmpfs", home)
  for (const path of toolchains(plan)) args.push(...bound(path, false))
  return args
}

/** The workspace, what is mounted beside it and over it, and what of it is hidden. */
function workspaceMounts(plan: SandboxPlan): string[] {
  const { root, folders = [], pinned = [], protect = [], mounts = [], hidden = [], hiddenFolders = [] } = plan
  return [
    ...bound(root, plan.writable !== false),
    ...[...folders, ...pinned].flatMap(({ path, writable }) => bound(path, writable)),
    ...boundWhereThere(protect.map((path) => resolve(root, path))),
    ...mounts.flatMap(({ source, path, writable }) => bound(path, writable, source)),
    // Last, for a folder that is mounted later shows what was hidden in it.
    ...hidden.flatMap((path) => bound(path, false, "/dev/null")),
    ...hiddenFolders.flatMap((path) => ["--tmpfs", path, "--remount-ro", path]),
  ]
}

function bound(path: string, writable: boolean, source = path): string[] {
  return [writable ? "--bind" : "--ro-bind", source, path]
}

function boundWhereThere(paths: readonly string[], source?: string): string[] {
  return paths.filter(isThere).flatMap((path) => bound(path, false, source))
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

/** What every sandbox of this machine has of it; looked at once. */
interface MachineMounts {
  /** For a program that runs alone. */
  readonly alone: readonly string[]
  readonly folders: readonly string[]
  readonly kernel: readonly string[]
  readonly masks: readonly string[]
}

let machineMounts: MachineMounts | undefined

function mountsOfMachine(): MachineMounts {
  return {
    alone: [
      ...PROGRAMS.flatMap(systemFolder),
      ...boundWhereThere(ETC_ALONE.map((name) => join("/etc", name))),
      ...DEVICES_ALONE.filter(isThere).flatMap((path) => ["--dev-bind", path, path]),
    ],
    folders: SYSTEM.flatMap(systemFolder),
    kernel: [...boundWhereThere(KERNEL_SETTINGS), ...boundWhereThere(KERNEL_SECRETS, "/dev/null")],
    masks: [
      ...boundWhereThere(MASKED_FILES, "/dev/null"),
      ...MASKED_FOLDERS.filter(isThere).flatMap((path) => ["--tmpfs", path]),
    ],
  }
}

function systemFolder(path: string): string[] {
  const stat = lookAt(path)
  if (stat === undefined) return []
  return stat.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path]
}

/**
 * The toolchain that a folder of PATH is a part of, which it does not run without: a shim starts what lies beside it.
 * Whose home it lies in does not matter, since PATH may name another one's than HOME does.
 */
function toolchainAround(folder: string): string | undefined {
  const name = TOOLCHAINS.find((each) => each.startsWith(".") && `${folder}/`.includes(`/${each}/`))
  return name === undefined ? undefined : folder.slice(0, `${folder}/`.indexOf(`/${name}/`) + name.length + 1)
}

function toolchains(plan: SandboxPlan): string[] {
  const home = homedir()
  const node = [dirname(dirname(process.execPath)), dirname(process.execPath)]
  const inPath = (plan.env.PATH ?? "").split(":").filter((path) => path.startsWith("/"))
  const ofPath = inPath.map((path) => toolchainAround(path) ?? path)
  const wanted = [...TOOLCHAINS.map((path) => join(home, path)), ...node, ...ofPath, ...(plan.readable ?? [])]
  const found: string[] = []
  for (const path of wanted) {
    const covered = [...SYSTEM, plan.root, ...found].some((folder) => isInside(folder, path))
    // Never the home folder as a whole, nor one above the workspace.
    if (covered || isInside(path, home) || isInside(path, plan.root) || !isThere(path)) continue
    found.push(path)
  }
  return found
}
