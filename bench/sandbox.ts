/**
 * What containment costs: git's commands as tools run them (a configuration of ours, in the sandbox) against git by
 * itself, and a shell command likewise. A machine without bubblewrap measures what is left without it.
 */
import { execFile, execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
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

interface Pair {
  readonly name: string
  readonly tool: string
  readonly args: JsonObject
  /** What somebody types for the same; several commands one after the other. */
  readonly typed: readonly (readonly string[])[]
  /** Whether a file changes before each. */
  readonly changes?: boolean
}

const IDENTITY = ["-c", "user.name=B", "-c", "user.email=b@localhost"]
const PAIRS: readonly Pair[] = [
  { name: "git_status", tool: "git", args: { action: "status" }, typed: [["git", "status", "--porcelain=v2"]] },
  { name: "git_log", tool: "git", args: { action: "log" }, typed: [["git", "log", "-10"]] },
  { name: "git_diff", tool: "git", args: { action: "diff" }, typed: [["git", "diff"]] },
  {
    name: "git_add",
    tool: "git",
    args: { action: "add", files: ["99.txt"] },
    typed: [["git", "add", "99.txt"]],
    changes: true,
  },
  {
    name: "git_commit",
    tool: "git",
    args: { action: "commit", files: ["99.txt"], message: "Change" },
    typed: [
      ["git", "add", "99.txt"],
      ["git", ...IDENTITY, "commit", "--quiet", "--message=Change", "--only", "99.txt"],
    ],
    changes: true,
  },
  { name: "bash", tool: "bash", args: { command: "echo x" }, typed: [["bash", "-c", "echo x"]] },
]

/** Wall time and processor time of ourselves and of all that we started, in milliseconds. */
interface Cost {
  readonly wall: number
  readonly cpu: number
}

export async function run(): Promise<BenchmarkResult> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "bench-sandbox-")))
  try {
    prepare(root)
    const registry = new ToolRegistry()
    const workspace = createWorkspace({ roots: [{ path: root, access: "read-write" }] })
    for (const tool of createProcessTools(workspace)) registry.register(tool)
    const figures: Record<string, number> = {}
    const ratios: Record<string, number> = {}
    for (const { name, tool, args, typed, changes } of PAIRS) {
      const ours: Cost[] = []
      const theirs: Cost[] = []
      const change = (text: string) => changes === true && writeFileSync(join(root, "99.txt"), text)
      // In turns, so that what else the machine does meets both.
      for (let turn = 0; turn < TURNS; turn++) {
        change(`theirs ${turn}\n`)
        theirs.push(
          await cost(async () => {
            for (const [program, ...rest] of typed) await bare(program!, rest, { cwd: root })
          }),
        )
        change(`ours ${turn}\n`)
        ours.push(await cost(async () => assertDone(await registry.execute(tool, args))))
      }
      figures[`${name}_bare_ms`] = median(theirs.map(({ wall }) => wall))
      figures[`${name}_tool_ms`] = median(ours.map(({ wall }) => wall))
      figures[`${name}_added_ms`] = figures[`${name}_tool_ms`]! - figures[`${name}_bare_ms`]!
      figures[`${name}_added_cpu_ms`] = mean(ours.map(({ cpu }) => cpu)) - mean(theirs.map(({ cpu }) => cpu))
      ratios[`${name}_vs_bare`] = figures[`${name}_bare_ms`]! / figures[`${name}_tool_ms`]!
    }
    const added = PAIRS.filter(({ tool }) => tool === "git").map(({ name }) => figures[`${name}_added_ms`]!)
    figures.git_added_ms = mean(added)
    figures.git_added_most_ms = Math.max(...added)
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

async function cost(task: () => Promise<unknown>): Promise<Cost> {
  const [started, used] = [performance.now(), processorMs()]
  await task()
  return { wall: performance.now() - started, cpu: processorMs() - used }
}

/** In hundredths of a second, as the system counts them: true over many turns only. */
function processorMs(): number {
  if (process.platform !== "linux") return Number.NaN
  const stat = readFileSync("/proc/self/stat", "latin1")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 10
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
