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

/** The place after a character. @param from where no character is cut */
export function followCharacter(program: Program, from: Position, code: number): Position | undefined {
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
  return new Closing(program, seeds).run()
}

/** One run: what is still open, and the frames that this run made and left. */
class Closing {
  readonly #program: Program
  readonly #now: number
  readonly #open: State[]
  readonly #made = new Map<number, Frame>()
  readonly #left = new Set<Frame>()
  readonly #states: State[] = []
  #done = false
  #work = 0

  constructor(program: Program, seeds: readonly State[]) {
    this.#program = program
    this.#now = program.counts.positions++
    this.#open = [...seeds]
  }

  run(): Position {
    const seen = new Map<number, Set<number>>()
    for (let state = this.#open.pop(); state !== undefined; state = this.#open.pop()) {
      const { step, frame } = state
      let at = seen.get(step)
      if (at === undefined) seen.set(step, (at = new Set()))
      if (at.has(frame.id)) continue
      at.add(frame.id)
      this.#spend()
      if (step === RETURN) this.#leave(frame)
      else this.#take(state)
    }
    return { states: this.#states, done: this.#done }
  }

  #leave(frame: Frame): void {
    if (frame.below.size === 0) this.#done = true
    this.#left.add(frame)
    for (const below of frame.below) this.#goOn(frame, below)
  }

  #take(state: State): void {
    const { step, frame } = state
    const todo = this.#program.steps[step]!
    if (todo.op === "characters" || todo.op === "token") this.#states.push(state)
    else if (todo.op === "split") for (const next of todo.next) this.#push(next, frame)
    else if (todo.op === "repeat") this.#round(step, 0, frame)
    else {
      const entry = this.#program.entries[todo.rule]!
      // A rule called last returns straight to where its caller would.
      this.#push(entry, todo.next === RETURN ? frame : this.#frameFor(todo.next, CALL, frame))
    }
  }

  #spend(): void {
    this.#program.counts.steps++
    if (++this.#work <= MAX_WORK) return
    throw new ToolwrightError(
      "GRAMMAR_TOO_AMBIGUOUS",
      `The grammar takes more than ${MAX_WORK} steps at one character.`,
      {
        hint: "Make its alternatives differ in how they begin.",
      },
    )
  }

  #push(step: number, frame: Frame): void {
    this.#open.push({ step, frame })
  }

  /** A frame on top of `below`, shared with every other stack that needs the same one here. */
  #frameFor(step: number, count: number, below: Frame): Frame {
    const key = (count + 1) * this.#program.steps.length + step
    const known = this.#made.get(key)
    if (known === undefined) {
      const frame: Frame = { id: this.#program.counts.frames++, step, count, born: this.#now, below: new Set([below]) }
      this.#made.set(key, frame)
      return frame
    }
    if (!known.below.has(below)) {
      known.below.add(below)
      if (this.#left.has(known)) this.#goOn(known, below)
    }
    return known
  }

  #goOn(frame: Frame, below: Frame): void {
    this.#spend()
    if (frame.count === CALL) this.#push(frame.step, below)
    // A round that took nothing is no round: it would only repeat for ever.
    else if (frame.born !== this.#now) this.#round(frame.step, frame.count, below)
  }

  #round(step: number, count: number, frame: Frame): void {
    const repeat = this.#program.steps[step]!
    if (repeat.op !== "repeat") return
    if (count >= repeat.min) this.#push(repeat.next, frame)
    if (count >= repeat.max) return
    const reached = repeat.max === Number.POSITIVE_INFINITY ? Math.min(count + 1, repeat.min) : count + 1
    this.#push(repeat.body, this.#frameFor(step, reached, frame))
  }
}
