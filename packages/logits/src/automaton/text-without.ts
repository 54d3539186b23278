/** The texts in which none of some markers stands. */
import { memory } from "@toolwright/toolbox"
import { type Dfa, finishDfa } from "./dfa.ts"
import { markerAutomaton } from "./markers.ts"

const known = memory.latest<Dfa>(100)

/** Texts in which no marker stands. The same one each time, so that what is made of it is kept with it. */
export function textWithout(markers: readonly string[]): Dfa {
  return known.get(JSON.stringify(markers), () => make(markers))
}

function make(markers: readonly string[]): Dfa {
  const automaton = markerAutomaton(markers)
  const letters = [
    ...new Set(markers.flatMap((marker) => Array.from(marker, (character) => character.codePointAt(0)!))),
  ].toSorted((a, b) => a - b)
  const cuts = [...new Set([0, ...letters.flatMap((code) => [code, code + 1])])]
    .toSorted((a, b) => a - b)
    .filter((cut) => cut <= 0x10ffff)
  const classes = letters.length + 1
  const table: number[] = []
  const states = new Set<number>([automaton.start])
  for (const state of states) for (const code of letters) states.add(automaton.step(state, code))
  const numbers = new Map([...states].map((state, index) => [state, index]))
  for (const state of states) {
    const to = (next: number): number => (automaton.complete(next) ? -1 : numbers.get(next)!)
    table.push(to(automaton.start), ...letters.map((code) => to(automaton.step(state, code))))
  }
  const accept = [...states].map((state) => !automaton.complete(state))
  return finishDfa({ start: 0, cuts, classOf: cuts.map((cut) => letters.indexOf(cut) + 1), classes, table, accept })
}
