import fc from "fast-check"
import { expect, test } from "vitest"
import { createWordFinder, type WordGroup } from "./word-finder.ts"

/** What it has to find, told the slow way. */
function foundIn(text: string, groups: readonly WordGroup[]): number[] {
  const isIn = (word: string, anyCase: boolean): boolean =>
    anyCase ? lower(text).includes(lower(word)) : text.includes(word)
  return groups.flatMap(({ words, anyCase }, at) => (words.some((word) => isIn(word, anyCase)) ? [at] : []))
}

/** Plain letters alone: others become plain ones (`K` of Kelvin) or several. */
const lower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

const word = fc.string({ unit: fc.constantFrom("a", "b", "A", "_"), minLength: 1, maxLength: 5 })
const group = fc.record({ words: fc.array(word, { minLength: 1, maxLength: 4 }), anyCase: fc.boolean() })
const text = fc.string({ unit: fc.constantFrom("a", "b", "A", "B", "_", "é", "\u212a", "\u0161", "😀"), maxLength: 30 })

test("finds the groups that have a word in a text, whatever the words share", () => {
  fc.assert(
    fc.property(fc.array(group, { maxLength: 4 }), fc.array(text, { minLength: 1, maxLength: 4 }), (groups, texts) => {
      // One finder for several texts: what it worked out for one holds for the next.
      const finder = createWordFinder(groups)
      for (const each of texts) expect([each, [...(finder(each) ?? [])].sort()]).toEqual([each, foundIn(each, groups)])
    }),
  )
})

test("finds a word across the pieces that it reads a text in", () => {
  const finder = createWordFinder([{ words: ["secret"], anyCase: false }])
  for (let at = 16 * 1024 - 7; at <= 16 * 1024 + 1; at++) {
    expect([at, finder(`${"x".repeat(at)}secret`)]).toEqual([at, new Set([0])])
    expect([at, finder(`${"x".repeat(at)}secre`)]).toEqual([at, undefined])
  }
})

test("reads the long s and the sign of the kelvin as letters where case does not matter, as expressions do", () => {
  const groups = [
    { words: ["secret-token"], anyCase: true },
    { words: ["secret-token"], anyCase: false },
  ]
  const finder = createWordFinder(groups)
  for (const text of ["secret-to\u212Aen", "\u017Fecret-token", "\u017FECRET-TO\u212AEN"]) {
    expect(text).toMatch(/secret-token/iu)
    expect([text, finder(`a ${text}`)]).toEqual([text, new Set([0])])
  }
  // They share a byte with what these are.
  for (const text of ["secret-to*en", "\u007Fecret-token"]) expect([text, finder(text)]).toEqual([text, undefined])
  expect(finder("*secret-token\u007F")).toEqual(new Set([0, 1]))
})
