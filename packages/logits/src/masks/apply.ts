/** Putting a mask on logits. */

/** The ids that a mask allows, in ascending order. */
export function allowedTokens(mask: Uint32Array): number[] {
  const ids: number[] = []
  for (let word = 0; word < mask.length; word++) {
    for (let bits = mask[word]!; bits !== 0; bits &= bits - 1) ids.push(word * 32 + (31 - Math.clz32(bits & -bits)))
  }
  return ids
}

export const isAllowed = (mask: Uint32Array, token: number): boolean =>
  ((mask[token >>> 5]! >>> (token & 31)) & 1) === 1

/**
 * Sets the logits of all tokens that are not allowed to -Infinity, in place. Logits beyond the mask's end are not
 * allowed either.
 */
export function applyMask(logits: Float32Array, mask: Uint32Array): void {
  const words = Math.min(mask.length, logits.length >>> 5)
  for (let word = 0; word < words; word++) {
    const bits = mask[word]!
    if (bits === 0xffffffff) continue
    const base = word * 32
    if (bits === 0) {
      logits.fill(-Infinity, base, base + 32)
      continue
    }
    for (let forbidden = ~bits; forbidden !== 0; forbidden &= forbidden - 1)
      logits[base + 31 - Math.clz32(forbidden & -forbidden)] = -Infinity
  }
  for (let id = words * 32; id < logits.length; id++)
    if (id >>> 5 >= mask.length || !isAllowed(mask, id)) logits[id] = -Infinity
}
