/** Follows a text through a grammar, byte by byte. */
import { memory } from "@toolwright/toolbox"
import type { Grammar } from "../grammar/rules.ts"
import { createMachine, type Machine, type State } from "./machine.ts"

export interface Matcher {
  /**
   * Reads on. Where a byte is not allowed, nothing of the whole piece is read.
   *
   * @returns whether all of it was allowed
   */
  accept(bytes: Uint8Array | string): boolean
  /** Whether the piece would be accepted; reads nothing. */
  accepts(bytes: Uint8Array | string): boolean
  /** Whether the text so far is a whole one. */
  isComplete(): boolean
  /** Whether it is whole and nothing more may follow. */
  isFinished(): boolean
  /**
   * The bytes that must follow whatever else happens: up to the first at which there is a choice, or at which the text
   * may end.
   */
  forced(limit?: number): Uint8Array
  /**
   * Takes back the last pieces that were accepted, one after the other. @throws RangeError where there are not so many
   */
  rollback(pieces?: number): void
  /** A matcher at the same place that goes its own way. Costs next to nothing. */
  clone(): Matcher
  /** Back to the beginning. */
  reset(): void
  /**
   * Where it is. States of one grammar are equal exactly where they are the same object, apart from a cache's limits.
   */
  readonly state: State
  readonly machine: Machine
}

const encoder = new TextEncoder()

/** The automaton of a grammar, made once. @throws ToolwrightError `INVALID_GRAMMAR` */
export const machineOf: (grammar: Grammar) => Machine = memory.derived(createMachine)

/** @throws ToolwrightError `INVALID_GRAMMAR` where the grammar cannot be run */
export function createMatcher(grammar: Grammar): Matcher {
  return matcherAt(machineOf(grammar), undefined)
}

/** A way back: the state before each piece. A list that clones share. */
interface Past {
  readonly state: State
  readonly before: Past | undefined
}

function matcherAt(machine: Machine, past: Past | undefined, initial: State = machine.start): Matcher {
  let state = initial
  let history = past

  function follow(bytes: Uint8Array): State | null {
    let at: State | null = state
    for (let index = 0; index < bytes.length && at !== null; index++) at = machine.step(at, bytes[index]!)
    return at
  }
  const toBytes = (piece: Uint8Array | string): Uint8Array =>
    typeof piece === "string" ? encoder.encode(piece) : piece

  return {
    machine,
    get state() {
      return state
    },
    accept(piece) {
      const next = follow(toBytes(piece))
      if (next === null) return false
      history = { state, before: history }
      state = next
      return true
    },
    accepts: (piece) => follow(toBytes(piece)) !== null,
    isComplete: () => state.complete,
    isFinished: () => state.complete && machine.bytes(state).length === 0,
    forced(limit = 4096) {
      const bytes: number[] = []
      for (let at = state; bytes.length < limit && !at.complete;) {
        const next = machine.bytes(at)
        if (next.length !== 1) break
        bytes.push(next[0]!)
        at = machine.step(at, next[0]!)!
      }
      return Uint8Array.from(bytes)
    },
    rollback(pieces = 1) {
      for (let count = 0; count < pieces; count++) {
        if (history === undefined) throw new RangeError(`there are no ${pieces} pieces to take back`)
        state = history.state
        history = history.before
      }
    },
    clone: () => matcherAt(machine, history, state),
    reset() {
      state = machine.start
      history = undefined
    },
  }
}
