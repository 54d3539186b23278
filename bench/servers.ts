/**
 * The tools of public MCP servers, installed into a folder of their own: in how many families each is held to a
 * grammar, or why not; and whether the grammar of its arguments says of random ones what a validator says.
 *
 * Environment: `TOOLWRIGHT_SERVERS_INSTANCES` how many arguments each tool (120), `TOOLWRIGHT_SERVERS_FAMILIES` names
 * of some families, separated by commas.
 */
import {
  compileSchema,
  createGbnfMatcher,
  createMatcher,
  matchesGbnf,
  schemaToGBNF,
  type Schema,
} from "@toolwright/logits"
import { inspect, type JsonObject, type ToolDefinition } from "@toolwright/toolbox"
import { formatterOf, grammarText, listFormats, type Format } from "@toolwright/toolformat"
import { createRandom } from "./fuzz/random.ts"
import type { BenchmarkResult } from "./run.ts"
import { instanceOf } from "./servers/instances.ts"
import { offeredTools, type Offered } from "./servers/list.ts"

const INSTANCES = Number(process.env["TOOLWRIGHT_SERVERS_INSTANCES"] ?? 120)
const ONLY = process.env["TOOLWRIGHT_SERVERS_FAMILIES"]?.split(",")
const FORMATS = listFormats().filter(({ id, apiOnly }) => apiOnly === undefined && ONLY?.includes(id) !== false)

export async function run(): Promise<BenchmarkResult> {
  const { servers, missing } = await offeredTools()
  const tools = servers.flatMap((offered) => offered.tools)
  console.error(`${tools.length} tools of ${servers.length} servers`)
  const problems: string[] = missing.map((why) => `not started: ${why}`)
  const samples = new Map(tools.map((tool) => [tool, sampleOf(tool)]))
  for (const [{ name }, sample] of samples) if (sample === undefined) problems.push(`${name}: no sample was found`)
  const held = await Promise.all(tools.map((tool) => judge(tool, problems)))
  const families = FORMATS.map((format) => {
    console.error(format.id)
    return inFamily(format, servers, { samples, problems })
  })
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
  const wrong = sum(held.map(({ wrong: each }) => each)) + sum(families.map(({ unread }) => unread))
  if (wrong > 0 || missing.length > 0) process.exitCode = 1
  return {
    figures: {
      servers: servers.length,
      tools: tools.length,
      sampled: [...samples.values()].filter((sample) => sample !== undefined).length,
      families: FORMATS.length,
      with_grammar: Math.min(...families.map(({ grammars }) => grammars)),
      with_reason: Math.max(...families.map(({ refused }) => refused)),
      silent: Math.max(...families.map(({ grammars, refused }) => tools.length - grammars - refused)),
      exact_schemas: held.filter(({ exact }) => exact).length,
      instances: sum(held.map(({ instances }) => instances)),
      disagreements: sum(held.map(({ wrong: each }) => each)),
      samples_not_read: sum(families.map(({ unread }) => unread)),
      gbnf_kb_max: Math.max(...families.map(({ size }) => size)) / 1024,
      gbnf_ms_max: Math.max(...families.map(({ ms }) => ms)),
    },
    ratios: {},
    report: [...servers.map(({ server, tools: { length } }) => `${server}: ${length} tools`), ...problems].join("\n"),
  }
}

/** The grammar of a tool's arguments and a validator, over the same random arguments. */
async function judge(
  tool: ToolDefinition,
  problems: string[],
): Promise<{ exact: boolean; instances: number; wrong: number }> {
  // The validator takes formats for annotations.
  const compiled = compileSchema(tool.parameters as Schema, { formats: "annotate" })
  if (compiled.grammar === undefined) {
    problems.push(`${tool.name}: ${compiled.reasons.map(({ path, reason }) => `${path} ${reason}`).join("; ")}`)
    return { exact: false, instances: 0, wrong: 0 }
  }
  const matcher = createMatcher(compiled.grammar)
  let wrong = 0
  for (let seed = 1; seed <= INSTANCES; seed++) {
    const args = instanceOf(tool.parameters, tool.parameters, createRandom(seed))
    const text = JSON.stringify(args)
    matcher.reset()
    const accepted = matcher.accept(text) && matcher.isComplete()
    const { errors } = await inspect(tool.parameters, args)
    if (accepted === (errors.length === 0)) continue
    if (++wrong === 1) problems.push(`${tool.name} ${accepted ? "takes" : "refuses"} ${text.slice(0, 200)}`)
  }
  return { exact: compiled.status === "exact", instances: INSTANCES, wrong }
}

/** Arguments that a grammar of plain JSON takes: what a family's grammar then has to take too. */
function sampleOf({ parameters }: ToolDefinition): JsonObject | undefined {
  const gbnf = schemaToGBNF(parameters as Schema, { relaxed: true, closed: true, formats: "assert" })
  for (let seed = 1; seed <= 300; seed++) {
    const args = instanceOf(parameters, parameters, createRandom(seed))
    if (matchesGbnf(gbnf, JSON.stringify(args))) return args as JsonObject
  }
  return undefined
}

/** What a family's grammars of each server's tools come to; a call of every tool has to be in them. */
function inFamily(
  format: Format,
  servers: readonly Offered[],
  { samples, problems }: { samples: ReadonlyMap<ToolDefinition, JsonObject | undefined>; problems: string[] },
) {
  const formatter = formatterOf(format)
  const result = { grammars: 0, refused: 0, unread: 0, size: 0, ms: 0 }
  for (const { server, tools } of servers) {
    const before = process.cpuUsage().user
    const { text, refused } = grammarText(format, tools, { mode: "call" })
    result.ms = Math.max(result.ms, (process.cpuUsage().user - before) / 1000)
    result.size = Math.max(result.size, text.length)
    result.refused += refused.length
    result.grammars += tools.length - refused.length
    for (const { tool, reason } of refused) problems.push(`${format.id} ${server} ${tool}: ${reason}`)
    // Read once: some are a hundred kilobytes long.
    const start = createGbnfMatcher(text)
    for (const tool of tools) {
      const args = samples.get(tool)
      if (args === undefined) continue
      const id = format.ids === "ordinal" ? "0" : format.ids === "nine" ? "call00000" : "call_1"
      const printed = formatter.printCalls([{ id, name: tool.name, arguments: args }], [tool])
      const matcher = start.clone()
      if (matcher.acceptText(printed) && matcher.complete) continue
      if (++result.unread <= 2) problems.push(`${format.id} ${server}: no call as ${printed.slice(0, 200)}`)
    }
  }
  return result
}
