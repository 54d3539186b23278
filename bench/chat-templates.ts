/**
 * Official chat templates rendered by ours and by `@huggingface/jinja`: how many come out as in Python, and how fast.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createChatTemplate, fromOpenAIMessages, type OpenAITool } from "@toolwright/toolformat"
import { installPeers } from "./peers.ts"
import type { BenchmarkResult } from "./run.ts"

const PEER = "@huggingface/jinja"
const FOLDER = join(import.meta.dirname, "../../shared/data/templates")
const VARIABLES = { enable_thinking: true, date_string: "26 Jul 2024" }
const SPECIAL = { bos_token: "<BOS>", eos_token: "<EOS>" }
const ROUNDS = 7
const TURNS = 50

interface Golden {
  messages_obj: Record<string, unknown>[]
  golden: { template: string; tools: OpenAITool[]; obj?: string }[]
}

type Render = (messages: Record<string, unknown>[], tools: OpenAITool[]) => string

/** The date of the golden texts, for the peer, which asks the system's clock. */
class FrozenDate extends Date {
  constructor(...given: [] | [number]) {
    if (given.length === 0) super(2026, 0, 1)
    else super(...given)
  }
}

export async function run(): Promise<BenchmarkResult> {
  const system = globalThis.Date
  try {
    globalThis.Date = FrozenDate as unknown as DateConstructor
    return await compare()
  } finally {
    globalThis.Date = system
  }
}

async function compare(): Promise<BenchmarkResult> {
  if (!existsSync(join(FOLDER, "golden.json")))
    return { figures: {}, ratios: {}, report: "The chat templates are not here (../shared/data/templates)." }
  const { load } = installPeers("chat-templates", { [PEER]: "0.5.11" })
  const { Template } = await load<{ Template: new (source: string) => { render(data: object): string } }>(PEER)
  const { golden, messages_obj: messages } = JSON.parse(readFileSync(join(FOLDER, "golden.json"), "utf8")) as Golden
  // A long conversation of the same turns, for the clock.
  const [system, ...turn] = messages
  const long = [system!, ...Array.from({ length: TURNS }, () => turn).flat()]

  let total = 0
  let identical = 0
  let peerIdentical = 0
  let ours = 0
  let theirs = 0
  for (const { template, tools, obj } of golden) {
    if (obj === undefined) continue
    const source = readFileSync(join(FOLDER, template), "utf8")
    const render = oursFor(source)
    const renderPeer: Render = (given, offered) =>
      new Template(source).render({
        messages: given,
        tools: offered,
        add_generation_prompt: true,
        ...SPECIAL,
        ...VARIABLES,
      })
    total += 1
    const same = attempt(render, messages, tools) === obj
    const peerSame = attempt(renderPeer, messages, tools) === obj
    identical += Number(same)
    peerIdentical += Number(peerSame)
    // The clock runs for what both render: parsing, preparing and rendering, as a program that gets a template does.
    if (
      !same ||
      !peerSame ||
      attempt(renderPeer, long, tools) === undefined ||
      attempt(render, long, tools) === undefined
    )
      continue
    ours += fastest(() => render(long, tools))
    theirs += fastest(() => renderPeer(long, tools))
  }
  return {
    figures: { templates: total, identical, peer_identical: peerIdentical, render_ms: ours, peer_render_ms: theirs },
    ratios: { [`${PEER} identical`]: identical / peerIdentical, [`${PEER} speed`]: theirs / ours },
    report:
      `Of ${total} templates that Python renders, ours renders ${identical} byte for byte, ${PEER} ` +
      `${peerIdentical}.`,
  }
}

function oursFor(source: string): Render {
  return (messages, tools) =>
    createChatTemplate(source, {
      bosToken: "<BOS>",
      eosToken: "<EOS>",
      variables: VARIABLES,
      now: () => new Date(2026, 0, 1),
      ids: "keep",
      fallback: "none",
    }).render({ messages: fromOpenAIMessages(messages), tools })
}

function attempt(render: Render, messages: Record<string, unknown>[], tools: OpenAITool[]): string | undefined {
  try {
    return render(messages, tools)
  } catch {
    return undefined
  }
}

function fastest(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now()
    work()
    best = Math.min(best, performance.now() - started)
  }
  return best
}
