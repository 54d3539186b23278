/** The named character classes of ECMA-262. */
import { memory } from "@toolwright/toolbox"
import { type CodePointRange, invertRanges, MAX_CODE_POINT } from "./ranges.ts"

const DIGIT: CodePointRange[] = [[0x30, 0x39]]
const WORD: CodePointRange[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
const SPACE: CodePointRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]

/** The ranges of `\d`, `\n`, …, or undefined where the letter names no class of its own. */
export function classEscape(letter: string): CodePointRange[] | undefined {
  switch (letter) {
    case "d":
      return DIGIT
    case "D":
      return invertRanges(DIGIT)
    case "w":
      return WORD
    case "W":
      return invertRanges(WORD)
    case "s":
      return SPACE
    case "S":
      return invertRanges(SPACE)
    case "t":
      return [[9, 9]]
    case "n":
      return [[10, 10]]
    case "v":
      return [[11, 11]]
    case "f":
      return [[12, 12]]
    case "r":
      return [[13, 13]]
    case "0":
      return [[0, 0]]
    default:
      return undefined
  }
}

/** More than the properties that there are. */
const properties = memory.latest<readonly CodePointRange[] | undefined>(2000)

/** The code points of `\p{name}`, asked from the engine's own tables; undefined where it knows no such property. */
export function propertyRanges(name: string): readonly CodePointRange[] | undefined {
  return /^[A-Za-z0-9_=]+$/.test(name) ? properties.get(name, () => askedRanges(name)) : undefined
}

function askedRanges(name: string): readonly CodePointRange[] | undefined {
  let test: RegExp
  try {
    test = new RegExp(`\\p{${name}}`, "u")
  } catch {
    return undefined
  }
  const ranges: CodePointRange[] = []
  let first = -1
  for (let code = 0; code <= MAX_CODE_POINT + 1; code++) {
    const inside = code <= MAX_CODE_POINT && test.test(String.fromCodePoint(code))
    if (inside && first < 0) first = code
    if (!inside && first >= 0) {
      ranges.push([first, code - 1])
      first = -1
    }
  }
  return ranges
}
