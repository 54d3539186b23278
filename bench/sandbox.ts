/**
 * What containment costs: git's commands as tools run them (a configuration of ours, in the sandbox) against git by
 * itself, and a shell command likewise. A machine without bubblewrap measures what is left without it.
 */
import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { createWorkspace } from "@toolwright/host/paths"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { ToolRegistry, type JsonObject } from "@toolwright/toolbox"
import { createProcessTools } from "../packages/tools/src/process-tools.ts"
import type { BenchmarkResult } from "./run.ts"

const FILES = 200
const TURNS = 40
const bare = promisify(execFile)

const PAIRS: readonly { name: string; tool: string; args: JsonObject; argv: readonly string[] }[] = [
  { name: "git_status", tool: "git", args: { action: "status" }, argv: ["git", "status", "--porcelain=v2"] },
  { name: "git_log", tool: "git", args: { action: "log" }, argv: ["git", "log", "-10"] },
  { name: "git_diff", tool: "git", args: { action: "diff" }, argv: ["git", "diff"] },
  { name: "bash", tool: "bash", args: { command: "echo x" }, argv: ["bash", "-c", "echo x"] },
]

export async function run(): Promise<BenchmarkResult> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "bench-sandbox-")))
  try {
    prepare(root)
    const registry = new ToolRegistry()
    const workspace = createWorkspace({ roots: [{ path: root, access: "read-write" }] })
    for (const tool of createProcessTools(workspace)) registry.register(tool)
    const figures: Record<string, number> = {}
    const ratios: Record<string, number> = {}
    for (const { name, tool, args, argv } of PAIRS) {
      const ours: number[] = []
      const theirs: number[] = []
      // In turns, so that what else the machine does meets both.
      for (let turn = 0; turn < TURNS; turn++) {
        theirs.push(await timed(() => bare(argv[0]!, argv.slice(1), { cwd: root })))
        ours.push(await timed(async () => assertDone(await registry.execute(tool, args))))
      }
      figures[`${name}_bare_ms`] = median(theirs)
      figures[`${name}_tool_ms`] = median(ours)
      figures[`${name}_more_ms`] = median(ours) - median(theirs)
      ratios[`${name}_vs_bare`] = median(theirs) / median(ours)
    }
    const { program, reason } = await probeBubblewrap()
    const report =
      program === undefined ? `Without a sandbox: ${reason}.` : `In bubblewrap; ${FILES} files, ${TURNS} turns.`
    return { figures, ratios, report }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function prepare(root: string): void {
  const git = (...args: string[]) => execFileSync("git", ["-C", root, ...args], { stdio: "ignore" })
  git("init", "--quiet")
  for (let file = 0; file < FILES; file++) writeFileSync(join(root, `${file}.txt`), `${file}\n`)
  git("add", ".")
  git("-c", "user.name=B", "-c", "user.email=b@localhost", "commit", "--quiet", "--message=Begin")
  for (let file = 0; file < 10; file++) writeFileSync(join(root, `${file}.txt`), "changed\n")
}

function assertDone(result: { success: boolean; output: string }): void {
  if (!result.success) throw new Error(result.output)
}

async function timed(task: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await task()
  return performance.now() - started
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
