/**
 * Token masks beside xgrammar's WebAssembly build, in one run over the same schemas, vocabulary and tokens. A grammar
 * is made once and then serves several replies, as it does in an agent: both engines follow the same instance ten
 * times. What the first of them costs, when no state of the schema has been seen before, is told apart as `cold`.
 * Schemas, instances and vocabularies are read from the folder of test data, which is no part of the project.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import {
  createMaskEngine,
  compileSchema,
  createTokenizer,
  modelJsonNotation,
  readVocabulary,
  type Schema,
  type Tokenizer,
  warmTokenizer,
} from "@toolwright/logits"
import { costChart, type CostPoint } from "./masks/chart.ts"
import { longestMatch } from "./masks/longest-match.ts"
import type { PeerAnswer, PeerJob } from "./masks/peer.ts"
import { installPeers } from "./peers.ts"
import type { BenchmarkResult } from "./run.ts"

const DATA = new URL("../../shared/data/", import.meta.url)
const CHART = new URL("../docs/masks.svg", import.meta.url)
const SCHEMAS = Number(process.env["BENCH_SCHEMAS"] ?? 50)
const VOCABULARY = "llama-bpe"
const REPLIES = 10
/** How often a first reply is measured. */
const FIRSTS = 3

interface Case {
  readonly name: string
  readonly schema: Schema
  readonly text: string
  readonly tokens: readonly number[]
}

export async function run(): Promise<BenchmarkResult> {
  if (!existsSync(DATA)) throw new Error("The benchmark reads ../shared/data, which is not here.")
  const { tokenizer, file, buildMs, warmMs } = loadTokenizer(VOCABULARY)
  const cases = readCases(tokenizer)
  const ours = measureOurs(cases, tokenizer)
  const theirs = measureTheirs(cases, file)
  const shared = ours.filter(({ name }) => theirs.has(name))
  const points = costPoints(ours, cases)
  const vocabularies = vocabularyPoints()
  writeFileSync(CHART, costChart(points, vocabularies))
  return {
    ...compared(
      shared,
      shared.map(({ name }) => theirs.get(name)!),
      {
        tokenizer_build_ms: buildMs,
        tokenizer_warm_ms: warmMs,
        mask_max_ms: Math.max(...vocabularies.map(({ most }) => most)) / 1000,
      },
    ),
    report:
      `${VOCABULARY}, ${tokenizer.size} tokens; ${shared.length} schemas on which both engines accept the ` +
      `instance, ${REPLIES} replies with each.`,
  }
}

/** Both engines on the same cases. */
function compared(
  ours: readonly Measured[],
  theirs: readonly Measured[],
  more: Readonly<Record<string, number>>,
): Pick<BenchmarkResult, "figures" | "ratios"> {
  const all = (pick: (one: Measured) => readonly number[], list: readonly Measured[]): number[] =>
    list.flatMap((one) => pick(one)).toSorted((a, b) => a - b)
  const masks = ({ masks }: Measured): readonly number[] => masks
  const firsts = ({ cold }: Measured): readonly number[] => cold
  const compiles = ({ compile }: Measured): readonly number[] => [compile]
  const [mine, cold, myCompile] = [all(masks, ours), all(firsts, ours), all(compiles, ours)]
  const [peer, peerCold, peerCompile] = [all(masks, theirs), all(firsts, theirs), all(compiles, theirs)]
  return {
    figures: {
      schemas: ours.length,
      masks: mine.length,
      ...more,
      mask_p50_us: at(mine, 0.5),
      mask_p95_us: at(mine, 0.95),
      mask_p99_us: at(mine, 0.99),
      mask_mean_us: mean(mine),
      mask_cold_p50_us: at(cold, 0.5),
      mask_cold_p95_us: at(cold, 0.95),
      mask_cold_p99_us: at(cold, 0.99),
      mask_cold_mean_us: mean(cold),
      compile_p50_us: at(myCompile, 0.5),
      compile_p95_us: at(myCompile, 0.95),
      peer_mask_p50_us: at(peer, 0.5),
      peer_mask_p95_us: at(peer, 0.95),
      peer_mask_p99_us: at(peer, 0.99),
      peer_mask_mean_us: mean(peer),
      peer_mask_cold_p50_us: at(peerCold, 0.5),
      peer_mask_cold_p95_us: at(peerCold, 0.95),
      peer_compile_p50_us: at(peerCompile, 0.5),
      peer_compile_p95_us: at(peerCompile, 0.95),
    },
    ratios: {
      mask_p50: at(peer, 0.5) / at(mine, 0.5),
      mask_p95: at(peer, 0.95) / at(mine, 0.95),
      mask_p99: at(peer, 0.99) / at(mine, 0.99),
      mask_cold_p50: at(peerCold, 0.5) / at(cold, 0.5),
      mask_cold_p95: at(peerCold, 0.95) / at(cold, 0.95),
      compile_p50: at(peerCompile, 0.5) / at(myCompile, 0.5),
    },
  }
}

interface Measured {
  readonly name: string
  readonly compile: number
  /** Microseconds of each mask, over all replies. */
  readonly masks: readonly number[]
  /** Those of the first reply. */
  readonly cold: readonly number[]
}

function loadTokenizer(name: string) {
  const file = JSON.parse(readFileSync(new URL(`vocab/${name}.json`, DATA), "utf8")) as {
    tokens_b64: (string | null)[]
    eos: number
    n: number
  }
  const start = performance.now()
  const tokenizer = createTokenizer(readVocabulary(file))
  const built = performance.now()
  warmTokenizer(tokenizer)
  return { file, tokenizer, buildMs: built - start, warmMs: performance.now() - built }
}

