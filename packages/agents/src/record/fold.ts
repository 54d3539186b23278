import type { Reply } from "@toolwright/dialogue"
import { readBodies, type Database, type LogEvent } from "@toolwright/store"
import {
  ToolwrightError,
  type JsonObject,
  type JsonSchema,
  type ToolCall,
  type ToolResult,
  type WorkNote,
} from "@toolwright/toolbox"
import { ABOUT, type ChatMessage } from "@toolwright/toolformat/messages"
import type { EarlierWork, SavedHistory, SavedWatch } from "../gate/work-record.ts"
import type { DeclaredEffect } from "./effects.ts"
import type { GivenToRun, KeptPermissions, ListChange, RunCounters, StoredMessage } from "./encode.ts"
import { saidAgain } from "./said-once.ts"

/** A call that has ended, with its arguments as they ran. */
export interface EndedCall {
  call: ToolCall
  result: ToolResult
}

/** A call whose effect was begun and of whose end nothing is known. */
export interface BegunCall {
  key: string
  declared: DeclaredEffect
  startedAt: number
}

/** A round that was under way. */
export interface OpenRound {
  round: number
  reply: Reply
  /** By the id of the call. */
  ended: Map<string, EndedCall>
  begun: Map<string, BegunCall>
  /** Calls whose arguments held a secret, which is not in the log. */
  redacted: ReadonlySet<string>
}

/**
 * The phases of a run: which have ended, and which one is under way. `from` and `to` count the rounds before it, and at
 * its end.
 */
export interface FoldedPhases {
  ended: { phase: string; artifact: { name: string; value: unknown } | undefined; from: number; to: number }[]
  open: { phase: string; from: number } | undefined
}

/** What a run is, by its log: what it was given, what its finished rounds came to, and the round that was under way. */
export interface FoldedRun {
  runId: string
  task: string
  agent: string
  model: string
  given: GivenToRun
  dryRun: boolean
  /** It is a plain question: no tool was offered. */
  withoutTools: boolean
  /** The last event that this is the sum of. */
  seq: number
  /** Rounds that were finished. */
  rounds: number
  /** The conversation after the last of them, with the hashes of its messages; none before the first. */
  conversation: { messages: ChatMessage[]; hashes: string[] } | undefined
  counters: RunCounters | undefined
  notes: WorkNote[]
  /** The calls of each finished round, in the order in which they ended. */
  calls: EndedCall[][]
  /** Ids of all calls, in the order of the replies. */
  ids: string[]
  open: OpenRound | undefined
  /** Undefined where none has begun. */
  phases: FoldedPhases | undefined
  ended: boolean
  /** What was seen of the work before anything changed it; undefined where nothing was about to. */
  work: EarlierWork | undefined
}

/**
 * Adds up the events of a run. Nothing is run again for it: its cost is that of reading.
 *
 * @throws ToolwrightError `RUN_UNREADABLE` where what it needs was erased, or nothing was written yet
 */
export async function foldRun(database: Database, events: readonly LogEvent[]): Promise<FoldedRun> {
  const folding = new Folding()
  for (const event of events) folding.add(event)
  return folding.result(database)
}

class Folding {
  #start: (Body & { given?: StoredGiven }) | undefined
  #seq = 0
  #rounds = 0
  #round = 0
  #counters: RunCounters | undefined
  #notes: WorkNote[] = []
  readonly #calls: EndedCall[][] = []
  readonly #ids: string[] = []
  #hashes: string[] = []
  #problems: Reply["problems"] = []
  #open: OpenRound | undefined
  #ended = false
  #phases: FoldedPhases | undefined
  #work: Omit<EarlierWork, "texts"> | undefined
  readonly #arguments = new Map<string, JsonObject>()
  readonly #results = new Map<string, EndedCall>()

  add({ run, seq, type, time, body }: LogEvent): void {
    this.#seq = seq
    const read = READERS[type as keyof typeof READERS]
    if (read === undefined) return
    if (body === undefined)
      throw new ToolwrightError("RUN_UNREADABLE", `Event ${seq} of the run ${run} was erased: it cannot go on.`)
    read.call(this, JSON.parse(body) as Body, time)
  }

  startRun(body: Body): void {
    this.#start ??= body
  }

  startRound({ round }: Body): void {
    this.#round = round!
    this.#problems = []
    this.#open = undefined
  }

  problem(body: Body): void {
    this.#problems.push(body as unknown as Reply["problems"][number])
  }

