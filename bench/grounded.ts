/**
 * What grounded arguments cost for each request, with 18 tools and a rule for every string and number: the GBNF (built
 * around what is kept), llama.cpp's reading of it and its work for each token, and our own masks. Every repetition has
 * a conversation of its own, so nothing that depends on one is reused. The pocket model decodes; how well it does is
 * not measured here.
 */
import {
  createMaskEngine,
  createTokenizer,
  grammarToGbnf,
  type GroundingRules,
  isAllowed,
  readVocabulary,
  type Tokenizer,
  warmTokenizer,
} from "@toolwright/logits"
import { existsSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import { generateMasked, type LlamaEngine, openLlama, POCKET_TOOLS, renderChatMl } from "@toolwright/backends"
import { splitActions, type ToolDefinition } from "@toolwright/toolbox"
import { grammarFor } from "@toolwright/toolformat"
import { createBuiltinTools } from "@toolwright/tools"
import { webKit } from "@toolwright/tools-web"
import { longestMatch } from "./masks/longest-match.ts"
import type { BenchmarkResult } from "./run.ts"

const SIZES = [300, 1_000, 3_000, 8_000]
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 30)
const REQUEST = "show me the first 5 lines of README.md"
const VOCABULARY = new URL("../../shared/data/vocab/llama-bpe.json", import.meta.url)

const RULES: GroundingRules = {
  "*": {
    "*": "span",
    path: "path",
    source: "path",
    destination: "path",
    include: "path",
    head: "number",
    tail: "number",
    start_line: "number",
    end_line: "number",
    max_results: "number",
    context: "number",
  },
}

export async function run(): Promise<BenchmarkResult> {
  const figures: Record<string, number> = {}
  const tools = pocketTools()
  const texts = conversations()
  const llama = await openEngine()
  const plain = grammarToGbnf(grammarFor("hermes", tools))
  figures["plain_build_ms"] = quartile(times(5, () => grammarToGbnf(grammarFor("hermes", tools))))
  figures["plain_engine_parse_ms"] = await parseTime(llama, () => plain)
  for (const size of [300, ...SIZES]) {
    const gbnf = () => grammarToGbnf(grammarFor("hermes", tools, { grounding: { text: texts(size), rules: RULES } }))
    figures[`build_${size}_ms`] = quartile(times(ROUNDS, gbnf))
    figures[`size_${size}_kb`] = gbnf().length / 1000
    figures[`engine_parse_${size}_ms`] = await parseTime(llama, gbnf)
  }
  await using engine = await openLlama({
    modelPath: fileURLToPath(import.meta.resolve("@toolwright/pocket/pocket-q8_0.gguf")),
  })
  Object.assign(figures, await tokenFigures(engine, tools, texts, plain))
  for (const [name, tokenizer] of tokenizers(engine.tokenizer)) {
    warmTokenizer(tokenizer)
    for (const size of SIZES) Object.assign(figures, maskFigures(name, tokenizer, tools, size, texts))
  }
  return {
    figures,
    ratios: {
      build_300_to_plain: figures["plain_build_ms"]! / figures["build_300_ms"]!,
      build_3000_to_plain: figures["plain_build_ms"]! / figures["build_3000_ms"]!,
      engine_token_300_to_plain: figures["engine_plain_token_ms"]! / figures["engine_token_300_ms"]!,
      engine_token_3000_to_plain: figures["engine_plain_token_ms"]! / figures["engine_token_3000_ms"]!,
    },
    report: `18 tools in the hermes format, lower quartiles of ${ROUNDS} requests.`,
  }
}

/** What a token costs in llama.cpp's own sampler and through our masks, by the size of the conversation. */
async function tokenFigures(
  engine: LlamaEngine,
  tools: readonly ToolDefinition[],
  texts: (size: number) => string,
  plain: string,
): Promise<Record<string, number>> {
  const prompt = renderChatMl([{ role: "user", content: REQUEST }])
  const grounded = (size: number) => grammarFor("hermes", tools, { grounding: { text: texts(size), rules: RULES } })
  const decode = async (grammar: string | undefined): Promise<number> => {
    let tokens = 0
    let started = 0
    for await (const _ of engine.generate(prompt, {
      sampling: { temperature: 0, maxTokens: 60 },
      ...(grammar === undefined ? {} : { grammar }),
    })) {
      if (tokens++ === 0) started = performance.now()
    }
    return (performance.now() - started) / Math.max(1, tokens - 1)
  }
  const masked = async (size: number): Promise<number> => {
    const grammar = grounded(size)
    const started = performance.now()
    const { tokens } = await generateMasked(engine, prompt, {
      constraint: createMaskEngine(grammar, engine.tokenizer).matcher(),
      sampler: { temperature: 0 },
      maxTokens: 60,
    })
    return (performance.now() - started) / Math.max(1, tokens.length)
  }
  // In turns, so that what else the machine does falls on all of them.
  const times: Record<string, number[]> = {}
  const note = (name: string, value: number): void => void (times[name] ??= []).push(value)
  for (let round = 0; round < ROUNDS; round++) {
    note("engine_free_token_ms", await decode(undefined))
    note("engine_plain_token_ms", await decode(plain))
    for (const size of SIZES) {
      note(`engine_token_${size}_ms`, await decode(grammarToGbnf(grounded(size))))
      note(`masked_token_${size}_ms`, await masked(size))
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, values]) => [name, quartile(values)]))
}

