/**
 * Measures the pocket model's doubt, and writes it down: `calibration.json` beside the model file, and the curve of
 * doubt in its card. The weights are fitted to sets of requests that the model never saw, the line is drawn on them,
 * and the curve is of other sets.
 *
 *   npx node --conditions=toolwright-source training/pocket/calibrate.ts [model.gguf]
 *
 * `MEASURED` names a file that keeps what was measured, and is read where it is there.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { generateMasked, openPocket, pocketPrompt, type LlamaBackend } from "@toolwright/backends"
import { createMaskEngine } from "@toolwright/logits"
import type { ChatMessage } from "@toolwright/toolformat"
import {
  certaintyFor,
  lineFor,
  pocketGrammar,
  scaled,
  type Calibration,
} from "../../packages/backends/src/pocket/doubt.ts"
import { EVIDENCE, evidenceOf, type Evidence } from "../../packages/backends/src/pocket/evidence.ts"
import { callIn, type PocketCall } from "../../packages/backends/src/pocket/call.ts"
import { measureReply } from "../../packages/backends/src/pocket/reading.ts"
import { READING_TOOLS } from "../../packages/backends/src/pocket/tools.ts"
import type { OpinionData } from "../../packages/backends/src/pocket/second-opinion.ts"

const SETS = new URL("evaluation/", import.meta.url)
const PACKAGE = new URL("../../packages/pocket/", import.meta.url)
const FITTED = ["held-out.json", "handwritten-first.json", "harm/calibration.json"]
const TESTED = ["handwritten-second.json", "harm/test.json"]
/** Of all requests of the fitted sets, so many may lead to a wrong call that only reads and runs unasked. */
const WRONG_READS = 0.0165
/** Of the right calls that may change something, so many may be asked about: the line is as high as that allows. */
const ASKED_CHANGES = 0.11

interface Request {
  readonly text: string
  /** The next call that was meant. */
  readonly expect: PocketCall | null
  readonly before: readonly Done[]
}

interface Done {
  readonly call: PocketCall
  readonly result: string
}

interface EvaluationSet {
  readonly requests: readonly { readonly text: string; readonly expect: PocketCall | null }[]
  readonly flows: readonly { readonly text: string; readonly steps: readonly Done[] }[]
}

interface Measured {
  readonly text: string
  readonly got: PocketCall | undefined
  readonly right: boolean
  /** Nothing for a reply in words. */
  readonly evidence: Evidence | undefined
}

const modelPath = process.argv[2]
const opinion = JSON.parse(readFileSync(new URL("second-opinion.json", PACKAGE), "utf8")) as OpinionData
const kept = process.env["MEASURED"]
const { fitted, tested } =
  kept !== undefined && existsSync(kept)
    ? (JSON.parse(readFileSync(kept, "utf8")) as Record<"fitted" | "tested", Measured[]>)
    : await measuredAnew()
if (kept !== undefined) writeFileSync(kept, JSON.stringify({ fitted, tested }))
const calibration = drawLines(fit(fitted), fitted)
writeFileSync(new URL("calibration.json", PACKAGE), `${JSON.stringify(calibration, undefined, 2)}\n`)
writeCurve(curve(tested, calibration))

/** The first calls of all requests, and every call of the flows after what was done before it. */
function requestsIn(name: string): Request[] {
  const read = JSON.parse(readFileSync(new URL(name, SETS), "utf8")) as
    | { text: string; expect: PocketCall[] | null }[]
    | EvaluationSet
  if (Array.isArray(read)) return read.map(({ text, expect }) => ({ text, expect: expect?.[0] ?? null, before: [] }))
  const flows = read.flows.flatMap(({ text, steps }) =>
    steps.map(({ call }, index) => ({ text, expect: call, before: steps.slice(0, index) })),
  )
  return [...read.requests.map((request) => ({ ...request, before: [] })), ...flows]
}

async function measuredAnew(): Promise<Record<"fitted" | "tested", Measured[]>> {
  const backend = await openPocket(modelPath === undefined ? {} : { modelPath })
  const all = async (names: readonly string[]): Promise<Measured[]> => {
    const results: Measured[] = []
    for (const name of names) results.push(...(await measured(backend, name)))
    return results
  }
  try {
    return { fitted: await all(FITTED), tested: await all(TESTED) }
  } finally {
    await backend.close()
  }
}

async function measured(backend: LlamaBackend, name: string): Promise<Measured[]> {
  const results: Measured[] = []
  for (const { text, expect, before } of requestsIn(name)) {
    const reply = await decoded(backend, text, before)
    const got = callIn(reply.text)
    const right = isDeepStrictEqual(got ?? null, expect)
    const choices =
      got === undefined ? undefined : await measureReply(backend.engine, reply.prompt, reply.text, reply.grammar)
    const evidence =
      choices === undefined
        ? undefined
        : evidenceOf(
            { request: text, call: got!, before: before.map(({ call }) => call), reply: reply.text, choices },
            opinion,
          )
    results.push({ text, got, right, evidence })
  }
  return results
}

