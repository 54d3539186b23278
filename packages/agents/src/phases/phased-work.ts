import {
  createView,
  defineTool,
  failure,
  messageOf,
  success,
  textOf,
  ToolwrightError,
  type ToolCall,
  type Middleware,
  type ToolDefinition,
  type ToolResult,
  type Toolset,
} from "@toolwright/toolbox"
import { DEFAULT_MAX_ROUNDS, type ExecutorOptions, type RunRequest } from "../executor/options.ts"
import type { ResultStore } from "../executor/result-store.ts"
import type { CompletionCriteria } from "../gate/criteria.ts"
import type { Ledger } from "../gate/ledger.ts"
import type { EndedCall, FoldedPhases } from "../record/fold.ts"
import { SUMMARY_SCHEMA, type Artifact, type HandOver, type Phase } from "./phase.ts"
import { withoutCalls } from "./sanitise.ts"

/** By which a phase ends. */
export const HAND_OVER = "hand_over"
/** Characters of JSON that a phase may hand over: it stands in every request of the phases after it. */
const MOST_CHARACTERS = 24_000

/** What judges a hand-over. */
export interface Judge {
  ledger: Ledger
  unmet(signal: AbortSignal): Promise<{ reasons: string[] } | undefined>
}

/** A run in phases: which one it is in, what was handed over so far, and how the one under way ends. */
export class PhasedWork {
  readonly #options: ExecutorOptions
  readonly #phases: readonly Phase[]
  readonly #results: ResultStore
  readonly #judge: () => Judge
  #index = 0
  /** Rounds of the phases before. */
  #before = 0
  /** What the calls of the phase under way brought, so that later ones can look it up. */
  #calls: EndedCall[] = []
  #handed: { value: unknown } | undefined
  #refusal: string | undefined
  readonly artifacts: Artifact[] = []
  /** Whether the run still has to be told that the phase began. */
  begins = true
  #tool: ToolDefinition

  constructor(
    options: ExecutorOptions,
    { phases, results, judge }: { phases: readonly Phase[]; results: ResultStore; judge: () => Judge },
  ) {
    this.#options = options
    this.#phases = phases
    this.#results = results
    this.#judge = judge
    checkPhases(phases)
    this.#tool = this.#handOverTool()
  }

  get phase(): Phase {
    return this.#phases[this.#index]!
  }

  /** From 1, for people. */
  get place(): { index: number; of: number } {
    return { index: this.#index + 1, of: this.#phases.length }
  }

  get isLast(): boolean {
    return this.#index === this.#phases.length - 1
  }

  /** What the phase ends with; nothing for a last one that ends as a run does. */
  get handsOver(): HandOver | undefined {
    return this.phase.handsOver ?? (this.isLast ? undefined : { schema: SUMMARY_SCHEMA })
  }

  /** What was handed over, once the phase is over. */
  get handed(): { value: unknown } | undefined {
    return this.#handed
  }

  /** Why the last hand-over was refused. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  /** What the executor works with in this phase. */
  get options(): ExecutorOptions {
    const { phase, handsOver } = this
    const base = phase.tools ?? this.#options.tools
    const catalogue = phase.catalogue ?? this.#options.catalogue
    return {
      ...this.#options,
      tools: handsOver === undefined ? base : withTool(base, this.#tool),
      completion: this.completionOf(phase),
      ...(phase.unavailable === undefined ? {} : { unavailable: phase.unavailable }),
      ...(catalogue === undefined
        ? {}
        : {
            catalogue: {
              ...catalogue,
              rank: (tool) => (tool.name === HAND_OVER ? -1 : catalogue.rank?.(tool)),
            },
          }),
      ...(phase.readOnly === true ? { access: "nothing" } : {}),
    }
  }

  /** The round after which the phase, or the run, is over. */
  get lastRound(): number {
    const { maxRounds } = this.#options
    return Math.min(this.#before + (this.phase.maxRounds ?? DEFAULT_MAX_ROUNDS), maxRounds ?? Infinity)
  }

  /** How many of the run's rounds the phase under way has had. */
  rounds(all: number): number {
    return all - this.#before
  }

  /** What a run answers that ends with a hand-over. */
  get answer(): string {
    const value = this.#handed?.value as { summary?: unknown } | undefined
    return typeof value?.summary === "string" ? value.summary : textOf(value)
  }

  /** After its hand-over a phase makes no call more. */
  readonly middleware: readonly Middleware[] = [
    (call, next) =>
      this.#handed === undefined || call.tool.name === HAND_OVER
        ? next()
        : Promise.resolve(refused("it is over already, and this call was not run", "Make no further call.")),
  ]

  /** The tools of all phases, each once. */
  get allTools(): ToolDefinition[] {
    const all = this.#phases.flatMap(({ tools }) => (tools ?? this.#options.tools).list())
    return [...new Map(all.map((tool) => [tool.name, tool])).values()]
  }

  /** What of each phase has to hold, and with which tools: an agent that cannot do its last part need not begin. */
  get demands(): { name: string; completion: CompletionCriteria; tools: Toolset }[] {
    return this.#phases.map((phase) => ({
      name: phase.name,
      completion: this.completionOf(phase),
      tools: phase.tools ?? this.#options.tools,
    }))
  }

