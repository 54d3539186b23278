/**
 * The streaming parser beside `@ai-sdk-tool/parser`, on the same replies in the same pieces: throughput, one very long
 * argument, whether the cost of a piece grows, and what the package weighs.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { formatterById, toolsFromJson, type ParseEvent } from "@toolwright/toolformat"
import { installPeers } from "./peers.ts"
import type { BenchmarkResult } from "./run.ts"

const PEER = "@ai-sdk-tool/parser"
const PIECE = 4
const TOOLS = [
  {
    name: "write_file",
    description: "Writes a file",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" }, mode: { type: "integer" } },
      required: ["path", "content"],
    },
  },
]

type Part = { type: string; [key: string]: unknown }

interface Protocol {
  createStreamParser(options: { tools: unknown[] }): TransformStream<Part, Part>
}

export async function run(): Promise<BenchmarkResult> {
  const { load } = installPeers("parser", { [PEER]: "4.1.26", ai: "6.0.322", zod: "4.1.12" })
  const peer = await load<{ hermesProtocol(): Protocol; qwen3CoderProtocol(): Protocol }>(PEER)
  const contestants = [
    { format: "hermes", protocol: () => peer.hermesProtocol(), reply: jsonReply },
    { format: "qwen3-xml", protocol: () => peer.qwen3CoderProtocol(), reply: tagReply },
  ]

  const figures: Record<string, number> = {}
  const lines: string[] = []
  const throughputs: number[] = []
  const inStreams: number[] = []
  const short: number[] = []
  for (const { format, protocol, reply } of contestants) {
    const text = Array.from({ length: 12 }, (_, index) => reply(index, code(index, 4_000))).join("\n")
    const pieces = cut(text)
    const calls = pieces.length > 0 ? callsOf(format, pieces) : 0
    const peerCalls = await callsOfPeer(protocol(), pieces)
    if (calls !== peerCalls) lines.push(`${format}: ours reads ${calls} calls, the peer ${peerCalls}, of 12.`)
    const ours = await fastest(() => callsOf(format, pieces))
    const oursInStream = await fastest(() => callsInStream(format, pieces))
    const theirs = await fastest(() => callsOfPeer(protocol(), pieces))
    throughputs.push(theirs / ours)
    inStreams.push(theirs / oursInStream)
    const small = cut(Array.from({ length: 40 }, (_, index) => reply(index, code(index, 400))).join("\n"))
    short.push((await fastest(() => callsOfPeer(protocol(), small))) / (await fastest(() => callsOf(format, small))))
    figures[`${key(format)}_mb_per_s`] = text.length / 1e6 / (ours / 1e3)
    figures[`${key(format)}_peer_mb_per_s`] = text.length / 1e6 / (theirs / 1e3)
  }

  const argument = "x = {'a': [1, 2]} # ünï }]\n".repeat(3_000).slice(0, 80_000)
  const long = cut(jsonReply(0, argument))
  figures.arg_80k_ms = await fastest(() => callsOf("hermes", long))
  figures.arg_80k_whole_ms = await fastest(() => callsOf("hermes", [long.join("")]))
  const shorter = cut(jsonReply(0, argument.slice(0, 20_000)))
  figures.arg_20k_ms = await fastest(() => callsOf("hermes", shorter))
  figures.arg_20k_peer_ms = await fastest(() => callsOfPeer(peer.hermesProtocol(), shorter))
  const { first, last } = tenths(long)
  figures.piece_first_tenth_us = first
  figures.piece_last_tenth_us = last

  const weight = packageWeight()
  figures.package_kb = weight.kilobytes
  figures.package_dependencies = weight.dependencies.length
  lines.push(
    `The package packs to ${weight.kilobytes} kB; it depends on ${weight.dependencies.join(", ")} and on nothing else.`,
  )
  lines.push(
    `A piece of ${PIECE} characters of the 80,000-character argument costs ${first.toFixed(2)} µs in the first ` +
      `tenth and ${last.toFixed(2)} µs in the last.`,
  )

  return {
    figures,
    ratios: {
      [PEER]: Math.min(...throughputs),
      [`${PEER} (short calls)`]: Math.min(...short),
      [`${PEER} (ours in a stream too)`]: Math.min(...inStreams),
      [`${PEER} (20k argument)`]: figures.arg_20k_peer_ms / figures.arg_20k_ms,
      flat: first / last,
    },
    report: lines.join("\n"),
  }
}

/** Some prose and a call that writes a file, as a coding agent's model replies. */
function jsonReply(index: number, content: string): string {
  return `${prose(index)}\n<tool_call>\n${JSON.stringify({ name: "write_file", arguments: { path: `src/file-${index}.ts`, content, mode: index } })}\n</tool_call>`
}