/** Every so many schemas, beginning with the first, or with one between two of those. */
function readCases(tokenizer: Tokenizer, which: "measured" | "others" = "measured"): Case[] {
  const lines = readFileSync(new URL("json-schema-bench.jsonl", DATA), "utf8").trim().split("\n")
  const records = lines.map(
    (line) => JSON.parse(line) as { source: string; schema: string; tests: { text: string; valid: boolean }[] },
  )
  const step = Math.max(1, Math.floor(records.length / SCHEMAS))
  const offset = which === "measured" ? 0 : Math.floor(step / 2)
  return records
    .filter((_, index) => index % step === offset)
    .slice(0, SCHEMAS)
    .flatMap(({ source, schema, tests }) => {
      const valid = tests.find((one) => one.valid)
      if (valid === undefined) return []
      return [
        {
          name: source,
          schema: JSON.parse(schema) as Schema,
          text: schema,
          tokens: longestMatch(tokenizer, new TextEncoder().encode(valid.text)),
        },
      ]
    })
}

function measureOurs(cases: readonly Case[], tokenizer: Tokenizer): Measured[] {
  const measured: Measured[] = []
  const pass = ({ schema, tokens, name }: Case, count: number): Measured | undefined => {
    const start = performance.now()
    const compiled = compileSchema(schema, { notation: modelJsonNotation, uniqueItems: "finite" })
    if (compiled.grammar === undefined) return undefined
    const engine = createMaskEngine(compiled.grammar, tokenizer)
    const compile = (performance.now() - start) * 1000
    const follow = (): number[] | undefined => {
      const times: number[] = []
      const matcher = engine.matcher()
      for (const token of tokens) {
        const begin = performance.now()
        matcher.mask()
        times.push((performance.now() - begin) * 1000)
        if (!matcher.accept(token)) return undefined
      }
      return times
    }
    const replies = Array.from({ length: count }, follow)
    return replies.includes(undefined)
      ? undefined
      : { name, compile, masks: replies.flatMap((times) => times!), cold: replies[0]! }
  }
  // The machine code of both engines is made before the clock counts; ours needs schemas for that, and takes others.
  for (const one of readCases(tokenizer, "others")) pass(one, 1)
  const anew = (one: Case): Case => ({ ...one, schema: structuredClone(one.schema) })
  for (const one of cases) {
    const result = pass(anew(one), REPLIES)
    if (result === undefined) continue
    const more = Array.from({ length: FIRSTS - 1 }, () => pass(anew(one), 1)!.cold)
    measured.push({ ...result, cold: middles([result.cold, ...more]) })
  }
  return measured
}

function measureTheirs(cases: readonly Case[], vocabulary: PeerJob["vocabulary"]): Map<string, Measured> {
  const peers = installPeers("masks", { "@mlc-ai/web-xgrammar": "0.1.27" })
  const file = join(peers.folder, "node_modules/@mlc-ai/web-xgrammar/lib/index.js")
  // The package declares ES modules and holds CommonJS: under another name it loads.
  const library = file.replace(/\.js$/, ".cjs")
  copyFileSync(file, library)
  const measured = new Map<string, Measured>()
  for (let next = 0; next < cases.length;) {
    const job: PeerJob = {
      library,
      vocabulary,
      replies: REPLIES,
      cases: cases.slice(next).map(({ text, tokens }) => ({ text, tokens })),
    }
    const { stdout } = spawnSync(process.execPath, [fileURLToPath(new URL("masks/peer.ts", import.meta.url))], {
      input: JSON.stringify(job),
      encoding: "utf8",
      maxBuffer: 1 << 30,
      timeout: 40_000,
      stdio: ["pipe", "pipe", "ignore"],
    })
    const answers = stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as PeerAnswer)
    answers.forEach(({ compile, masks }, index) => {
      const { name } = cases[next + index]!
      if (compile !== undefined && masks !== undefined)
        measured.set(name, { name, compile, masks, cold: middles(firstReplies(masks)) })
    })
    // The one after the last answer is what it fell over, or sat over for too long.
    next += answers.length + 1
  }
  return measured
}

function costPoints(ours: readonly Measured[], cases: readonly Case[]): CostPoint[] {
  const sizes = new Map(cases.map(({ name, text }) => [name, text.length]))
  return ours.map(({ name, compile, cold }) => ({ size: sizes.get(name)!, compile, mask: mean(cold) }))
}

/** The masks of the first replies, one list for each. */
function firstReplies(masks: readonly number[]): number[][] {
  const length = masks.length / REPLIES
  return Array.from({ length: FIRSTS }, (_, reply) => masks.slice(reply * length, (reply + 1) * length))
}

/** What is in the middle at each place of some lists. */
function middles(lists: readonly (readonly number[])[]): number[] {
  return lists[0]!.map((_, place) =>
    at(
      lists.map((list) => list[place]!).toSorted((a, b) => a - b),
      0.5,
    ),
  )
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** The mean mask and the slowest for each vocabulary, in microseconds. */
function vocabularyPoints(): { size: number; name: string; mask: number; again: number; most: number }[] {
  return ["llama-spm", "llama-bpe", "qwen2"].map((name) => {
    const { tokenizer } = loadTokenizer(name)
    const measured = measureOurs(readCases(tokenizer), tokenizer)
    const cold = measured.flatMap((one) => [...one.cold])
    const again = measured.flatMap(({ masks, cold }) => masks.slice(cold.length))
    return { name, size: tokenizer.size, mask: mean(cold), again: mean(again), most: Math.max(...cold) }
  })
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
