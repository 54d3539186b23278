import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { entriesOf, realOf } from "../look.ts"
import { parseConfig, printConfig, type ConfigEntry } from "./config-file.ts"
import { allowedOfRepository, allowedOfUser, fixedEntries, type SafeConfig } from "./config-rules.ts"
import { refused, resolveRepository, type RepositoryLayout } from "./layout.ts"
import { readPlainFile } from "./plain-file.ts"
import { userConfig } from "./user-config.ts"

/**
 * A repository as git is shown it: its own HEAD, index, refs and objects, and a configuration of ours. git takes what
 * working trees share from a folder that a variable names (`GIT_COMMON_DIR`); that folder is a temporary one, which
 * holds the configuration as a file and everything else as links into the repository. Dispose of it.
 */
export interface RepositoryView extends Disposable {
  /** The temporary folder. */
  readonly folder: string
  /** Environment variables by which git finds it all. */
  readonly env: Readonly<Record<string, string>>
  /** Files of the user's outside the repository that git reads. */
  readonly reads: readonly string[]
  /** What the repository's configuration said beside what it may say. */
  readonly dropped: readonly string[]
  /**
   * Filters without which no file may be stored (`filter.<name>.required`), whoever says so; none of them runs here.
   */
  readonly requiredFilters: ReadonlySet<string>
  /** The folder that the repository names for its hooks, absolute. */
  readonly hooks: string
}

/** What lies in the shared folder and is the repository's own; configuration and hooks are not among it. */
const SHARED = ["objects", "refs", "logs", "info", "packed-refs", "reftable", "worktrees", "modules"]
/** git repeats its lines in errors, and never writes it: it gets what was read, whatever is put there meanwhile. */
const COPIED = "shallow"
const COPIED_BYTES = 4 * 1024 * 1024
const CONFIG_BYTES = 1024 * 1024

/** @throws ToolwrightError `REPOSITORY_REFUSED` when the configuration cannot be read */
export function viewRepository(layout: RepositoryLayout, writable: boolean): RepositoryView {
  const { entries, safe, hooks } = configurationOf(layout)
  const everyUser = userConfig(layout.gitDir)
  const user = allowedOfUser(everyUser)
  const folder = mkdtempSync(join(realOf(tmpdir()) ?? tmpdir(), "toolwright-git-"))
  try {
    fill(folder, layout, writable)
    const text = printConfig([...safe.entries, ...fixedEntries()])
    writeFileSync(join(folder, "config"), text, { mode: 0o600 })
    writeFileSync(join(folder, "user"), printConfig(user), { mode: 0o600 })
  } catch (thrown) {
    rmSync(folder, { recursive: true, force: true })
    throw thrown
  }
  return {
    folder,
    reads: excludes(user),
    dropped: safe.dropped,
    requiredFilters: requiredFilters([...everyUser, ...entries]),
    hooks,
    env: {
      GIT_DIR: layout.gitDir,
      GIT_COMMON_DIR: folder,
      GIT_WORK_TREE: layout.top,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: join(folder, "user"),
      GIT_ATTR_NOSYSTEM: "1",
      GIT_NO_REPLACE_OBJECTS: "1",
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function fill(folder: string, { commonDir }: RepositoryLayout, writable: boolean): void {
  // git makes the logs itself, but not behind a link that leads nowhere.
  if (writable) makeFolder(join(commonDir, "logs"))
  const there = new Set(readdirSync(commonDir))
  copyFile(join(commonDir, COPIED), join(folder, COPIED))
  for (const name of SHARED) {
    // Files among these are made by renaming; git looks where a link leads before it does.
    if (there.has(name) || name === "packed-refs") symlinkSync(join(commonDir, name), join(folder, name))
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true })
  } catch {
    // Something else lies there, or nothing may be made: git says what it lacks.
  }
}

/** @throws ToolwrightError `REPOSITORY_REFUSED` for what is no small regular file */
function copyFile(from: string, to: string): void {
  try {
    const bytes = readPlainFile(from, COPIED_BYTES)
    if (bytes !== undefined) writeFileSync(to, bytes, { mode: 0o600 })
  } catch (thrown) {
    throw refused(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

/** In every repository, and nothing that git could start. */
const ORDINARY = new Set(["core.bare", "core.worktree", "init.defaultbranch", "submodule.*.url", "submodule.*.active"])

/**
 * Why git, as it comes, would start programs of the repository at a folder's top: for a git that is not shown a view.
 * @returns nothing where there is no repository, or none that names programs
 */
export function startsPrograms(top: string, roots: readonly string[]): string | undefined {
  try {
    const layout = resolveRepository(top, roots)
    if (layout === undefined) return undefined
    const { safe, hooks } = configurationOf(layout)
    const key = safe.dropped.find((name) => !ORDINARY.has(name))
    if (key !== undefined) return `the repository's configuration has ${key}`
    const own = entriesOf(hooks).find(({ name }) => !name.endsWith(".sample"))?.name
    return own === undefined ? undefined : `the repository has the hook ${own}`
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

interface Configuration {
  readonly entries: readonly ConfigEntry[]
  readonly safe: SafeConfig
  readonly hooks: string
}

/** What the repository's own configuration says and may say, with the file that single working trees may have. */
function configurationOf(layout: RepositoryLayout): Configuration {
  const shared = configIn(join(layout.commonDir, "config"))
  const perTree = lastValue(shared, "extensions", "worktreeconfig")
  const own = perTree === undefined ? [] : configIn(join(layout.gitDir, "config.worktree"))
  const entries = [...shared, ...own]
  const safe = allowedOfRepository(entries)
  if (safe.unknownExtension !== undefined)
    throw refused(`its format has an extension that is not known here, ${safe.unknownExtension}`)
  const named = lastValue(entries, "core", "hookspath")
  return { entries, safe, hooks: named ? resolve(layout.top, named) : join(layout.commonDir, "hooks") }
}

function requiredFilters(entries: readonly ConfigEntry[]): Set<string> {
  const required = new Set<string>()
  for (const { section, subsection, key, value } of entries) {
    if (section !== "filter" || subsection === undefined || key !== "required") continue
    if (/^(?:false|no|off|0|)$/iu.test(value ?? "true")) required.delete(subsection)
    else required.add(subsection)
  }
  return required
}

function lastValue(entries: readonly ConfigEntry[], section: string, key: string): string | null | undefined {
  return entries.findLast((one) => one.section === section && one.key === key && one.subsection === undefined)?.value
}

function configIn(file: string): ConfigEntry[] {
  try {
    return parseConfig(readPlainFile(file, CONFIG_BYTES)?.toString("utf8") ?? "")
  } catch (thrown) {
    throw refused(thrown instanceof Error ? thrown.message : String(thrown))
  }
}

/** The lists of names that the user ignores everywhere. */
function excludes(user: readonly ConfigEntry[]): string[] {
  const named = lastValue(user, "core", "excludesfile")
  const file = named ? named.replace(/^~(?=\/)/u, homedir()) : join(homedir(), ".config/git/ignore")
  return [file, join(homedir(), ".config/git/attributes")]
}
