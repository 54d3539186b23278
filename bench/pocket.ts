/**
 * The pocket model on requests that it was not trained on: how often name and arguments are exactly right, without a
 * grammar, with the tools' schemas as grammar, and with grounded arguments by their grammar and by masks of our own.
 * Decoding is greedy. The requests lie in `training/pocket/evaluation`; `POCKET_MODEL` names another GGUF file,
 * `POCKET_MODES` and `POCKET_SETS` a choice, and `POCKET_MISSES` a file for what went wrong.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename } from "node:path"
import { isDeepStrictEqual } from "node:util"
import {
  generateMasked,
  openPocket,
  pocketGrounding,
  pocketPrompt,
  pocketTools,
  type LlamaBackend,
} from "@toolwright/backends"
import { createMaskEngine, grammarToGbnf, type Grounding } from "@toolwright/logits"
import type { ToolDefinition } from "@toolwright/toolbox"
import { grammarFor, type ChatMessage } from "@toolwright/toolformat"
import { createBuiltinTools } from "@toolwright/tools"
import { webKit } from "@toolwright/tools-web"
import type { BenchmarkResult } from "./run.ts"

const FOLDER = new URL("../training/pocket/evaluation/", import.meta.url)
const MODES = ["free", "grammar", "grounded", "masks"] as const
type Mode = (typeof MODES)[number]

interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

interface Request {
  readonly tool: string
  readonly text: string
  readonly expect: Call | null
  readonly unseenPhrase?: boolean
  readonly unseenValues?: boolean
}

interface Flow {
  readonly text: string
  readonly steps: readonly { readonly call: Call; readonly result: string }[]
  readonly unseenPhrase?: boolean
}

interface EvaluationSet {
  readonly requests: readonly Request[]
  readonly flows: readonly Flow[]
}

interface Miss {
  readonly set: string
  readonly mode: Mode
  readonly text: string
  readonly wanted: unknown
  readonly got: string
}

/** Right answers and how many there could have been, by group. */
type Score = Map<string, { right: number; all: number }>

interface Outcome {
  readonly score: Score
  readonly misses: Miss[]
  calls: number
  valid: number
  readonly requestMs: number[]
  readonly grammarMs: number[]
}

export async function run(): Promise<BenchmarkResult> {
  const modes = MODES.filter((mode) => (process.env["POCKET_MODES"] ?? MODES.join()).split(",").includes(mode))
  const sets = readdirSync(FOLDER)
    .filter((file) => file.endsWith(".json"))
    .map((file) => basename(file, ".json"))
    .filter((name) => process.env["POCKET_SETS"]?.split(",").includes(name) ?? true)
  const modelPath = process.env["POCKET_MODEL"]
  const backend = await openPocket(modelPath === undefined ? {} : { modelPath })
  const tools = pocketTools(
    createBuiltinTools({ roots: [{ path: process.cwd(), access: "read-only" }], kits: [webKit()] }),
  )
  const outcomes = new Map<Mode, Outcome>()
  try {
    for (const mode of modes) {
      const outcome: Outcome = { score: new Map(), misses: [], calls: 0, valid: 0, requestMs: [], grammarMs: [] }
      outcomes.set(mode, outcome)
      for (const set of sets) await evaluate({ backend, tools, mode }, set, outcome)
    }
  } finally {
    await backend.close()
  }
  const misses = [...outcomes.values()].flatMap((outcome) => outcome.misses)
  if (process.env["POCKET_MISSES"] !== undefined)
    writeFileSync(process.env["POCKET_MISSES"], JSON.stringify(misses, undefined, 1))
  return { ...summary(outcomes), report: table(outcomes) }
}

interface Model {
  readonly backend: LlamaBackend
  readonly tools: readonly ToolDefinition[]
  readonly mode: Mode
}

async function evaluate(model: Model, name: string, outcome: Outcome): Promise<void> {
  const set = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), "utf8")) as EvaluationSet
  const note = (group: string, right: boolean) => {
    const entry = outcome.score.get(group) ?? { right: 0, all: 0 }
    outcome.score.set(group, { right: entry.right + Number(right), all: entry.all + 1 })
  }
  for (const request of set.requests) {
    const start = performance.now()
    const reply = await answer(model, [{ role: "user", content: request.text }], outcome)
    outcome.requestMs.push(performance.now() - start)
    const right = isDeepStrictEqual(callOf(reply), request.expect)
    note(`${name}: requests${groupOf(request)}`, right)
    if (!right)
      outcome.misses.push({ set: name, mode: model.mode, text: request.text, wanted: request.expect, got: reply })
  }
  for (const flow of set.flows) {
    const wrong = await play(model, flow, outcome)
    note(`${name}: flows${groupOf(flow)}`, wrong === undefined)
    if (wrong !== undefined) outcome.misses.push({ set: name, mode: model.mode, text: flow.text, ...wrong })
  }
}

