/**
 * How many tokens an agent's tools take in a prompt: `npm run bench -- prompt-sizes`, by the vocabularies beside the
 * repository where they are there. With `--write-docs` it writes docs/prompt-sizes.md.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Catalogue, PROFILES, type AgentProfile } from "@toolwright/agents"
import { createToolwright, type Toolwright } from "@toolwright/runtime"
import { formatterById, toOpenAITools } from "@toolwright/toolformat"
import type { ToolDefinition } from "@toolwright/toolbox"
import { systemPrompt } from "../packages/dialogue/src/prompt.ts"
import { offerFor } from "../packages/runtime/src/assembly/offer.ts"
import { byteLevelCounter } from "./prompt-sizes/count.ts"
import type { BenchmarkResult } from "./run.ts"

const FORMATS = ["hermes", "llama3-json", "mistral", "generic"] as const
const DELIVERIES = ["native", ...FORMATS] as const
const VOCABULARIES = ["qwen2", "llama-bpe"] as const

/** The tools part of a prompt, as a delivery writes it: a native request has it in JSON, as most templates write it. */
function written(tools: readonly ToolDefinition[], delivery: (typeof DELIVERIES)[number]): string {
  const native = delivery === "native"
  const formatter = formatterById(native ? "generic" : delivery)
  const text = systemPrompt({ tools, plan: { delivery: native ? "native" : "text", formatter } })
  return native
    ? `${toOpenAITools(tools)
        .map((tool) => JSON.stringify(tool))
        .join("\n")}\n${text}`
    : text
}

function toolsOf({ registry }: Toolwright, profile: AgentProfile, native: boolean, search: boolean) {
  const assembled = { registry, unavailable: [], close: async () => {} }
  const { tools, catalogue } = offerFor(profile, assembled, { pairing: undefined, writable: true, search })
  return new Catalogue(tools, catalogue).declared(native)
}

export async function run(): Promise<BenchmarkResult> {
  const cwd = mkdtempSync(join(tmpdir(), "prompt-sizes-"))
  await using toolwright = await createToolwright({ cwd, withBuiltins: true, record: false })
  const counters = VOCABULARIES.flatMap((name) => {
    const file = new URL(`../../shared/data/vocab/${name}.json`, import.meta.url)
    return existsSync(file) ? [{ name, count: byteLevelCounter(JSON.parse(readFileSync(file, "utf8"))) }] : []
  })
  const figures: Record<string, number> = {}
  const rows = PROFILES.flatMap((profile) =>
    DELIVERIES.map((delivery) => {
      const of = (search: boolean) => toolsOf(toolwright, profile, delivery === "native", search)
      const [before, now] = [of(false), of(true)]
      const tokens = counters.map(({ name, count }) => {
        const counted = [count(written(before, delivery)), count(written(now, delivery))]
        figures[`${profile.name}_${delivery}_${name}_tokens`] = counted[1]!
        return counted
      })
      figures[`${profile.name}_${delivery}_tools`] = now.length
      return { profile: profile.name, delivery, before: before.length, now: now.length, tokens }
    }),
  )
  rmSync(cwd, { recursive: true })
  const head = ["agent", "delivery", "tools", ...counters.map(({ name }) => `tokens, ${name}`)]
  const table = [
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...rows.map(
      ({ profile, delivery, before, now, tokens }) =>
        `| ${[profile, delivery, `${before} → ${now}`, ...tokens.map((pair) => pair.join(" → "))].join(" | ")} |`,
    ),
  ].join("\n")
  if (process.argv.includes("--write-docs")) write(table)
  return { figures, ratios: {}, report: table }
}

function write(table: string): void {
  const page = new URL("../docs/prompt-sizes.md", import.meta.url)
  const text = readFileSync(page, "utf8")
  const begin = text.indexOf("\n| agent |")
  writeFileSync(page, `${text.slice(0, begin === -1 ? undefined : begin).trimEnd()}\n\n${table}\n`)
}
