/**
 * What a task costs beside its model and its tools: an agent that writes a Fibonacci function, is corrected and
 * commits; six agents that build a game of chess; and what a thousand tasks that have ended leave in the memory of
 * their worker.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { createScriptedBackend, loadScreenplay, type Backend } from "@toolwright/backends"
import { createToolwright } from "@toolwright/runtime"
import { modelByAgent } from "../packages/runtime/src/testing/by-agent.ts"
import { PYCHESS_PLAN, PYCHESS_PROJECT, PYCHESS_SCRIPTS } from "../packages/runtime/src/testing/pychess.ts"
import { PYTHON_FIBONACCI_TESTS, repositoryWith } from "../packages/runtime/src/testing/repository.ts"
import { startTaskWorker } from "../packages/runtime/src/tasks/work.ts"
import { median } from "./log/measure.ts"
import type { BenchmarkResult } from "./run.ts"

const FIBONACCI = join(import.meta.dirname, "../packages/runtime/src/scenarios/fixtures/fibonacci-python.yaml")
const TAKES = 3
const TASKS = 1_000
/** After as many nothing is loaded or compiled for the first time. */
const WARM = 1_000

export async function run(): Promise<BenchmarkResult> {
  const fibonacci = await takes(fibonacciOwnTime)
  const chess = await takes(chessOwnTimes)
  const { heapMb, growthKb } = await memoryAfter()
  const most = (values: readonly number[]) => Math.max(...values)
  return {
    figures: {
      fibonacci_own_ms: median(fibonacci),
      chess_task_own_ms: median(chess),
      chess_task_own_most_ms: most(chess),
      heap_after_1000_tasks_mb: heapMb,
      heap_growth_per_task_kb: growthKb,
    },
    ratios: { fibonacci_vs_50_ms: 50 / median(fibonacci), chess_vs_50_ms: 50 / median(chess) },
  }
}

/** The first take loads what it needs, and is not counted. */
async function takes(work: () => Promise<number[]>): Promise<number[]> {
  const all: number[][] = []
  for (let take = 0; take <= TAKES; take++) all.push(await work())
  return all.slice(1).flat()
}

async function fibonacciOwnTime(): Promise<number[]> {
  const files = {
    "tests/__init__.py": "",
    "tests/test_fibonacci.py": PYTHON_FIBONACCI_TESTS,
    ".gitignore": "__pycache__/\n",
  }
  using repository = repositoryWith(files)
  const backend = createScriptedBackend(await loadScreenplay(FIBONACCI))
  await using toolwright = await createToolwright({
    backend,
    cwd: repository.path,
    workspace: { roots: [repository.path] },
  })
  const agent = await toolwright.fileOwner("FibonacciAgent", ["fibonacci.py"])
  const run = agent.run({
    message: "Create fibonacci function with proper error handling",
    task_type: "code_generation",
  })
  for (;;) {
    const step = await run.next()
    if (!step.done) continue
    if (!step.value.success) throw new Error(step.value.content)
    return ownTimes(toolwright)
  }
}

async function chessOwnTimes(): Promise<number[]> {
  using repository = repositoryWith(PYCHESS_PROJECT)
  const made = { cwd: repository.path, workspace: { roots: [repository.path] }, backend: modelByAgent(PYCHESS_SCRIPTS) }
  await using toolwright = await createToolwright(made)
  const { id } = await toolwright.plans.start(PYCHESS_PLAN)
  const empty = Promise.withResolvers<void>()
  const parts = { toolwright, made: { ...made, withBuiltins: true }, concurrency: 1, idle: 20 }
  const worker = await startTaskWorker({ ...parts, onEmpty: () => empty.resolve() })
  await empty.promise
  await worker.drain()
  const { state } = await toolwright.plans.show(id)
  if (state !== "done") throw new Error(`The plan is ${state}`)
  return ownTimes(toolwright)
}

/** Of each run: its time without the model's and the tools'. */
async function ownTimes(toolwright: Awaited<ReturnType<typeof createToolwright>>): Promise<number[]> {
  return (await toolwright.runs()).flatMap(({ summary }) => (summary === undefined ? [] : [summary.times.overheadMs]))
}

async function memoryAfter(): Promise<{ heapMb: number; growthKb: number }> {
  const cwd = mkdtempSync(join(tmpdir(), "bench-tasks-"))
  try {
    const made = { cwd, workspace: { roots: [cwd] }, backend: talker() }
    await using toolwright = await createToolwright(made)
    const queue = await toolwright.tasks.open()
    const work = async (count: number): Promise<number> => {
      await queue.addAll(Array.from({ length: count }, (_, at) => ({ agent: "assistant", input: `say ${at}` })))
      const empty = Promise.withResolvers<void>()
      const parts = { toolwright, made: { ...made, withBuiltins: true }, concurrency: 4, idle: 5 }
      const worker = await startTaskWorker({ ...parts, onEmpty: () => empty.resolve() })
      await empty.promise
      await worker.drain()
      return heap()
    }
    const before = await work(WARM)
    const after = await work(TASKS)
    const { done } = await queue.counts()
    if (done !== WARM + TASKS) throw new Error(`Only ${done} tasks are done`)
    return { heapMb: after / 2 ** 20, growthKb: (after - before) / 2 ** 10 / TASKS }
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

function talker(): Backend {
  return {
    kind: "mock",
    abilities: { nativeTools: true, grammar: false, jsonSchema: false },
    modelName: () => "mock",
    async *infer() {
      yield { type: "text-delta", text: "So it is said." }
      yield { type: "end", finishReason: "stop" }
    },
  }
}

function heap(): number {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  for (let count = 0; count < 3; count++) collect()
  return process.memoryUsage().heapUsed
}
