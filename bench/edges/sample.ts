import { cpuOf, memoryOf } from "./processes.ts"
import { hitRate, type Way } from "./ways.ts"

/** A sample is at least this many calls and milliseconds. */
const CALLS = 400
const SAMPLE_MS = 300

export interface Measured {
  p50: number
  p95: number
  p99: number
  cpu: number
  throughput: number
  memory: number
}

export interface Sample {
  times: number[]
  cpu: number
  throughput: number
  /** Resident memory of both sides, in megabytes. */
  memory: number
  hitRate: number
}

export async function sample({ read, servers = [] }: Way): Promise<Sample> {
  const times: number[] = []
  const before = cpuOf(servers)
  for (const until = performance.now() + SAMPLE_MS; times.length < CALLS || performance.now() < until;) {
    const started = performance.now()
    await read()
    times.push(performance.now() - started)
  }
  const cpu = (cpuOf(servers) - before) / times.length
  const started = performance.now()
  let left = CALLS
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (left-- > 0) await read()
    }),
  )
  return {
    times,
    cpu,
    throughput: CALLS / ((performance.now() - started) / 1000),
    memory: memoryOf(servers),
    hitRate: hitRate(),
  }
}

/** Times over all rounds; CPU and throughput of the median round. */
export function summary(samples: Sample[]): Measured {
  const times = samples.flatMap((sample) => sample.times).toSorted((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
  const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
  return {
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    cpu: median(samples.map(({ cpu }) => cpu)),
    throughput: median(samples.map(({ throughput }) => throughput)),
    memory: samples.at(-1)!.memory,
  }
}
