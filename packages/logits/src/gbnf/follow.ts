import { ToolwrightError } from "@toolwright/toolbox"
import { RETURN, type Program } from "./program.ts"
import type { CodePointRange } from "../grammar/rules.ts"

/** The most steps one character may cost; beyond it a grammar is too ambiguous to follow. */
const MAX_WORK = 50_000
/** `count` of a frame that a rule call left; repetitions count from 0. */
const CALL = -1

/**
 * What is to be done after a rule, or after a round of a repetition. Frames are shared between stacks, so that all
 * stacks together form a graph; a frame gets new ones `below` only while the position that made it is being made.
 */
interface Frame {
  readonly id: number
  /** Where the program goes on, or the repetition that this is a round of. */
  readonly step: number
  readonly count: number
  /** Number of the position at which this frame came up. */
  readonly born: number
  readonly below: Set<Frame>
}

/** A terminal of the program, on a stack. */
interface State {
  readonly step: number
  readonly frame: Frame
}

/** A place in the text with everything that is needed to go on from it. Never changes once made. */
export interface Position {
  readonly states: readonly State[]
  /** Whether a whole match may end here. */
  readonly done: boolean
  /** Bits of a character of which bytes are still missing. */
  readonly partial?: { readonly value: number; readonly missing: number; readonly length: number }
}

/** The place before the first character. */
export function startPosition(program: Program): Position {
  const { counts } = program
  const bottom: Frame = { id: counts.frames++, step: RETURN, count: CALL, born: counts.positions++, below: new Set() }
  return close(program, [{ step: program.entries[program.root]!, frame: bottom }])
}

/** The place after these bytes, or nothing if the grammar, or UTF-8, does not allow them here. */
export function followBytes(program: Program, from: Position, bytes: Uint8Array): Position | undefined {
  let position = from
  for (const byte of bytes) {
    const next = followByte(program, position, byte)
    if (next === undefined) return undefined
    position = next
  }
  return position
}

/**
 * The place after a token of the vocabulary, taken as a whole where the grammar names tokens, and as bytes elsewhere.
 */
export function followToken(
  program: Program,
  from: Position,
  id: number,
  bytes: Uint8Array | undefined,
): Position | undefined {
  const asBytes = bytes === undefined || bytes.length === 0 ? undefined : followBytes(program, from, bytes)
  if (!program.hasTokens || from.partial !== undefined) return asBytes
  const seeds: State[] = []
  for (const { step, frame } of from.states) {
    const at = program.steps[step]!
    if (at.op === "token" && (at.id === id) !== at.negated) seeds.push({ step: at.next, frame })
  }
  if (seeds.length === 0) return asBytes
  const asToken = close(program, seeds)
  if (asBytes === undefined) return asToken
  if (asBytes.partial !== undefined) {
    throw new ToolwrightError(
      "GRAMMAR_TOO_AMBIGUOUS",
      `Token ${id} matches as a token and as the first bytes of a character.`,
    )
  }
  return { states: [...asToken.states, ...asBytes.states], done: asToken.done || asBytes.done }
}

function followByte(program: Program, from: Position, byte: number): Position | undefined {
  let value: number
  let missing: number
  let length: number
  if (from.partial === undefined) {
    if (byte < 0x80) return followCharacter(program, from, byte)
    if (byte < 0xc2 || byte > 0xf4) return undefined
    length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    missing = length - 1
    value = byte & (0x7f >> length)
  } else {
    if (byte >> 6 !== 2) return undefined
    ;({ length } = from.partial)
    missing = from.partial.missing - 1
    value = (from.partial.value << 6) | (byte & 0x3f)
  }
  if (missing === 0) return followCharacter(program, from, value)
  const shift = 6 * missing
  const lowest = Math.max(value << shift, length === 2 ? 0x80 : length === 3 ? 0x800 : 0x1_0000)
  const highest = Math.min((value << shift) | ((1 << shift) - 1), 0x10_ffff)
  const possible = from.states.some(({ step }) => {
    const at = program.steps[step]!
    return (
      at.op === "characters" && at.ranges.some(([first, last]) => Math.max(first, lowest) <= Math.min(last, highest))
    )
  })
  return possible ? { states: from.states, done: false, partial: { value, missing, length } } : undefined
}

function followCharacter(program: Program, from: Position, code: number): Position | undefined {
  const seeds: State[] = []
  for (const { step, frame } of from.states) {
    const at = program.steps[step]!
    if (at.op === "characters" && includes(at.ranges, code)) seeds.push({ step: at.next, frame })
  }
  return seeds.length === 0 ? undefined : close(program, seeds)
}

function includes(ranges: readonly CodePointRange[], code: number): boolean {
  for (const [first, last] of ranges) if (code <= last) return code >= first
  return false
}

/** Runs the program from `seeds` up to the next terminals. */
function close(program: Program, seeds: readonly State[]): Position {
  const now = program.counts.positions++
  const open: State[] = [...seeds]
  const seen = new Map<number, Set<number>>()
  const made = new Map<string, Frame>()
  const left = new Set<Frame>()
  const states: State[] = []
  let done = false
  let work = 0

  const spend = (): void => {
    program.counts.steps++
    if (++work <= MAX_WORK) return
    throw new ToolwrightError(
      "GRAMMAR_TOO_AMBIGUOUS",
      `The grammar takes more than ${MAX_WORK} steps at one character.`,
      {
        hint: "Make its alternatives differ in how they begin.",
      },
    )
  }
  const push = (step: number, frame: Frame): void => void open.push({ step, frame })

  /** A frame on top of `below`, shared with every other stack that needs the same one here. */
  const frameFor = (step: number, count: number, below: Frame): Frame => {
    const key = `${step}:${count}`
    const known = made.get(key)
    if (known === undefined) {
      const frame: Frame = { id: program.counts.frames++, step, count, born: now, below: new Set([below]) }
      made.set(key, frame)
      return frame
    }
    if (!known.below.has(below)) {
      known.below.add(below)
      if (left.has(known)) goOn(known, below)
    }
    return known
  }

  const goOn = (frame: Frame, below: Frame): void => {
    spend()
    if (frame.count === CALL) push(frame.step, below)
    // A round that took nothing is no round: it would only repeat for ever.
    else if (frame.born !== now) round(frame.step, frame.count, below)
  }

  const round = (step: number, count: number, frame: Frame): void => {
    const repeat = program.steps[step]!
    if (repeat.op !== "repeat") return
    if (count >= repeat.min) push(repeat.next, frame)
    if (count >= repeat.max) return
    const reached = repeat.max === Number.POSITIVE_INFINITY ? Math.min(count + 1, repeat.min) : count + 1
    push(repeat.body, frameFor(step, reached, frame))
  }

  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const { step, frame } = state
    let at = seen.get(step)
    if (at === undefined) seen.set(step, (at = new Set()))
    if (at.has(frame.id)) continue
    at.add(frame.id)
    spend()
    if (step === RETURN) {
      if (frame.below.size === 0) done = true
      left.add(frame)
      for (const below of frame.below) goOn(frame, below)
      continue
    }
    const todo = program.steps[step]!
    if (todo.op === "characters" || todo.op === "token") states.push(state)
    else if (todo.op === "split") for (const next of todo.next) push(next, frame)
    else if (todo.op === "repeat") round(step, 0, frame)
    else {
      const entry = program.entries[todo.rule]!
      // A rule called last returns straight to where its caller would.
      push(entry, todo.next === RETURN ? frame : frameFor(todo.next, CALL, frame))
    }
  }
  return { states, done }
}