/** Masks along a call that is all copied: the engine made anew for each request, as its conversation is. */
function maskFigures(
  name: string,
  tokenizer: Tokenizer,
  tools: readonly ToolDefinition[],
  size: number,
  texts: (size: number) => string,
): Record<string, number> {
  const call =
    '<tool_call>\n{"name": "edit_file", "arguments": {"path": "README.md", "old_text": "first 5 lines", ' +
    '"new_text": "show me the first 5 lines of README.md"}}\n</tool_call>'
  const tokens = longestMatch(tokenizer, new TextEncoder().encode(call))
  const engines: number[] = []
  const masks: number[] = []
  const worst: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const grammar = grammarFor("hermes", tools, { grounding: { text: texts(size), rules: RULES } })
    const start = performance.now()
    const matcher = createMaskEngine(grammar, tokenizer).matcher()
    engines.push(performance.now() - start)
    let most = 0
    let sum = 0
    for (const token of tokens) {
      const begin = performance.now()
      const mask = matcher.mask()
      const took = performance.now() - begin
      sum += took
      most = Math.max(most, took)
      if (!isAllowed(mask, token)) throw new Error(`the mask refuses token ${token} of ${call}`)
      matcher.accept(token)
    }
    masks.push(sum / tokens.length)
    worst.push(most)
  }
  return {
    [`${name}_engine_${size}_ms`]: quartile(engines),
    [`${name}_mask_${size}_ms`]: quartile(masks),
    [`${name}_worst_mask_${size}_ms`]: quartile(worst),
  }
}

function* tokenizers(own: Tokenizer): Generator<[name: string, tokenizer: Tokenizer]> {
  yield ["pocket", own]
  if (existsSync(VOCABULARY))
    yield ["llama128k", createTokenizer(readVocabulary(JSON.parse(readFileSync(VOCABULARY, "utf8"))))]
}

function pocketTools(): ToolDefinition[] {
  const all = createBuiltinTools({ roots: [{ path: tmpdir(), access: "read-write" }], kits: [webKit()] }).flatMap(
    (tool) => [tool, ...splitActions(tool)],
  )
  return POCKET_TOOLS.map((name) => all.find((tool) => tool.name === name)!)
}

const WORDS = (
  "the of and to in is not found please read first lines look for write move file into archive build failed " +
  "cannot find name error expected received test passed with line " +
  "src/lib/util.ts config.json README.md docs/guide.md packages/core/index.ts src/app.ts notes.txt (42,7) 'hello " +
  "world' \"login flow\" export const return value import TODO: 120 7 2048 let's try again, then stop."
).split(" ")

/** Conversations that begin with the request, each another. */
function conversations(): (size: number) => string {
  let seed = 7
  const random = (): number => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x7fffffff
  return (size) => {
    let text = `${REQUEST}\n`
    while (text.length < size) text += WORDS[Math.floor(random() * WORDS.length)]! + (random() < 0.1 ? "\n" : " ")
    return text.slice(0, size)
  }
}

/** llama.cpp's binding, which `npm run clients:install` brings. */
const ENGINE = "node-llama-cpp"

interface LlamaParts {
  getLlama(options: { build: "never"; skipDownload: true; progressLogs: false; gpu: false }): Promise<{
    loadModel(options: { modelPath: string }): Promise<unknown>
    createGrammar(options: { grammar: string }): Promise<unknown>
  }>
  LlamaGrammarEvaluationState: new (options: { model: unknown; grammar: unknown }) => unknown
}

interface EngineGrammars {
  createGrammar(text: string): Promise<unknown>
  begin(grammar: unknown): unknown
}

async function openEngine(): Promise<EngineGrammars> {
  const { getLlama, LlamaGrammarEvaluationState } = (await import(ENGINE)) as LlamaParts
  const llama = await getLlama({ build: "never", skipDownload: true, progressLogs: false, gpu: false })
  const model = await llama.loadModel({
    modelPath: fileURLToPath(import.meta.resolve("@toolwright/pocket/pocket-q8_0.gguf")),
  })
  return {
    createGrammar: (grammar) => llama.createGrammar({ grammar }),
    begin: (grammar) => new LlamaGrammarEvaluationState({ model, grammar }),
  }
}

/** From text to a state of the engine that can be asked about tokens. */
function parseTime(llama: EngineGrammars, make: () => string): Promise<number> {
  return quartileOf(ROUNDS, async () => {
    const gbnf = make()
    const start = performance.now()
    llama.begin(await llama.createGrammar(gbnf))
    return performance.now() - start
  })
}

async function quartileOf(count: number, measure: () => Promise<number>): Promise<number> {
  const all: number[] = []
  for (let round = 0; round < count; round++) all.push(await measure())
  return quartile(all)
}

/** Milliseconds of each of several runs, the arguments made outside the clock. */
function times<Given>(count: number, work: (given: Given) => unknown, prepare?: () => Given): number[] {
  return Array.from({ length: count }, () => {
    const given = prepare?.() as Given
    const start = performance.now()
    work(given)
    return performance.now() - start
  })
}

/** The lower quartile: what else the machine does only ever adds. */
function quartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)]!
}
