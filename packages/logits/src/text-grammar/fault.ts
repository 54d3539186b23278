/** Where a text leaves its grammar, in words that whoever wrote it can act on. */
import { ToolwrightError } from "@toolwright/toolbox"
import { followCharacter, startPosition, type Position } from "../gbnf/follow.ts"
import type { Program } from "../gbnf/program.ts"
import type { CodePointRange } from "../grammar/rules.ts"

const MOST_EXPECTED = 8
const LONGEST_EXPECTED = 30
const SHOWN_BEFORE = 40
/**
 * Steps that a text may take to be read: so many however short it is, and so many for each of its characters. Grammars
 * without ambiguity take some ten a character; what takes more holds up everybody else in the process.
 */
const MOST_STEPS = { atAll: 2_000_000, perCharacter: 50 }

/** @throws ToolwrightError `GRAMMAR_TOO_AMBIGUOUS` where the grammar cannot be followed */
export function faultIn(program: Program, text: string): string | undefined {
  let position = startPosition(program)
  let read = 0
  const most = program.counts.steps + MOST_STEPS.atAll + MOST_STEPS.perCharacter * text.length
  for (const character of text) {
    if (program.counts.steps > most) throw tooAmbiguous(read)
    const next = followCharacter(program, position, codeOf(character))
    if (next === undefined) return faultAt(program, position, text, read)
    position = next
    read += character.length
  }
  if (position.done) return undefined
  return (
    `it ends too soon, at ${placeOf(text, text.length)}${after(text, text.length)}; next may come ` +
    `${nextOf(program, position)}.`
  )
}

/** Half a pair alone is what UTF-8 has in its place. */
function codeOf(character: string): number {
  const code = character.codePointAt(0)!
  return code >= 0xd800 && code <= 0xdfff ? 0xfffd : code
}

function tooAmbiguous(read: number): ToolwrightError {
  return new ToolwrightError(
    "GRAMMAR_TOO_AMBIGUOUS",
    `The grammar has too many ways to read the first ${read} characters.`,
    {
      hint: "Make its alternatives differ in how they begin.",
    },
  )
}

function faultAt(program: Program, position: Position, text: string, at: number): string {
  const found = JSON.stringify(text.slice(at, at + 20))
  const place = `it leaves it at ${placeOf(text, at)}${after(text, at)}, with ${found}`
  const next = nextOf(program, position)
  if (next === "") return `${place}; nothing more may come there.`
  return `${place}; there may come ${next}${position.done ? ", or the end" : ""}.`
}

function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split("\n")
  return `line ${lines.length}, column ${Array.from(lines.at(-1)!).length + 1}`
}

function after(text: string, at: number): string {
  if (at === 0) return ""
  const before = text.slice(Math.max(0, at - SHOWN_BEFORE), at)
  return `, after ${JSON.stringify(before)}`
}

/** What may come at a place: texts as far as there is no choice in them, and characters. */
function nextOf(program: Program, { states }: Position): string {
  const words = new Set<string>()
  for (const { step } of states) {
    const word = wordAt(program, step)
    if (word !== undefined) words.add(word)
    if (words.size > MOST_EXPECTED) break
  }
  const list = [...words].slice(0, MOST_EXPECTED)
  const more = words.size > MOST_EXPECTED ? ", or something else" : ""
  return list.length < 2 ? `${list.join("")}${more}` : `${list.slice(0, -1).join(", ")} or ${list.at(-1)}${more}`
}

function wordAt(program: Program, step: number): string | undefined {
  let word = ""
  for (let at = program.steps[step]; at?.op === "characters" && word.length < LONGEST_EXPECTED;) {
    const [only, ...others] = at.ranges
    if (only === undefined || others.length > 0 || only[0] !== only[1]) {
      return word === "" ? classWords(at.ranges) : JSON.stringify(word)
    }
    word += String.fromCodePoint(only[0])
    at = program.steps[at.next]
  }
  return word === "" ? undefined : JSON.stringify(word)
}

const MOST_RANGES = 12

function classWords(ranges: readonly CodePointRange[]): string {
  const covered = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  if (covered > 60_000) {
    const left = ranges.slice(0, -1).map(([, last], index) => rangeWords([last + 1, ranges[index + 1]![0] - 1]))
    const out = left.filter((range) => range !== "")
    return out.length > 0 && out.length <= MOST_RANGES ? `any character but [${out.join("")}]` : "any character"
  }
  const shown = ranges.slice(0, MOST_RANGES).map(rangeWords).join("")
  return `[${shown}${ranges.length > MOST_RANGES ? "…" : ""}]`
}

function rangeWords([first, last]: CodePointRange): string {
  if (first >= 0xd800 && last <= 0xdfff) return ""
  return first === last ? letter(first) : `${letter(first)}-${letter(last)}`
}

function letter(code: number): string {
  return JSON.stringify(String.fromCodePoint(code)).slice(1, -1)
}