function groupOf({ unseenPhrase }: { readonly unseenPhrase?: boolean }): string {
  return unseenPhrase === undefined ? "" : unseenPhrase ? ", unseen phrasing" : ", seen phrasing"
}

/** Steps with the results that the set gives, up to the words that end them. */
async function play(
  model: Model,
  { text, steps }: Flow,
  outcome: Outcome,
): Promise<{ wanted: unknown; got: string } | undefined> {
  const messages: ChatMessage[] = [{ role: "user", content: text }]
  for (const { call, result } of steps) {
    const reply = await answer(model, messages, outcome)
    if (!isDeepStrictEqual(callOf(reply), call)) return { wanted: call, got: reply }
    messages.push(
      { role: "assistant", content: reply },
      { role: "user", content: `<tool_response>\n${result}\n</tool_response>` },
    )
  }
  const reply = await answer(model, messages, outcome)
  if (callOf(reply) !== null) return { wanted: "words", got: reply }
  return undefined
}

async function answer(
  { backend, tools, mode }: Model,
  messages: readonly ChatMessage[],
  outcome: Outcome,
): Promise<string> {
  const start = performance.now()
  const said = backend.groundingText!(messages)
  const grounding: Grounding | undefined =
    mode === "grounded" || mode === "masks" ? { text: said, rules: pocketGrounding(said) } : undefined
  const grammar =
    mode === "free" ? undefined : grammarFor("hermes", tools, grounding === undefined ? {} : { grounding })
  const gbnf = grammar === undefined || mode === "masks" ? undefined : grammarToGbnf(grammar)
  let reply = ""
  if (mode === "masks") {
    const constraint = createMaskEngine(grammar!, backend.engine.tokenizer).matcher()
    outcome.grammarMs.push(performance.now() - start)
    const prompt = pocketPrompt(backend.engine, messages)
    reply = (await generateMasked(backend.engine, prompt!, { constraint, sampler: { temperature: 0 }, maxTokens: 200 }))
      .text
  } else {
    outcome.grammarMs.push(performance.now() - start)
    const request = { messages, ...(gbnf !== undefined && { grammar: gbnf }) }
    for await (const event of backend.infer(request)) if (event.type === "text-delta") reply += event.text
  }
  if (reply.includes("<tool_call>")) {
    outcome.calls++
    if (callOf(reply) !== null) outcome.valid++
  }
  return reply
}

const CALL = /^<tool_call>\n(.*)\n<\/tool_call>\s*$/s

/** The call that a reply is, null where it is none. Read strictly: the formats would mend what is to be measured. */
function callOf(reply: string): Call | null {
  const text = CALL.exec(reply)?.[1]
  if (text === undefined) return null
  try {
    return JSON.parse(text) as Call
  } catch {
    return null
  }
}

function summary(outcomes: ReadonlyMap<Mode, Outcome>): Pick<BenchmarkResult, "figures" | "ratios"> {
  const figures: Record<string, number> = {}
  for (const [mode, { score, calls, valid, requestMs, grammarMs }] of outcomes) {
    for (const [group, { right, all }] of score) figures[`${mode}: ${group} (%)`] = (100 * right) / all
    figures[`${mode}: whole calls (%)`] = (100 * valid) / calls
    figures[`${mode}: request_ms`] = median(requestMs)
    figures[`${mode}: grammar_ms`] = median(grammarMs)
  }
  return { figures, ratios: {} }
}

function table(outcomes: ReadonlyMap<Mode, Outcome>): string {
  const modes = [...outcomes.keys()]
  const groups = [...(outcomes.get(modes[0]!)?.score.keys() ?? [])]
  const cell = (mode: Mode, group: string): string => {
    const { right, all } = outcomes.get(mode)!.score.get(group)!
    return `${right} of ${all}`
  }
  return [
    `| | ${modes.join(" | ")} |`,
    `|---|${modes.map(() => "---:|").join("")}`,
    ...groups.map((group) => `| ${group} | ${modes.map((mode) => cell(mode, group)).join(" | ")} |`),
  ].join("\n")
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
