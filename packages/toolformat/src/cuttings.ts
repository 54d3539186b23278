import { ToolwrightError } from "@toolwright/toolbox"

/** Longest piece of a random cutting, in UTF-16 code units. */
const LONGEST = 24

/**
 * Cuts a text the way a stream might: `whole`, `char` by UTF-16 code unit, or `random:<seed>`, which is the same for
 * the same seed.
 *
 * @throws ToolwrightError `INVALID_CUT`
 */
export function cutText(text: string, cut: string): string[] {
  if (cut === "whole") return [text]
  if (cut === "char") return text.split("")
  const seed = /^random:(-?\d+)$/.exec(cut)?.[1]
  if (seed === undefined)
    throw new ToolwrightError("INVALID_CUT", `There is no cutting '${cut}'.`, {
      hint: "Use whole, char, or random:<seed> with a whole number.",
    })
  let state = Number(BigInt.asUintN(32, BigInt(seed)))
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    // a linear congruential generator; its high bits are random enough for this
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const length = 1 + Math.floor((state / 2 ** 32) * LONGEST)
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}
