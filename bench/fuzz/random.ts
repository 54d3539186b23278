/** Random choices that come out the same for the same seed, so that a number is enough to see an input again. */
export interface Random {
  /** From 0 up to and without 1. */
  next(): number
  /** A whole number from 0 up to and without the limit. */
  below(limit: number): number
  /** Whether something of this probability happens. */
  chance(probability: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

export function createRandom(seed: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x2545f491) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)]!,
  }
}

/** A text out of pieces that mean something to what reads it, and of characters that mean nothing. */
export function randomText(random: Random, pieces: readonly string[], most: number): string {
  let text = ""
  for (let left = random.below(most + 1); left > 0; left--) {
    text += random.chance(0.85) ? random.pick(pieces) : String.fromCharCode(random.pick(ODD_CHARACTERS))
  }
  return text
}

const ODD_CHARACTERS = [
  0, 9, 10, 13, 34, 39, 60, 92, 96, 123, 125, 127, 160, 223, 0x2028, 0x4e2d, 0xd83d, 0xdc00, 0xfeff, 0xffff,
]

/** A text with a stretch taken out, doubled, or replaced by another. */
export function mutateText(random: Random, text: string, pieces: readonly string[]): string {
  let result = text
  for (let left = 1 + random.below(4); left > 0; left--) {
    const from = random.below(result.length + 1)
    const to = Math.min(result.length, from + random.below(random.chance(0.8) ? 8 : result.length + 1))
    const middle = random.pick(["", result.slice(from, to).repeat(2), randomText(random, pieces, 3)])
    result = result.slice(0, from) + middle + result.slice(to)
  }
  return random.chance(0.15) ? result.slice(0, random.below(result.length + 1)) : result
}

/** The text in pieces, cut wherever. */
export function cutAnywhere(random: Random, text: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    const length = 1 + Math.floor(random.next() ** 2 * 40)
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}
