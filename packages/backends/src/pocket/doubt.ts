import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { isDeepStrictEqual } from "node:util"
import type { Grammar } from "@toolwright/logits"
import { grammarFor, type ChatMessage } from "@toolwright/toolformat"
import type { LlamaEngine } from "../llama/engine.ts"
import { EVIDENCE, evidenceOf, type Evidence } from "./evidence.ts"
import { pocketGrounding } from "./grounding.ts"
import { lastRequest } from "./prompt.ts"
import { callIn, callText, type PocketCall } from "./call.ts"
import { losesName } from "./plain-change.ts"
import { isOfNothing, type PlainReading } from "./plain-reading.ts"
import { measureReply, secondReading } from "./reading.ts"
import type { OpinionData } from "./second-opinion.ts"
import { sparing } from "./sparing.ts"
import {
  absentPocketTools,
  APPENDING_TOOL,
  POCKET_TOOLS,
  READING_TOOLS,
  DESTROYING_TOOLS,
  EDITING_TOOL,
  PLACING_TOOL,
  WRITING_TOOL,
} from "./tools.ts"

/** What the model may have been asked for, when it is not sure enough to do it. */
export interface PocketQuestion {
  /** How likely the first reading is what was meant, as calibrated on requests that the model never saw. */
  readonly certainty: number
  /**
   * The two best readings that come to something, the best one first; often one, and now and then none. One that writes
   * over a file stands behind the same under a name that is free.
   */
  readonly readings: readonly PocketCall[]
}

/** What is done about a call that the model is not sure of. */
export interface Doubting {
  /**
   * Asks a person which reading is meant.
   *
   * @returns its index; nothing where none is
   */
  choose?(question: PocketQuestion, signal: AbortSignal | undefined): Promise<number | undefined>
  /** What is answered in place of the call where none was chosen. */
  words(question: PocketQuestion): string
  /**
   * Answers a request in place of the model, which would take it for another one.
   *
   * @returns nothing where the model is to read it
   */
  beyond?(request: string): string | undefined
}

/** How evidence becomes a probability, and from which one on a call is made unasked; made by `calibrate.ts`. */
export interface Calibration {
  readonly evidence: readonly string[]
  readonly mean: readonly number[]
  readonly deviation: readonly number[]
  readonly weights: readonly number[]
  readonly bias: number
  /**
   * Calls that are less certain than this are asked about: those that only read, and those that may change something.
   */
  readonly lines: { readonly reading: number; readonly changing: number }
}

/**
 * How likely a call is what was asked for. One that may change something and leaves out what the request names is never
 * certain: half of what was meant is not what was meant.
 */
export function certaintyFor(call: PocketCall, evidence: Evidence, calibration: Calibration): number {
  const certainty = certaintyOf(evidence, calibration)
  const leavesOut = evidence.at(-1)! > 0 && !READING_TOOLS.has(call.name)
  return leavesOut ? Math.min(certainty, 0.5) : certainty
}

/** The line for a call. */
export function lineFor({ name }: PocketCall, { lines }: Calibration): number {
  return READING_TOOLS.has(name) ? lines.reading : lines.changing
}

/** What the doubt of a model file is measured with; it lies beside the file. */
export interface DoubtData {
  readonly calibration: Calibration
  readonly opinion: OpinionData
}

export async function readDoubtData(): Promise<DoubtData> {
  const [calibration, opinion] = await Promise.all(
    ["calibration.json", "second-opinion.json"].map((name) => readJson(name)),
  )
  return { calibration: calibration as Calibration, opinion: opinion as OpinionData }
}

async function readJson(name: string): Promise<unknown> {
  return JSON.parse(await readFile(fileURLToPath(import.meta.resolve(`@toolwright/pocket/${name}`)), "utf8"))
}

/** Evidence as the calibration counts it: small doubts less than they are, many words no more than a few. */
export function scaled(evidence: Evidence): number[] {
  return evidence.map((value) => (value < 0 ? -Math.sqrt(-value) : Math.min(value, 4)))
}

/** How likely a call is what was asked for. */
export function certaintyOf(evidence: Evidence, { mean, deviation, weights, bias }: Calibration): number {
  const doubt = scaled(evidence).reduce(
    (sum, value, index) => sum + (weights[index]! * (value - mean[index]!)) / deviation[index]!,
    bias,
  )
  return 1 / (1 + Math.exp(doubt))
}

/** The grammar of everything that the model knows, held to a conversation: what it could have said otherwise. */
export function pocketGrammar(said: string): Grammar {
  return grammarFor("hermes", KNOWN, { grounding: { text: said, rules: pocketGrounding(said) } })
}

const KNOWN = absentPocketTools(POCKET_TOOLS)

/** A reply that may go on, or a question in its place. */
export type Settled =
  | { readonly reply: string; readonly certainty?: number; readonly question?: undefined }
  | { readonly question: string }

