/** A source of numbers from 0 (included) to 1 (excluded). */
export type Random = () => number

/**
 * A reproducible source: equal seeds give equal numbers on every machine (the generator is mulberry32, 32 bits of
 * state).
 *
 * @param seed a whole number; -1 or nothing for a source that differs each time
 */
export function createRandom(seed = -1): Random {
  let state = seed === -1 ? Math.trunc(Math.random() * 0x1_0000_0000) : seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}
