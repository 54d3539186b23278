import type { ResultCache, ToolResult } from "@toolwright/toolbox"

/** Upper bounds of the duration buckets, in seconds. */
const BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30] as const

interface ToolCounts {
  success: number
  failure: number
  seconds: number
  buckets: number[]
}

/** Counts of this server, and their text form for Prometheus. */
export class Metrics {
  readonly #tools = new Map<string, ToolCounts>()
  readonly #responses = new Map<number, number>()
  readonly #running: () => number

  constructor(running: () => number = () => 0) {
    this.#running = running
  }

  countCall(tool: string, result: ToolResult): void {
    let counts = this.#tools.get(tool)
    if (counts === undefined)
      this.#tools.set(tool, (counts = { success: 0, failure: 0, seconds: 0, buckets: BOUNDS.map(() => 0) }))
    const seconds = result.executionTimeMs / 1000
    counts[result.success ? "success" : "failure"]++
    counts.seconds += seconds
    for (const [index, bound] of BOUNDS.entries()) if (seconds <= bound) counts.buckets[index]!++
  }

  countResponse(status: number): void {
    this.#responses.set(status, (this.#responses.get(status) ?? 0) + 1)
  }

  /** The Prometheus text format, version 0.0.4. */
  text(cache: ResultCache | undefined): string {
    const lines = ["# TYPE toolwright_tool_calls_total counter"]
    for (const [name, { success, failure }] of this.#tools) {
      const tool = labelValue(name)
      lines.push(
        `toolwright_tool_calls_total{tool="${tool}",outcome="success"} ${success}`,
        `toolwright_tool_calls_total{tool="${tool}",outcome="failure"} ${failure}`,
      )
    }
    lines.push("# TYPE toolwright_tool_duration_seconds histogram")
    for (const [name, { success, failure, seconds, buckets }] of this.#tools) {
      const tool = labelValue(name)
      for (const [index, bound] of BOUNDS.entries())
        lines.push(`toolwright_tool_duration_seconds_bucket{tool="${tool}",le="${bound}"} ${buckets[index]}`)
      lines.push(`toolwright_tool_duration_seconds_bucket{tool="${tool}",le="+Inf"} ${success + failure}`)
      lines.push(
        `toolwright_tool_duration_seconds_sum{tool="${tool}"} ${seconds}`,
        `toolwright_tool_duration_seconds_count{tool="${tool}"} ${success + failure}`,
      )
    }
    lines.push("# TYPE toolwright_tool_calls_running gauge", `toolwright_tool_calls_running ${this.#running()}`)
    lines.push("# TYPE toolwright_http_responses_total counter")
    for (const [status, count] of this.#responses)
      lines.push(`toolwright_http_responses_total{status="${status}"} ${count}`)
    if (cache !== undefined) lines.push(...cacheLines(cache))
    return `${lines.join("\n")}\n`
  }
}

/** A label's value as the format wants it: whatever a tool is called, it stays one value. */
function labelValue(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
}

function cacheLines(cache: ResultCache): string[] {
  const { hits, misses, entries, bytes } = cache.statistics()
  const rate = hits + misses === 0 ? 0 : hits / (hits + misses)
  return [
    "# TYPE toolwright_cache_hits_total counter",
    `toolwright_cache_hits_total ${hits}`,
    "# TYPE toolwright_cache_misses_total counter",
    `toolwright_cache_misses_total ${misses}`,
    "# TYPE toolwright_cache_hit_rate gauge",
    `toolwright_cache_hit_rate ${rate}`,
    "# TYPE toolwright_cache_entries gauge",
    `toolwright_cache_entries ${entries}`,
    "# TYPE toolwright_cache_bytes gauge",
    `toolwright_cache_bytes ${bytes}`,
  ]
}
