import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { messageOf } from "@toolwright/toolbox"
import { createWorkspace } from "@toolwright/host/paths"
import { createProcessHost, type ProcessHost } from "@toolwright/host/process"
import { detectFrameworks } from "../../run-tests/detect.ts"
import { runTests } from "../../run-tests/run-tests.ts"
import { describeRun } from "../../run-tests/test.ts"
import type { CheckFile } from "./check-files.ts"

/** Folders that are linked into the copy and not copied: what was installed. */
export const LINKED = new Set(["node_modules", ".venv", "venv"])
/** What the copy is made without. */
export const LEFT_OUT = new Set([".git", ".toolwright", "target", "__pycache__"])
const MOST_ENTRIES = 30_000

/** How the earlier checks ended. */
export interface EarlierRun {
  passed: boolean
  report: string
  /** They ran to their own end: run again on the same work they would end the same. */
  ranThrough?: true
}

/**
 * Runs the checks as they were against the work as it is, in a copy that is taken away afterwards. A check that cannot
 * be run again has not passed, and the report says why.
 */
export async function runEarlierChecks(
  host: ProcessHost,
  before: ReadonlyMap<string, CheckFile>,
  now: ReadonlyMap<string, CheckFile>,
  signal: AbortSignal,
): Promise<EarlierRun> {
  const lost = [...before].filter(([, { content }]) => content === undefined).map(([path]) => path)
  if (lost.length > 0)
    return { passed: false, report: `These checks could not be kept as they were: ${lost.join(", ")}.` }
  const copy = await realpath(await mkdtemp(join(tmpdir(), "toolwright-checks-")))
  try {
    const installed = await copyWork(host, copy)
    for (const path of now.keys()) if (!before.has(path)) await rm(join(copy, path), { force: true })
    for (const [path, file] of before) if (file.kind !== "hook") await restore(copy, path, file.content!)
    const hooks = [...before, ...now].filter(
      ([path, { kind }]) => kind === "hook" && now.get(path)?.content !== before.get(path)?.content,
    )
    const tested = await runAll(host, copy, installed, signal)
    if (hooks.length === 0 || !tested.passed) return tested
    return {
      ...tested,
      passed: false,
      report: `Hooks that a commit has to pass are not as they were: ${hooks[0]![0]}.`,
    }
  } catch (thrown) {
    if (signal.aborted) throw thrown
    return { passed: false, report: `The checks as they were could not be run again: ${messageOf(thrown)}` }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function runAll(
  host: ProcessHost,
  copy: string,
  installed: readonly string[],
  signal: AbortSignal,
): Promise<EarlierRun> {
  const workspace = createWorkspace({
    roots: [{ path: copy, access: "read-write" }, ...installed.map((path) => ({ path, access: "read-only" as const }))],
  })
  const own = createProcessHost(workspace, host.config)
  const lines: string[] = []
  let passed = true
  let ranThrough = true
  for (const framework of await detectFrameworks(copy)) {
    const run = await runTests(own, { framework, signal })
    passed &&= run.success
    ranThrough &&= run.outcome.ended === "exit"
    if (!run.success) lines.push(describeRun(run))
  }
  const report = passed ? "The checks as they were pass." : lines.join("\n")
  return { passed, report, ...(ranThrough ? { ranThrough } : {}) }
}

/**
 * Copies the work without what tools may not read: where the copy lies, no rule keeps it from the programs that run
 * there. What is installed is shown to them as far as it lies in the workspace: a link may lead anywhere.
 *
 * @returns the real folders of what is installed, which the copy links to
 */
async function copyWork({ root, workspace: { policy } }: ProcessHost, copy: string): Promise<string[]> {
  const installed: string[] = []
  let entries = 0
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      if (++entries > MOST_ENTRIES) throw new Error(`the workspace holds more than ${MOST_ENTRIES} files`)
      if (LEFT_OUT.has(entry.name)) continue
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      const from = join(root, path)
      const to = join(copy, path)
      if (!policy.readable(from) || (entry.isFile() && (await policy.denied.holds(await lstat(from))))) continue
      if (LINKED.has(entry.name)) {
        const real = await realpath(from).catch(() => undefined)
        if (real === undefined || !policy.readable(real)) continue
        installed.push(real)
        await symlink(real, to)
      } else if (entry.isDirectory()) {
        await mkdir(to)
        await walk(path)
      } else if (entry.isFile() || entry.isSymbolicLink()) await cp(from, to, { verbatimSymlinks: true })
    }
  }
  await walk("")
  return [...new Set(installed)]
}

/** Puts a file back as it was; see `CheckFile.content`. */
async function restore(copy: string, path: string, content: string): Promise<void> {
  const full = join(copy, path)
  const cut = content.indexOf("\n")
  const [form, text] = [content.slice(0, cut), content.slice(cut + 1)]
  await mkdir(dirname(full), { recursive: true })
  if (form === "parts") return restorePackage(full, text)
  const stat = await lstat(full).catch(() => undefined)
  if (stat !== undefined) await rm(full, { recursive: true, force: true })
  if (form === "link") return symlink(text, full)
  await writeFile(full, text, "latin1")
  if (form === "program") await chmod(full, 0o755)
}

/** Only what a package.json says of its tests is put back: what else it says is part of the work. */
async function restorePackage(full: string, text: string): Promise<void> {
  const parts = JSON.parse(text === "undefined" ? "{}" : text) as { scripts?: Record<string, string> }
  const now = await readFile(full, "utf8")
    .then((source) => JSON.parse(source) as { scripts?: Record<string, string> })
    .catch(() => ({}) as { scripts?: Record<string, string> })
  const others = Object.entries(now.scripts ?? {}).filter(([name]) => !/^(?:pre|post)?test\b/u.test(name))
  const whole = { ...now, ...parts, scripts: { ...Object.fromEntries(others), ...parts.scripts } }
  await rm(full, { recursive: true, force: true })
  await writeFile(full, JSON.stringify(whole))
}
