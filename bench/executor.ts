/**
 * Processor time per tool step of an agent loop with a model that costs nothing, at 50 and at 500 steps, beside the
 * peers.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { CONTESTANTS, PEERS } from "./executor-loops/index.ts"
import { installPeers } from "./peers.ts"
import type { BenchmarkResult } from "./run.ts"

interface Measured {
  cpuMsPerStep: number
  retainedKb?: number
}

const OURS = "toolwright"
const RECORDED = "toolwright with its log"
const SHORT = 50
const LONG = 500

export async function run(): Promise<BenchmarkResult> {
  const { folder } = installPeers("executor", PEERS)
  const measured = new Map<string, { short: Measured; long: Measured }>()
  const lines = ["ms of processor time per step"]
  // One after the other: they would take each other's processor time.
  for (const name of Object.keys(CONTESTANTS)) {
    try {
      const figures = { short: await measure(name, SHORT, folder), long: await measure(name, LONG, folder) }
      measured.set(name, figures)
      lines.push(line(name, figures.short.cpuMsPerStep, figures.long.cpuMsPerStep))
    } catch (error) {
      if (name === OURS || name === RECORDED) throw error
      lines.push(
        `${name.padEnd(30)} could not be measured: ${String(error)
          .split("\n")
          .find((text) => /Error/.test(text))}`,
      )
    }
  }
  const { short, long } = measured.get(OURS)!
  const recorded = measured.get(RECORDED)!
  for (const own of [OURS, RECORDED]) measured.delete(own)
  return {
    figures: {
      cpu_ms_per_step_50: short.cpuMsPerStep,
      cpu_ms_per_step_500: long.cpuMsPerStep,
      growth: long.cpuMsPerStep / short.cpuMsPerStep,
      with_log_cpu_ms_per_step_500: recorded.long.cpuMsPerStep,
      with_log_growth: recorded.long.cpuMsPerStep / recorded.short.cpuMsPerStep,
      with_log_times_without: recorded.long.cpuMsPerStep / long.cpuMsPerStep,
      retained_kb_per_step_50: short.retainedKb! / SHORT,
      retained_kb_per_step_500: long.retainedKb! / LONG,
    },
    ratios: Object.fromEntries(
      [...measured].map(([name, figures]) => [name, figures.long.cpuMsPerStep / long.cpuMsPerStep]),
    ),
    report: lines.join("\n"),
  }
}

async function measure(name: string, steps: number, folder: string): Promise<Measured> {
  const program = join(import.meta.dirname, "executor-loops", "measure.ts")
  // Our packages run from their sources; a peer that brings its own along is meant by the same word.
  const ours = name === OURS || name === RECORDED ? ["--conditions=toolwright-source", "--expose-gc"] : []
  const args = [...ours, program, name, String(steps), folder, ...(name === OURS ? ["--memory"] : [])]
  const env = { ...process.env, OPENAI_API_KEY: "none", LANGSMITH_TRACING: "false", MASTRA_TELEMETRY_DISABLED: "1" }
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 300_000 })
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as Measured
}

function line(name: string, short: number, long: number): string {
  return (
    `${name.padEnd(30)} at ${SHORT} steps ${short.toFixed(4)}, at ${LONG} steps ${long.toFixed(4)}, growth ` +
    `${(long / short).toFixed(2)}`
  )
}