function tagReply(index: number, content: string): string {
  return (
    `${prose(index)}\n<tool_call>\n<function=write_file>\n<parameter=path>\nsrc/file-${index}.ts\n</parameter>\n` +
    `<parameter=content>\n${content}\n</parameter>\n<parameter=mode>\n${index}\n</parameter>\n</function>\n` +
    "</tool_call>"
  )
}

function prose(index: number): string {
  return `Step ${index}: the parser must hold back only what may become a mark, so a < b and "quotes" pass at once. `
    .repeat(3)
    .trim()
}

/** Source code of a length, as a coding agent writes it into a file. */
function code(index: number, length: number): string {
  const lines =
    `export function f${index}(x: number): number {\n  if (x < ${index}) return x\n  return { value: [x, "}"] ` +
    `}.value.length\n}\n`
  return lines.repeat(Math.ceil(length / lines.length)).slice(0, length)
}

function cut(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / PIECE) }, (_, index) =>
    text.slice(index * PIECE, (index + 1) * PIECE),
  )
}

function callsOf(format: string, pieces: readonly string[]): number {
  const parser = formatterById(format).createParser({ tools: toolsFromJson(TOOLS) })
  let calls = 0
  const count = (events: readonly ParseEvent[]) => {
    for (const event of events) if (event.type === "call-end") calls++
  }
  for (const piece of pieces) count(parser.push(piece))
  count(parser.end())
  return calls
}

/** The peer's parser is a stream, whose cost is not its own; so ours is measured in one, too. */
async function callsInStream(format: string, pieces: readonly string[]): Promise<number> {
  const parser = formatterById(format).createParser({ tools: toolsFromJson(TOOLS) })
  const stream = new TransformStream<Part, Part>({
    transform(part, controller) {
      for (const event of parser.push(String(part.delta ?? ""))) controller.enqueue({ ...event })
    },
    flush(controller) {
      for (const event of parser.end()) controller.enqueue({ ...event })
    },
  })
  return drain(stream, pieces, "call-end")
}

async function callsOfPeer(protocol: Protocol, pieces: readonly string[]): Promise<number> {
  const tools = TOOLS.map(({ parameters, ...tool }) => ({ type: "function", ...tool, inputSchema: parameters }))
  return drain(protocol.createStreamParser({ tools }), pieces, "tool-call")
}

async function drain(stream: TransformStream<Part, Part>, pieces: readonly string[], counted: string): Promise<number> {
  const source = new ReadableStream<Part>({
    start(controller) {
      controller.enqueue({ type: "text-start", id: "0" })
      for (const delta of pieces) controller.enqueue({ type: "text-delta", id: "0", delta })
      controller.enqueue({ type: "text-end", id: "0" })
      controller.enqueue({ type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: {} })
      controller.close()
    },
  })
  let count = 0
  for await (const part of source.pipeThrough(stream)) if (part.type === counted) count++
  return count
}

/** Microseconds for a piece in the first and in the last tenth of one long argument. */
function tenths(pieces: readonly string[]): { first: number; last: number } {
  let first = Number.POSITIVE_INFINITY
  let last = Number.POSITIVE_INFINITY
  for (let round = 0; round < 15; round++) {
    const parser = formatterById("hermes").createParser({ tools: toolsFromJson(TOOLS) })
    const tenth = Math.floor(pieces.length / 10)
    const time = (from: number, to: number) => {
      const start = performance.now()
      for (let index = from; index < to; index++) parser.push(pieces[index] ?? "")
      return ((performance.now() - start) / (to - from)) * 1e3
    }
    time(0, 200)
    first = Math.min(first, time(200, 200 + tenth))
    time(200 + tenth, pieces.length - tenth - 50)
    last = Math.min(last, time(pieces.length - tenth - 50, pieces.length - 50))
  }
  return { first, last }
}

function packageWeight(): { kilobytes: number; dependencies: string[] } {
  const room = join(import.meta.dirname, "..", "packages", "toolformat")
  const { dependencies = {} } = JSON.parse(readFileSync(join(room, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>
  }
  const target = mkdtempSync(join(tmpdir(), "toolformat-pack-"))
  try {
    const [packed] = JSON.parse(
      execFileSync("npm", ["pack", "--json", "--pack-destination", target], {
        cwd: room,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }),
    ) as { size: number }[]
    return { kilobytes: Math.round((packed?.size ?? 0) / 1024), dependencies: Object.keys(dependencies) }
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
}

function key(format: string): string {
  return format.replaceAll("-", "_")
}

/**
 * The best of as many rounds as fit into the time: what the code does when nothing disturbs it and all of it is warm.
 */
async function fastest(work: () => unknown, forMilliseconds = 700): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (const begin = performance.now(); performance.now() - begin < forMilliseconds;) {
    const start = performance.now()
    await work()
    best = Math.min(best, performance.now() - start)
  }
  return best
}