/** A call that was decoded, in its conversation. */
export interface Undecided {
  readonly engine: LlamaEngine
  readonly prompt: string
  readonly reply: string
  readonly messages: readonly ChatMessage[]
  /** What arguments may come from. */
  readonly said: string
  /** What the request comes to by its plain shape, which stands first where the model is in doubt. */
  readonly plain?: PlainReading | undefined
  /** The workspace's absolute path. */
  readonly root?: string | undefined
}

/** Measures a call. One that is not certain enough is put to the person, or answered with a question. */
export async function settle(
  { engine, prompt, reply, messages, said, plain, root }: Undecided,
  { calibration, opinion }: DoubtData,
  doubting: Doubting,
  signal?: AbortSignal,
): Promise<Settled> {
  const call = callIn(reply)
  if (call === undefined) return { reply }
  const certain = withoutDoubt(call, plain)
  if (certain !== undefined) return { reply: callText(certain), certainty: 1 }
  const grammar = pocketGrammar(said)
  const choices = await measureReply(engine, prompt, reply, grammar)
  const { request, steps } = lastRequest(messages)
  const before = steps.flatMap((step) => callIn(step.reply) ?? [])
  const evidence = choices === undefined ? undefined : evidenceOf({ request, call, before, reply, choices }, opinion)
  const certainty = evidence === undefined ? 0 : certaintyFor(call, evidence, checked(calibration))
  const mayGoOn = !isOtherwise(call, plain) && !losesName(request, call)
  if (mayGoOn && certainty >= lineFor(call, calibration)) return { reply, certainty }
  const second = choices === undefined ? undefined : await secondReading(engine, prompt, reply, choices, grammar)
  const replies = likeliest(
    plain?.call,
    second === undefined || isWorse(call, callIn(second)) ? [reply] : [reply, second],
    (reading) => isOfNothing(reading, root) || losesName(request, reading),
  )
  const offered = sparing(
    replies.map((text) => callIn(text)!),
    root,
  )
  const asDecoded = (wanted: PocketCall): string | undefined =>
    replies.find((text) => isDeepStrictEqual(callIn(text), wanted))
  return asked(
    offered.map((each) => asDecoded(each) ?? callText(each)),
    certainty,
    doubting,
    signal,
  )
}

/** What the person says of some readings, or the question where nobody answers. */
async function asked(
  replies: readonly string[],
  certainty: number,
  doubting: Doubting,
  signal: AbortSignal | undefined,
): Promise<Settled> {
  const question = { certainty, readings: replies.map((text) => callIn(text)!) }
  const chosen = replies.length === 0 ? undefined : await doubting.choose?.(question, signal)
  const meant = chosen === undefined ? undefined : replies[chosen]
  return meant === undefined ? { question: doubting.words(question) } : { reply: meant, certainty: 1 }
}

/** Whether the shape of a request says another change than the model, which no certainty makes up for. */
function isOtherwise({ name }: PocketCall, plain: PlainReading | undefined): boolean {
  if (plain?.call.name === APPENDING_TOOL) return name === WRITING_TOOL || DESTROYING_TOOLS.has(name)
  return plain?.call.name === EDITING_TOOL && !READING_TOOLS.has(name)
}

/** What stands in quotes needs no model to be read; and two readings that have nothing to do with each other agree. */
function withoutDoubt(call: PocketCall, plain: PlainReading | undefined): PocketCall | undefined {
  return plain !== undefined && (plain.literal || isDeepStrictEqual(call, plain.call)) ? plain.call : undefined
}

/** The two replies that are asked about: a plain reading first, and none that comes to nothing. */
function likeliest(
  plain: PocketCall | undefined,
  decoded: readonly string[],
  isSenseless: (call: PocketCall) => boolean,
): string[] {
  const others = decoded.filter((text) => {
    const call = callIn(text)!
    if (isIdle(call) || isSenseless(call)) return false
    return plain === undefined || (!isDeepStrictEqual(call, plain) && !isWorse(plain, call))
  })
  return [...(plain === undefined ? [] : [callText(plain)]), ...others].slice(0, 2)
}

/**
 * Whether a second reading would destroy something where the first does not: nobody is to be led to that by a guess.
 */
export function isWorse(first: PocketCall, second: PocketCall | undefined): boolean {
  return second !== undefined && DESTROYING_TOOLS.has(second.name) && !DESTROYING_TOOLS.has(first.name)
}

/** Whether a call would change nothing, or be refused as it is: nobody can have meant it. */
export function isIdle({ name, arguments: args }: PocketCall): boolean {
  if (name === PLACING_TOOL) return (args["before_line"] === undefined) === (args["after_line"] === undefined)
  return args["old_text"] !== undefined && args["old_text"] === args["new_text"]
}

/** @throws Error where the data were made for other evidence */
function checked(calibration: Calibration): Calibration {
  if (calibration.evidence.join() === EVIDENCE.join()) return calibration
  throw new Error("The pocket model's calibration was made for other evidence: run training/pocket/calibrate.ts again.")
}
