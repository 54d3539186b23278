import { lstat, readdir, readFile, readlink } from "node:fs/promises"
import { join } from "node:path"

/**
 * What a file is to the checks: a `test` itself (or what stands beside tests for them), `configuration` that decides
 * which tests run and how, or a `hook` that a commit has to pass.
 */
export type CheckKind = "test" | "configuration" | "hook"

/** A file of the checks as it was: its content, or `link` and where it leads. `undefined`: too large to be kept. */
export interface CheckFile {
  readonly kind: CheckKind
  readonly content: string | undefined
  /** By what it is known again where its content was not kept. */
  readonly mark?: string
}

const TEST_FOLDER = /^(?:tests?|__tests__|__snapshots__|specs?|e2e|testdata|test_.*)$/iu
const TEST_FILE =
  /(?:\.(?:test|spec)\.[cm]?[jt]sx?|^test\.[cm]?[jt]s|_test\.(?:go|py|rb|rs)|_spec\.rb|Tests?\.(?:java|kt|cs))$|^test_.*\.py$/u
const CONFIGURATION = new RegExp(
  [
    String.raw`^(?:conftest|sitecustomize|usercustomize)\.py$`,
    String.raw`^(?:pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|Cargo\.toml|package\.json|\.npmrc|(?:GNUm|[mM])akefile|[jJ]ustfile)$`,
    String.raw`^(?:vitest|vite|jest|playwright|karma|ava|babel)\.(?:config|setup|workspace)\.[cm]?[jt]s(?:on)?$`,
    String.raw`^(?:jest\.setup|vitest\.setup|setupTests)\.[cm]?[jt]sx?$|^\.(?:mocharc|babelrc|taprc)(?:\.\w+)?$`,
  ].join("|"),
  "u",
)
const HOOK = /^(?:\.pre-commit-config\.ya?ml|\.?lefthook\.ya?ml)$/u
const SKIPPED = new Set([
  ".git",
  "node_modules",
  ".venv",
  "venv",
  "target",
  "__pycache__",
  ".toolwright",
  "dist",
  "build",
])

const MOST_ENTRIES = 50_000
const MOST_FILE_BYTES = 2 * 1024 * 1024
const MOST_BYTES = 64 * 1024 * 1024

