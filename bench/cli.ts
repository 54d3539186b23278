/** How long the command takes to answer, beside `node -e 0`, which does nothing. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import type { BenchmarkResult } from "./run.ts"

const BIN = join(import.meta.dirname, "..", "packages", "cli", "bin", "toolwright.js")
const COMMANDS: Readonly<Record<string, string[]>> = {
  node: ["-e", "0"],
  help: [BIN, "--help"],
  tools_list: [BIN, "tools", "list"],
  help_run: [BIN, "help", "run"],
  tools_call: [BIN, "tools", "call", "echo", "--message", "hello"],
}
const ROUNDS = 15

export async function run(): Promise<BenchmarkResult> {
  const samples = new Map(Object.keys(COMMANDS).map((name) => [name, [] as number[]]))
  // Taken in turns, so that whatever else the machine does meets all of them; the first round fills the caches.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, args] of Object.entries(COMMANDS)) {
      const milliseconds = timed(args)
      if (round > 0) samples.get(name)!.push(milliseconds)
    }
  }
  const medians = Object.fromEntries([...samples].map(([name, times]) => [name, median(times)]))
  const { node, ...ours } = medians
  const times = (name: string) => medians[name]! / node!
  return {
    figures: {
      node_ms: node!,
      ...Object.fromEntries(Object.entries(ours).map(([name, milliseconds]) => [`${name}_ms`, milliseconds])),
      help_times_node: times("help"),
      tools_list_times_node: times("tools_list"),
    },
    ratios: { "help: node -e 0": 1 / times("help"), "tools list: node -e 0": 1 / times("tools_list") },
  }
}

function timed(args: string[]): number {
  const started = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    cwd: join(import.meta.dirname, ".."),
  })
  const milliseconds = performance.now() - started
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`)
  return milliseconds
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}
