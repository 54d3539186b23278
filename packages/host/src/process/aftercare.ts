import { chmod, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { entriesOf, isThere, lookAt, realOf } from "../look.ts"
import { isInside } from "../paths/roots.ts"
import { parseConfig, printConfig } from "../repository/config-file.ts"
import { allowedOfRepository } from "../repository/config-rules.ts"
import { plainFileOrNothing, readPlainFile } from "../repository/plain-file.ts"

/** Where a repository may come to be during a command, and what must not. */
export interface Aftercare {
  /** What was not there before and must not be there afterwards. */
  readonly absent: readonly string[]
  /** Repositories' folders, and files that point to one, that were not there before. */
  readonly unborn: readonly string[]
  /** Those that were: what points into one of them (a linked work tree, a submodule) is guarded with it. */
  readonly known: ReadonlySet<string>
  /** What could not be changed. */
  readonly fixed: ReadonlySet<string>
}

const CONFIG_BYTES = 1024 * 1024

/**
 * Puts right what no mount can keep from happening, once nothing of a command lives any more: configuration that it
 * made is set aside under another name, and a repository that it made keeps what a repository's configuration may say.
 *
 * @returns sentences that say what was done; none where there was nothing to do
 */
export async function putRight({ absent, unborn, ...known }: Aftercare): Promise<string[]> {
  const notes: string[] = []
  for (const path of absent) {
    if (isThere(path)) notes.push(await setAside(path))
  }
  for (const gitDir of unborn) {
    if (isThere(gitDir)) notes.push(...(await disarm(gitDir, known)))
  }
  return notes
}

async function setAside(path: string): Promise<string> {
  const aside = `${path}.refused`
  await rm(aside, { recursive: true, force: true })
  await rename(path, aside)
  return `the command made ${path}, which people make and commands do not: it is ${basename(aside)} now`
}

/** Where a file points to, if that lies in a repository that was there before. */
function leadsTo(pointer: string, known: ReadonlySet<string>): { to: string; of: string } | undefined {
  const text = plainFileOrNothing(pointer, CONFIG_BYTES)?.toString("utf8") ?? ""
  const target = /^gitdir: (.+?)\s*$/u.exec(text)?.[1]
  const to = target === undefined ? undefined : realOf(resolve(dirname(pointer), target))
  const of = to === undefined ? undefined : [...known].find((gitDir) => isInside(gitDir, to))
  return to === undefined || of === undefined ? undefined : { to, of }
}

/**
 * Looks at what a new file points to inside a repository that was there: the folder of a work tree shares what the
 * repository has and nothing else; one of a submodule is a repository of its own.
 */
async function disarmWithin(
  pointer: string,
  { to, of }: { to: string; of: string },
  aftercare: Known,
): Promise<string[]> {
  if (to === of || aftercare.fixed.has(join(to, "config"))) return []
  if (dirname(to) !== join(of, "worktrees")) return disarm(to, aftercare)
  const shared = plainFileOrNothing(join(to, "commondir"), CONFIG_BYTES)?.toString("utf8")
  const real = shared === undefined ? undefined : realOf(resolve(to, shared.trim()))
  if (real !== of) return [await setAside(pointer)]
  const own = join(to, "config.worktree")
  return isThere(own) && !aftercare.fixed.has(own) ? [await setAside(own)] : []
}

type Known = Pick<Aftercare, "known" | "fixed">

async function disarm(gitDir: string, aftercare: Known): Promise<string[]> {
  const stat = lookAt(gitDir)
  if (stat === undefined) return []
  const within = stat.isFile() ? leadsTo(gitDir, aftercare.known) : undefined
  if (within !== undefined) return disarmWithin(gitDir, within, aftercare)
  if (!stat.isDirectory()) return stat.isFile() || stat.isSymbolicLink() ? [await setAside(gitDir)] : []
  const notes: string[] = []
  for (const name of ["commondir", "config.worktree"])
    if (isThere(join(gitDir, name))) notes.push(await setAside(join(gitDir, name)))
  const refused = await keepAllowed(join(gitDir, "config"))
  if (refused.length > 0) notes.push(`settings were taken out of ${join(gitDir, "config")}: ${refused.join(", ")}`)
  const hooks = join(gitDir, "hooks")
  for (const entry of entriesOf(hooks)) {
    if (entry.name.endsWith(".sample")) continue
    if (entry.isFile()) await chmod(join(hooks, entry.name), 0o644)
    else await rm(join(hooks, entry.name), { recursive: true, force: true })
    notes.push(`the hook ${entry.name} that the command made was switched off`)
  }
  return notes
}

/** Harmless in a repository that was made here, and needless in one that is read. */
const ALSO = /^\[core\]\s*bare\s*=\s*(?:true|false)/iu

async function keepAllowed(file: string): Promise<string[]> {
  try {
    const entries = parseConfig(readPlainFile(file, CONFIG_BYTES)?.toString("utf8") ?? "")
    const plain = entries.filter((entry) => !ALSO.test(`[${entry.section}] ${entry.key} = ${entry.value}`))
    const { entries: kept, dropped } = allowedOfRepository(plain)
    if (dropped.length === 0) return []
    await writeFile(file, printConfig(kept))
    return [...dropped]
  } catch {
    await setAside(file)
    return ["everything, for it could not be read"]
  }
}