/** The parts of a package.json by which tests are run; the rest may change without a word. */
const PACKAGE_PARTS = ["jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "husky", "lint-staged"]

/** Reads every file of a workspace's checks. Links are noted and not followed. */
export async function readCheckFiles(root: string, signal: AbortSignal): Promise<Map<string, CheckFile>> {
  const files = new Map<string, CheckFile>()
  const pending: { folder: string; kind: CheckKind | undefined }[] = [{ folder: "", kind: undefined }]
  let seen = 0
  let bytes = 0
  const note = async (path: string, kind: CheckKind): Promise<void> => {
    const content = bytes > MOST_BYTES ? undefined : await contentOf(root, path)
    bytes += content?.length ?? 0
    files.set(path, { kind, content })
  }
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    signal.throwIfAborted()
    const entries = await readdir(join(root, at.folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (++seen > MOST_ENTRIES) return files
      const path = at.folder === "" ? entry.name : `${at.folder}/${entry.name}`
      if (entry.isDirectory()) {
        if (SKIPPED.has(entry.name)) continue
        const kind = at.kind ?? (TEST_FOLDER.test(entry.name) ? "test" : entry.name === ".husky" ? "hook" : undefined)
        pending.push({ folder: path, kind })
        continue
      }
      const kind = kindOf(entry.name, at.kind)
      if (kind !== undefined) await note(path, kind)
    }
  }
  await noteHooks(root, files)
  for (const path of await scriptsOfTests(root)) if (!files.has(path)) await note(path, "configuration")
  return files
}

/** The hooks of the repository itself, and where its configuration says that hooks lie. */
async function noteHooks(root: string, files: Map<string, CheckFile>): Promise<void> {
  const entries = await readdir(join(root, ".git/hooks"), { withFileTypes: true }).catch(() => [])
  for (const { name } of entries) {
    if (name.endsWith(".sample")) continue
    files.set(`.git/hooks/${name}`, { kind: "hook", content: await contentOf(root, `.git/hooks/${name}`) })
  }
  const text = [...files.values()].map(({ kind, content }) => (kind === "hook" ? (content ?? "") : "")).join("\n")
  for (const path of await filesAmong(root, wordsOf(text)))
    if (!files.has(path)) files.set(path, { kind: "hook", content: await contentOf(root, path) })
  const scripts = text === "" ? undefined : await packageParts(root, "package.json", wordsOf(text))
  if (scripts !== undefined) files.set("package.json (what hooks run)", { kind: "hook", content: `file\n${scripts}` })
  const config = await contentOf(root, ".git/config")
  const place = /^\s*hooksPath\s*=\s*(.+?)\s*$/imu.exec(config ?? "")?.[1]
  if (place !== undefined) files.set(".git/config", { kind: "hook", content: `file\n${place}` })
}

function kindOf(name: string, folder: CheckKind | undefined): CheckKind | undefined {
  if (CONFIGURATION.test(name)) return "configuration"
  if (HOOK.test(name)) return "hook"
  return folder ?? (TEST_FILE.test(name) ? "test" : undefined)
}

/** Files that the test script of package.json names: they run the tests. */
async function scriptsOfTests(root: string): Promise<string[]> {
  const parts = JSON.parse((await packageParts(root, "package.json")) ?? "{}") as { scripts?: Record<string, string> }
  return filesAmong(root, Object.values(parts.scripts ?? {}).flatMap(wordsOf))
}

const wordsOf = (script: string): string[] => script.split(/[\s;&|'"]+/u)

async function filesAmong(root: string, words: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    [...new Set(words)].map(async (word) => {
      const path = word.replace(/^\.\//u, "")
      if (path === "" || path.startsWith("/") || path.includes("..") || path.startsWith("node_modules")) return []
      return (await lstat(join(root, path)).catch(() => undefined))?.isFile() === true ? [path] : []
    }),
  )
  return found.flat()
}

async function contentOf(root: string, path: string): Promise<string | undefined> {
  const full = join(root, path)
  const stat = await lstat(full).catch(() => undefined)
  if (stat === undefined) return undefined
  if (stat.isSymbolicLink()) return `link\n${await readlink(full).catch(() => "")}`
  if (!stat.isFile() || stat.size > MOST_FILE_BYTES) return undefined
  if (path === "package.json" || path.endsWith("/package.json")) return `parts\n${await packageParts(root, path)}`
  return `${(stat.mode & 0o111) === 0 ? "file" : "program"}\n${await readFile(full, "latin1").catch(() => "")}`
}

/** What a package.json says of its tests, as JSON with sorted keys; or of the scripts that others name. */
async function packageParts(root: string, path: string, named?: readonly string[]): Promise<string | undefined> {
  try {
    const stat = await lstat(join(root, path))
    if (!stat.isFile() || stat.size > MOST_FILE_BYTES) return undefined
    const all = JSON.parse(await readFile(join(root, path), "utf8")) as Record<string, unknown>
    const scripts = reachedScripts(
      (all.scripts ?? {}) as Record<string, string>,
      (name) => named?.includes(name) ?? /^(?:pre|post)?test\b/u.test(name),
    )
    if (named !== undefined) return JSON.stringify(scripts)
    const rest = PACKAGE_PARTS.filter((name) => all[name] !== undefined).map((name) => [name, all[name]])
    return JSON.stringify({ scripts, ...Object.fromEntries(rest) })
  } catch {
    return undefined
  }
}

/** Some scripts, and those that they name in turn (`npm run unit`), sorted. */
function reachedScripts(all: Readonly<Record<string, string>>, isFirst: (name: string) => boolean) {
  const reached = new Set(Object.keys(all).filter(isFirst))
  for (const name of reached)
    for (const word of wordsOf(String(all[name])))
      for (const other of [`pre${word}`, word, `post${word}`]) if (Object.hasOwn(all, other)) reached.add(other)
  return Object.fromEntries([...reached].sort().map((name) => [name, all[name]]))
}