async function decoded({ engine, groundingText }: LlamaBackend, text: string, before: readonly Done[]) {
  const messages: ChatMessage[] = [
    { role: "user", content: text },
    ...before.flatMap(({ call, result }): ChatMessage[] => [
      { role: "assistant", content: `<tool_call>\n${JSON.stringify(call)}\n</tool_call>` },
      { role: "user", content: `<tool_response>\n${result}\n</tool_response>` },
    ]),
  ]
  const grammar = pocketGrammar(groundingText!(messages))
  const prompt = pocketPrompt(engine, messages)!
  const constraint = createMaskEngine(grammar, engine.tokenizer).matcher()
  const reply = await generateMasked(engine, prompt, { constraint, sampler: { temperature: 0 }, maxTokens: 200 })
  return { prompt, grammar, text: reply.text }
}

/** Logistic regression by gradient descent: how evidence tells wrong calls from right ones. */
function fit(requests: readonly Measured[]): Omit<Calibration, "lines"> {
  const calls = requests.filter(({ evidence }) => evidence !== undefined)
  const rows = calls.map(({ evidence }) => scaled(evidence!))
  const mean = EVIDENCE.map((_, at) => rows.reduce((sum, row) => sum + row[at]!, 0) / rows.length)
  const deviation = EVIDENCE.map((_, at) =>
    Math.max(1e-3, Math.sqrt(rows.reduce((sum, row) => sum + (row[at]! - mean[at]!) ** 2, 0) / rows.length)),
  )
  const points = rows.map((row) => row.map((value, at) => (value - mean[at]!) / deviation[at]!))
  const weights = EVIDENCE.map(() => 0)
  let bias = 0
  for (let step = 0; step < 4000; step++) {
    const slope = weights.map((weight) => 1e-3 * weight)
    let own = 0
    for (const [index, point] of points.entries()) {
      const score = point.reduce((sum, value, at) => sum + value * weights[at]!, bias)
      const error = (1 / (1 + Math.exp(-score)) - Number(!calls[index]!.right)) / points.length
      own += error
      for (const [at, value] of point.entries()) slope[at]! += error * value
    }
    for (const [at, value] of slope.entries()) weights[at]! -= 0.5 * value
    bias -= 0.5 * own
  }
  const round = (value: number): number => Number(value.toPrecision(5))
  return {
    evidence: EVIDENCE,
    mean: mean.map(round),
    deviation: deviation.map(round),
    weights: weights.map(round),
    bias: round(bias),
  }
}

/** Both lines, from the requests that the weights were fitted to. */
function drawLines(without: Omit<Calibration, "lines">, requests: readonly Measured[]): Calibration {
  const steps = Array.from({ length: 100 }, (_, index) => Number((0.4 + index * 0.005).toFixed(3)))
  const withLine = (line: number): Calibration => ({ ...without, lines: { reading: line, changing: line } })
  const reading = steps.find((line) => at(requests, withLine(line), true).wrong <= WRONG_READS * requests.length)
  const changing = steps.findLast((line) => {
    const { asked, right } = at(requests, withLine(line), false)
    return asked <= ASKED_CHANGES * right
  })
  return { ...without, lines: { reading: reading ?? 0.9, changing: changing ?? 0.9 } }
}

/** What lines come to, for calls that only read, or for the others. */
function at(requests: readonly Measured[], calibration: Calibration, reading: boolean) {
  const calls = requests.filter(
    ({ got, evidence }) => evidence !== undefined && READING_TOOLS.has(got!.name) === reading,
  )
  const certain = ({ got, evidence }: Measured): boolean =>
    certaintyFor(got!, evidence!, calibration) >= lineFor(got!, calibration)
  const right = calls.filter((one) => one.right)
  return {
    wrong: calls.filter((one) => !one.right && certain(one)).length,
    asked: right.filter((one) => !certain(one)).length,
    right: right.length,
  }
}

function curve(requests: readonly Measured[], calibration: Calibration): string {
  const { reading, changing } = calibration.lines
  const lines = [...new Set([0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, reading, changing])]
  const share = (count: number, of: number): string => `${((100 * count) / of).toFixed(1)} %`
  const cells = (line: number, reads: boolean): string => {
    const { wrong, asked, right } = at(requests, { ...calibration, lines: { reading: line, changing: line } }, reads)
    const mark = line === (reads ? reading : changing) ? "**" : ""
    return `${mark}${wrong}${mark} | ${mark}${asked} of ${right} (${share(asked, right)})${mark}`
  }
  const rows = lines
    .toSorted((a, b) => a - b)
    .map((line) => `| ${line} | ${cells(line, true)} | ${cells(line, false)} |`)
  return [
    `| asked below a certainty of | wrong reads unasked, of ${requests.length} requests | right reads asked about | wrong changes and programs not in doubt | right ones asked about |`,
    "|---:|---:|---:|---:|---:|",
    ...rows,
  ].join("\n")
}

/** Puts the curve between its marks in the card. */
function writeCurve(text: string): void {
  const file = new URL("README.md", PACKAGE)
  const card = readFileSync(file, "utf8")
  const marks = /(<!-- curve of doubt -->\n)[^]*?(<!-- end of the curve -->)/
  console.log(`${text}\n${marks.test(card) ? "" : "The card has no marks for the curve."}`)
  writeFileSync(
    file,
    card.replace(marks, (_, open: string, close: string) => `${open}\n${text}\n\n${close}`),
  )
}