  reply(body: Body): void {
    const { raw = "", content = "", said = content, reasoning = "", calls = [], finishReason, modelMs = 0 } = body
    const { certainty, declined, usage, redacted } = body
    this.#ids.push(...calls.map(({ id }) => id))
    this.#open = {
      round: this.#round,
      reply: {
        raw,
        content,
        said,
        reasoning,
        calls,
        problems: this.#problems,
        modelMs,
        finishReason: (finishReason ?? "unknown") as Reply["finishReason"],
        selfKnowledge: {
          ...(certainty === undefined ? {} : { certainty }),
          ...(declined === true ? { declined } : {}),
        },
        ...(usage === undefined ? {} : { usage }),
      },
      ended: new Map(),
      begun: new Map(),
      redacted: new Set(redacted),
    }
  }

  startCall({ callId, arguments: args }: Body): void {
    this.#arguments.set(callId!, args ?? {})
  }

  startEffect({ callId, key, declared }: Body, time: number): void {
    this.#open?.begun.set(callId!, { key: key!, declared: declared!, startedAt: time })
  }

  endCall(body: Body): void {
    const { callId, name, result } = saidAgain(body)
    const call = this.#open?.reply.calls.find(({ id }) => id === callId)
    const args = this.#arguments.get(callId!) ?? call?.arguments ?? {}
    const ended = { call: { id: callId!, name: call?.name ?? name!, arguments: args }, result: result! }
    this.#results.set(callId!, ended)
    this.#open?.ended.set(callId!, ended)
    this.#open?.begun.delete(callId!)
  }

  endRound({ round, conversation, counters, notes }: Body): void {
    this.#rounds = round!
    this.#hashes = [...this.#hashes.slice(0, conversation!.keep), ...conversation!.add]
    this.#counters = counters
    if (notes !== undefined) this.#notes = notes
    if (this.#open !== undefined) this.#calls.push([...this.#open.ended.values()])
    this.#open = undefined
  }

  beginWork({ watches }: Body): void {
    this.#work = { watches: watches! }
  }

  moveHistory({ last, unseen }: Body): void {
    if (this.#work !== undefined) this.#work = { watches: this.#work.watches, last: last!, unseen: unseen === true }
  }

  startPhase({ phase }: Body): void {
    this.#phases ??= { ended: [], open: undefined }
    this.#phases.open = { phase: phase!, from: this.#calls.length }
    // Each has a conversation of its own.
    this.#hashes = []
  }

  endPhase({ phase, artifact }: Body): void {
    const from = this.#phases?.open?.from ?? 0
    this.#phases?.ended.push({ phase: phase!, artifact, from, to: this.#calls.length })
    if (this.#phases !== undefined) this.#phases.open = undefined
    this.#hashes = []
  }

  endRun(): void {
    this.#ended = true
  }

  async result(database: Database): Promise<FoldedRun> {
    const start = this.#start
    if (start === undefined) throw new ToolwrightError("RUN_UNREADABLE", "Nothing of this run was written.")
    const { given = {} } = start
    const bodies = await readBodies(database, [
      ...this.#hashes,
      ...(given.history ?? []),
      ...(given.systemPrompt === undefined ? [] : [given.systemPrompt]),
    ])
    const textOf = (hash: string): string => {
      const text = bodies.get(hash)
      if (text === undefined)
        throw new ToolwrightError("RUN_UNREADABLE", "A message of this run was erased: it cannot go on.")
      return text
    }
    const messageOf = (hash: string): ChatMessage => this.#message(JSON.parse(textOf(hash)) as StoredMessage)
    return {
      runId: start.runId!,
      task: start.task!,
      agent: start.agent!,
      model: start.model!,
      given: {
        ...(given.systemPrompt === undefined ? {} : { systemPrompt: textOf(given.systemPrompt) }),
        ...(given.history === undefined ? {} : { history: given.history.map(messageOf) }),
        ...(given.files === undefined ? {} : { files: given.files }),
        ...(given.output === undefined ? {} : { output: given.output }),
        ...(given.permissions === undefined ? {} : { permissions: given.permissions }),
      },
      dryRun: start.dryRun === true,
      withoutTools: start.tools?.length === 0,
      seq: this.#seq,
      rounds: this.#rounds,
      conversation:
        this.#hashes.length === 0 ? undefined : { messages: this.#hashes.map(messageOf), hashes: this.#hashes },
      counters: this.#counters,
      notes: this.#notes,
      calls: this.#calls,
      ids: this.#ids,
      open: this.#open,
      phases: this.#phases,
      ended: this.#ended,
      work: this.#work === undefined ? undefined : { ...this.#work, texts: (names) => textsIn(database, names) },
    }
  }

  /** A message as it stood in the conversation, with what it is about. */
  #message({ note, ...message }: StoredMessage): ChatMessage {
    if (note === true && message.role === "user") return { ...message, [ABOUT]: { kind: "note" } }
    if (message.role !== "tool") return message
    const ended = this.#results.get(message.callId)
    return ended === undefined ? message : { ...message, [ABOUT]: { kind: "results", results: [ended] } }
  }
}

/** Texts that were kept as they are. */
async function textsIn(database: Database, names: readonly string[]): Promise<Map<string, string>> {
  const bodies = await readBodies(database, names)
  return new Map([...bodies].map(([name, body]) => [name, JSON.parse(body) as string]))
}

const READERS = {
  "run-start": Folding.prototype.startRun,
  "round-start": Folding.prototype.startRound,
  "parse-problem": Folding.prototype.problem,
  reply: Folding.prototype.reply,
  "tool-start": Folding.prototype.startCall,
  "effect-start": Folding.prototype.startEffect,
  "tool-end": Folding.prototype.endCall,
  "round-end": Folding.prototype.endRound,
  "work-begin": Folding.prototype.beginWork,
  "work-history": Folding.prototype.moveHistory,
  "phase-start": Folding.prototype.startPhase,
  "phase-end": Folding.prototype.endPhase,
  "run-end": Folding.prototype.endRun,
}

interface StoredGiven {
  systemPrompt?: string
  history?: readonly string[]
  files?: readonly string[]
  output?: JsonSchema
  permissions?: KeptPermissions
}

/** The fields of events that are read here. */
interface Body {
  runId?: string
  task?: string
  agent?: string
  model?: string
  dryRun?: boolean
  tools?: readonly unknown[] | string
  given?: StoredGiven
  round?: number
  raw?: string
  content?: string
  said?: string
  reasoning?: string
  calls?: ToolCall[]
  finishReason?: string
  modelMs?: number
  certainty?: number
  declined?: true
  usage?: { inputTokens: number; outputTokens: number }
  callId?: string
  name?: string
  arguments?: JsonObject
  result?: ToolResult
  key?: string
  declared?: DeclaredEffect
  conversation?: ListChange
  counters?: RunCounters
  notes?: WorkNote[]
  watches?: SavedWatch[]
  last?: (SavedHistory | null)[]
  unseen?: boolean
  phase?: string
  artifact?: { name: string; value: unknown }
  redacted?: string[]
}
