import { ABOUT, type ChatMessage } from "@toolwright/toolformat"
import type { ContextStrategy } from "./manager.ts"
import { standingFailures } from "./summary.ts"

/**
 * Blocks of a conversation that are sent whole: which rounds, by their places, and how many of the turns before the
 * task.
 */
export interface Selection {
  rounds: ReadonlySet<number>
  before: number
}

/** What there is to select from. */
export interface Selectable {
  before: readonly ChatMessage[][]
  rounds: readonly ChatMessage[][]
  /** Rounds at the end that are kept. */
  keepRounds: number | undefined
  /** Tokens that there are for blocks and for what is said of the others. */
  room: number
  sizeOf(messages: readonly ChatMessage[]): number
}

const USUAL_ROUNDS = 3
/** Shares of the room that blocks may take, from the largest: what is said of the others needs the rest. */
const SHARES = [0.85, 0.65, 0.45, 0.25] as const

/** The selections of a strategy, the best first: the first that fits is taken. */
export const SELECTIONS: Readonly<Record<ContextStrategy, (from: Selectable) => Generator<Selection>>> = {
  *summary({ before, rounds, keepRounds = USUAL_ROUNDS }) {
    const blocks = before.length + rounds.length
    for (let kept = Math.min(keepRounds, blocks); kept > 0; kept--) yield lastOf(rounds.length, before.length, kept)
  },
  *last(from) {
    const { before, rounds, keepRounds = Infinity, room, sizeOf } = from
    for (const share of SHARES) {
      let left = room * share
      let kept = 0
      while (kept < Math.min(rounds.length, keepRounds)) {
        left -= sizeOf(rounds.at(-1 - kept)!)
        if (left < 0) break
        kept++
      }
      if (kept > 0) yield lastOf(rounds.length, 0, kept)
      else if (rounds.length === 0) yield lastOf(0, before.length, newestThatFit(from, left))
    }
  },
  *priority(from) {
    const { rounds, keepRounds = USUAL_ROUNDS, room, sizeOf } = from
    const newest = rounds.length - Math.min(keepRounds, rounds.length)
    const standing = standingFailures(rounds.flat())
    const ranked = rounds
      .map((round, at) => ({ at, rank: at >= newest ? Infinity : rankOf(round, standing), size: sizeOf(round) }))
      .toSorted((a, b) => (a.rank === b.rank ? b.at - a.at : b.rank - a.rank))
    for (const share of SHARES) {
      let left = room * share
      const kept = new Set<number>()
      for (const { at, size } of ranked) {
        if (size > left) continue
        left -= size
        kept.add(at)
      }
      if (kept.size > 0) yield { rounds: kept, before: 0 }
      else if (rounds.length === 0) yield { rounds: kept, before: newestThatFit(from, left) }
    }
  },
}

/** The last so many blocks: rounds first, then turns before the task. */
export function lastOf(rounds: number, before: number, kept: number): Selection {
  const ofRounds = Math.min(kept, rounds)
  return {
    rounds: new Set(Array.from({ length: ofRounds }, (_, at) => rounds - 1 - at)),
    before: Math.min(kept - ofRounds, before),
  }
}

function newestThatFit({ before, sizeOf }: Selectable, room: number): number {
  let kept = 0
  for (let left = room; kept < before.length; kept++) {
    left -= sizeOf(before.at(-1 - kept)!)
    if (left < 0) break
  }
  return kept
}

/** What fails still is worth most, then what changed something, then what was said beside calls. */
function rankOf(round: readonly ChatMessage[], standing: ReadonlySet<string>): number {
  if (round.some((message) => message.role === "tool" && standing.has(message.callId))) return 3
  if (round.some(hasChanged)) return 2
  return round.some(({ role, content }) => role === "assistant" && content.trim() !== "") ? 1 : 0
}

function hasChanged(message: ChatMessage): boolean {
  if (message.role !== "tool") return false
  const about = message[ABOUT]
  return about?.kind === "results" && about.results.some(({ result }) => result.modifiedFiles.length > 0)
}