  completionOf(phase: Phase): CompletionCriteria {
    const isLast = phase === this.#phases.at(-1)
    const all = this.#inPhase({ ...(isLast ? this.#options.completion : {}), ...phase.completion })
    if (isLast && phase.handsOver === undefined) return all
    const { signal: _signal, ...rest } = all
    return rest
  }

  /** What tools did in an earlier phase is no work of this one. */
  #inPhase(criteria: CompletionCriteria): CompletionCriteria {
    if (criteria.requireToolUse !== true) return criteria
    return {
      ...criteria,
      requireToolUse: false,
      check: (ledger) =>
        this.#calls.some(({ result }) => result.success)
          ? criteria.check?.(ledger)
          : "no tool has succeeded in this phase yet",
    }
  }

  /** What the model is asked in this phase. */
  request(given: RunRequest): RunRequest {
    const { systemPrompt = "", task, output, ...rest } = given
    const ends = this.handsOver === undefined
    return {
      ...rest,
      systemPrompt: [systemPrompt.trim(), this.#prompt()].filter((part) => part !== "").join("\n\n"),
      task: [task, ...this.#handedOver()].join("\n\n"),
      ...(ends && output !== undefined ? { output } : {}),
    }
  }

  /** Hears of each call of the phase as it ends. */
  observe(call: ToolCall, result: ToolResult): void {
    if (call.name !== HAND_OVER || this.handsOver === undefined) this.#calls.push({ call, result })
    else if (!result.success) this.#refusal = result.error.message.replaceAll(/\s+/g, " ")
    else this.#handed = { value: result.data }
  }

  /** Ends a phase that has handed over; unless it was the last, the next one is under way then. */
  turn(rounds: number): { over: boolean } {
    const { artifact } = this
    const over = this.isLast
    if (artifact !== undefined) this.artifacts.push(artifact)
    if (!over) this.#enter(this.#index + 1, rounds)
    return { over }
  }

  /** What the phase under way hands over, once it has. */
  get artifact(): Artifact | undefined {
    const { name } = this.phase
    return this.#handed === undefined
      ? undefined
      : { phase: name, name: this.handsOver?.artifact ?? name, value: this.#handed.value }
  }

  /** Goes on where the log ends. @throws ToolwrightError `PHASES_CHANGED` */
  restore(folded: FoldedPhases | undefined, calls: readonly EndedCall[][]): void {
    if (folded === undefined) return
    const names = [...folded.ended.map(({ phase }) => phase), ...(folded.open === undefined ? [] : [folded.open.phase])]
    if (names.some((name, at) => this.#phases[at]?.name !== name)) throw changed(names, this.#phases)
    for (const [at, { artifact, from, to }] of folded.ended.entries()) {
      this.#index = at
      this.#calls = outside(calls.slice(from, to).flat())
      if (artifact !== undefined) this.artifacts.push({ phase: this.phase.name, ...artifact })
      if (at + 1 < this.#phases.length) this.#enter(at + 1, to)
    }
    const last = folded.ended.length === this.#phases.length ? folded.ended.at(-1)?.artifact : undefined
    if (last !== undefined) this.#handed = { value: last.value }
    if (folded.open === undefined) return
    this.begins = false
    for (const { call, result } of calls.slice(folded.open.from).flat()) this.observe(call, result)
  }

  #enter(index: number, rounds: number): void {
    keepCalls(this.#results, this.phase.name, this.#calls)
    this.#index = index
    this.#before = rounds
    this.#calls = []
    this.#handed = undefined
    this.#refusal = undefined
    this.begins = true
    this.#tool = this.#handOverTool()
  }

  #prompt(): string {
    const { phase, place, handsOver } = this
    const rounds = phase.maxRounds ?? DEFAULT_MAX_ROUNDS
    const ends =
      handsOver === undefined
        ? ""
        : `It ends with a call of ${HAND_OVER}: its arguments are all that is told of this conversation to ` +
          `${this.isLast ? "whoever asked" : "the next phase"}. There are ${rounds} rounds for it.`
    return [`You are in phase ${place.index} of ${place.of}, '${phase.name}'.`, phase.prompt?.trim() ?? "", ends]
      .filter((part) => part !== "")
      .join("\n")
  }

  #handedOver(): string[] {
    if (this.artifacts.length === 0) return []
    const parts = this.artifacts.map(({ phase, name, value }) => {
      const handle = this.#results.has(phase) ? ` (${this.#results.howToRead(phase)} lists its calls)` : ""
      return `${name}, of the phase '${phase}'${handle}:\n${textOf(value)}`
    })
    return [`Handed over by earlier phases:`, ...parts]
  }

  #handOverTool(): ToolDefinition {
    const handsOver = this.handsOver ?? { schema: SUMMARY_SCHEMA }
    const { name } = this.phase
    return defineTool({
      name: HAND_OVER,
      description: `Ends the phase '${name}' and hands over its result (${handsOver.artifact ?? name})`,
      category: "orchestration",
      // It changes nothing, so agents that only read may call it; that it waits for the calls before it is seen to
      // elsewhere.
      effects: { readOnly: true, idempotent: true },
      parameters: handsOver.schema,
      execute: (args, { signal }) => this.#judged(args, handsOver, signal),
    })
  }

  async #judged(args: unknown, { check, sanitise }: HandOver, signal: AbortSignal): Promise<ToolResult> {
    if (this.#handed !== undefined) return refused("it has handed over already", "Make no further call.")
    const { ledger, unmet } = this.#judge()
    const missing = await unmet(signal)
    const clean = withoutCalls(args, this.allTools)
    const faults = [...(missing?.reasons ?? [])]
    const length = JSON.stringify(clean).length
    if (length > MOST_CHARACTERS)
      faults.push(`what is handed over has ${length} characters, and ${MOST_CHARACTERS} are the most`)
    let value: unknown = clean
    try {
      value = await (sanitise === undefined ? clean : sanitise(clean, signal))
      const own = await check?.(value, ledger, signal)
      if (own !== undefined) faults.push(own)
    } catch (thrown) {
      faults.push(messageOf(thrown))
    }
    if (faults.length > 0) return refused(faults.join("; "), `Put that right, and call ${HAND_OVER} again.`)
    return success({ output: "Handed over.", data: value })
  }
}

function refused(why: string, hint: string): ToolResult {
  return failure({ code: "HAND_OVER_REFUSED", message: `The phase was not ended: ${why}.`, hint })
}

/** The calls of a phase but for those that would have ended it. */
function outside(calls: readonly EndedCall[]): EndedCall[] {
  return calls.filter(({ call }) => call.name !== HAND_OVER)
}

function withTool(base: Toolset, tool: ToolDefinition): Toolset {
  return createView(base, { add: [tool] })
}

/**
 * What was called in a phase can be looked up in the later ones: a list by the phase's name, and each result by its id.
 */
function keepCalls(results: ResultStore, phase: string, calls: readonly EndedCall[]): void {
  if (calls.length === 0) return
  for (const { call, result } of calls) results.keep(call.id, result.output)
  results.keep(
    phase,
    calls
      .map(({ call, result }) => {
        const args = JSON.stringify(call.arguments)
        return (
          `- ${call.id}: ${call.name} ${short(args)}: ${result.success ? "done" : "failed"}: ` +
          `${short(result.output)}`
        )
      })
      .join("\n"),
  )
}

const short = (text: string): string => {
  const line = text.slice(0, 400).replaceAll(/\s+/g, " ").trim()
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}

function checkPhases(phases: readonly Phase[]): void {
  const names = phases.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  const wrong = phases.find(({ handsOver }) => handsOver !== undefined && handsOver.schema.type !== "object")
  if (names.length === 0) throw new ToolwrightError("INVALID_AGENT", "An agent with phases needs one at least.")
  if (twice !== undefined) throw new ToolwrightError("INVALID_AGENT", `Two phases are called '${twice}'.`)
  if (wrong !== undefined) {
    throw new ToolwrightError("INVALID_AGENT", `What the phase '${wrong.name}' hands over is no object.`, {
      hint: "Give it a schema of the type object: its properties are the arguments of the call that ends the phase.",
    })
  }
}

function changed(begun: readonly string[], phases: readonly Phase[]): ToolwrightError {
  return new ToolwrightError(
    "PHASES_CHANGED",
    `The run was begun in the phases ${begun.join(", ")}, and its agent has others now: ` +
      `${phases.map(({ name }) => name).join(", ")}.`,
    { hint: "Put the agent back as it was to go on with this run, or begin a new one." },
  )
}
