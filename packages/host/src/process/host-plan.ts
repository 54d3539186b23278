import { join } from "node:path"
import type { SandboxPlan } from "../sandbox/bubblewrap.ts"
import type { ProcessHost } from "./host.ts"
import { linkedRepository } from "./linked-repository.ts"
import { secretFiles, type SecretEntries } from "./secret-files.ts"

/**
 * What a sandboxed process of this host may see: every root with its own access, `.git/config` and hooks read-only (git
 * would run what they
 * name), and files that the path rules keep from the tools not at all.
 */
export async function planFor(
  host: ProcessHost,
  options: { network?: boolean; protect?: readonly string[] } = {},
): Promise<Omit<SandboxPlan, "env" | "cwd">> {
  const { network = false, protect = [".git/config", ".git/hooks"] } = options
  const [, ...others] = host.workspace.roots
  const linked = await linkedRepository(host.root)
  const secrets = await protectedFiles(host)
  const folders = others.map((root) => ({ path: root.real, writable: root.access === "read-write" }))
  return {
    root: host.root,
    writable: host.writable,
    network,
    protect: linked === undefined ? protect : [...protect, join(linked, "config"), join(linked, "hooks"), ".git"],
    folders: linked === undefined ? folders : [...folders, { path: linked, writable: host.writable }],
    hidden: secrets.files,
    hiddenFolders: secrets.folders,
    ...(secrets.incomplete
      ? { gap: "the workspace holds too many files to find all secrets in it; the command could read some" }
      : {}),
  }
}

/** What the path rules keep from tools, in any root, and whether there were too many files to find all. */
export function protectedFiles({ workspace }: ProcessHost): Promise<SecretEntries> {
  return secretFiles(
    workspace.roots.map((root) => root.real),
    workspace.policy,
  )
}
