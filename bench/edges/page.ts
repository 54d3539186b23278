/** The page of measurements of the edges, and its drawing. */
import { readFileSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"
import type { Measured } from "./sample.ts"

const DOCS = join(import.meta.dirname, "../../docs")
const LABELS: Readonly<Record<string, string>> = {
  cached: "in-process, cached",
  in_process: "in-process",
  node_http: "bare node:http",
  rest: "REST",
  mcp_stdio: "MCP over stdio",
  bridge: "REST → bridge → MCP over stdio",
  mcp_http: "MCP over HTTP",
}

interface Summary {
  in_process_vs_mcp_http: number
  cached_vs_mcp_http: number
  rest_vs_node_http: number
  mcp_500_tools_vs_5: number
  cacheHitRate: number
}

/** Writes `docs/benchmarks.md` and `docs/benchmarks-edges.svg`. */
export function writeEdgesPage(measured: Readonly<Record<string, Measured>>, summary: Summary): void {
  writeFileSync(join(DOCS, "benchmarks-edges.svg"), chart(measured))
  const file = join(DOCS, "benchmarks.md")
  const before = readFileSync(file, "utf8")
  // What other benchmarks say stands behind it, and stays.
  const next = before.indexOf("\n## ", before.indexOf("## The edges") + 1)
  writeFileSync(file, `${page(measured, summary).trimEnd()}\n${next < 0 ? "" : before.slice(next)}`)
}

function page(measured: Readonly<Record<string, Measured>>, summary: Summary): string {
  const rows = Object.entries(LABELS).map(([name, label]) => {
    const { p50, p95, p99, cpu, throughput, memory } = measured[name]!
    return (
      `| ${label} | ${p50.toPrecision(3)} | ${p95.toPrecision(3)} | ${p99.toPrecision(3)} | ${Math.round(cpu)} | ` +
      `${Math.round(throughput)} | ${Math.round(memory)} |`
    )
  })
  return `# Benchmarks

Each is run with \`npm run bench -- <name>\` and prints its figures; \`--json\` prints them as one line. Ratios are taken in one run, since times of different machines, or of
one machine at different hours, say little beside each other.

## The edges

\`npm run bench -- edges --write-docs\` wrote this section: the same read of a file of 4,096 bytes by every way in, ${cpus().length} cores, Node ${process.versions.node}. The ways took turns, each from a process of its own. CPU and
memory are those of both sides together: caller, server, and where there is one the process behind the bridge.

| way | p50 ms | p95 ms | p99 ms | CPU µs per call | calls per second, 32 at once | memory MB |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
${rows.join("\n")}

![CPU and time of each way](benchmarks-edges.svg)

- In-process needs ${summary.in_process_vs_mcp_http.toFixed(1)} times less CPU than MCP over HTTP, and ${summary.cached_vs_mcp_http.toFixed(0)} times less when the result comes from the cache (hit rate ${(summary.cacheHitRate * 100).toFixed(1)} %).
- REST needs ${(1 / summary.rest_vs_node_http).toFixed(2)} times the CPU of a bare \`node:http\` server that reads the file with \`readFile\` and checks nothing; the pipeline validates the arguments, checks the path on the
  open descriptor, and records the call.
- A call over REST and MCP leaves a record in SQLite, which it did not at first, and is searched for secrets. The record of a call that only reads is written up to 100 ms after its answer, many in one commit ([what is durable when](runs.md)). In
  one process it takes some 100 to 160 µs of a busy machine's processor time. Against the state before there were records, in turns and by the processor time of both sides, a call over REST takes 0.86 to 1.07 of it, over MCP on HTTP 0.83 to
  1.06, in one process 0.87 to 1.08, and over MCP on standard input and output 1.10 to 1.32, where the rest of a call is cheap beside its record. Without the record it is 0.81, 0.86, 1.04 and 0.84. Calls per second, 32 at once: 0.81 to 0.90,
  1.12 to 1.25, 0.94 to 1.06 and 0.77 to 0.84; without the record 1.11, 1.40, 0.99 and 1.29.
- A call over MCP costs ${(1 / summary.mcp_500_tools_vs_5).toFixed(2)} times as much with five hundred tools registered as with five.

What follows from it: a program that runs beside its tools calls the registry; one that does not uses REST. MCP is for hosts that speak nothing else.
`
}

/** Horizontal bars on a logarithmic scale: CPU of each way, and its median time as a tick. */
function chart(measured: Readonly<Record<string, Measured>>): string {
  const [left, width, step] = [230, 520, 42]
  const names = Object.keys(LABELS)
  const values = names.flatMap((name) => [measured[name]!.cpu, measured[name]!.p50 * 1000])
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.ceil(Math.log10(Math.max(...values)))
  const x = (micros: number): string => (left + ((Math.log10(micros) - low) / (high - low)) * width).toFixed(1)
  const bottom = names.length * step + 10
  const scale = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)).map(
    (micros) =>
      `<line x1="${x(micros)}" x2="${x(micros)}" y1="10" y2="${bottom}" stroke="#ddd"/><text x="${x(micros)}" ` +
      `y="${bottom + 16}" text-anchor="middle">${micros < 1000 ? `${micros} µs` : `${micros / 1000} ms`}</text>`,
  )
  const bars = names.map((name, index) => {
    const { cpu, p50 } = measured[name]!
    const y = 18 + index * step
    return (
      `<text x="${left - 8}" y="${y + 15}" text-anchor="end">${LABELS[name]}</text><rect x="${left}" y="${y}" ` +
      `width="${(Number(x(cpu)) - left).toFixed(1)}" height="22" fill="#4a7fb5"/><line x1="${x(p50 * 1000)}" ` +
      `x2="${x(p50 * 1000)}" y1="${y - 3}" y2="${y + 25}" stroke="#c2571a" stroke-width="3"/>`
    )
  })
  const legend =
    `<rect x="${left}" y="${bottom + 26}" width="14" height="10" fill="#4a7fb5"/><text x="${left + 20}" ` +
    `y="${bottom + 35}">CPU of both sides, per call</text><line x1="${left + 230}" x2="${left + 230}" ` +
    `y1="${bottom + 24}" y2="${bottom + 38}" stroke="#c2571a" stroke-width="3"/><text x="${left + 240}" ` +
    `y="${bottom + 35}">median time</text>`
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="${bottom + 50}" font-family="sans-serif" ` +
    `font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n${[...scale, ...bars, legend].join("\n")}\n` +
    `</svg>\n`
  )
}
