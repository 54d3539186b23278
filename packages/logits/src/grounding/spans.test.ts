import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { compilePattern } from "../automaton/regex.ts"
import { stepGraph, type TextGraph } from "../lexeme/text-graph.ts"
import { matchesDfa } from "../automaton/dfa.ts"
import { conversationOf, type TextLimits } from "./conversation.ts"
import { MAX_GROUNDING_TEXT } from "./model.ts"
import { pathsOf, spansOf, TRICKY, wholeNumbersOf } from "../fixtures/grounding-oracle.ts"

/** Whether a text is in the language. */
function graphHas(graph: TextGraph, text: string): boolean {
  let state = graph.start
  for (const character of text) {
    state = stepGraph(graph, state, character.codePointAt(0)!)
    if (state < 0) return false
  }
  return graph.accept[state] === 1
}

const tricky = fc.array(fc.constantFrom(...TRICKY), { maxLength: 16 }).map((letters) => letters.join(""))
const repetitive = fc
  .tuple(fc.array(fc.constantFrom("ab ", "a ", "b/a ", "ab", "a(b", "b. "), { maxLength: 8 }), fc.nat({ max: 3 }))
  .map(([parts, times]) =>
    parts
      .join("")
      .repeat(times + 1)
      .slice(0, 40),
  )
const texts = fc.oneof(tricky, repetitive)

/** All texts of a graph. */
function listed(graph: TextGraph | undefined | null): Set<string> {
  const found = new Set<string>()
  const visit = (state: number, text: string): void => {
    if (graph!.accept[state] === 1) found.add(text)
    for (let edge = graph!.first[state]!; edge < graph!.first[state + 1]!; edge++)
      visit(graph!.targets[edge]!, text + String.fromCodePoint(graph!.codes[edge]!))
  }
  if (graph !== undefined && graph !== null) visit(graph.start, "")
  return found
}

const limits = (some: Partial<TextLimits>): TextLimits => ({ language: undefined, least: 0, most: Infinity, ...some })

/** Of texts without end a sample; more of them by `npm run test:whole`. */
const WHOLE = process.env.TOOLWRIGHT_WHOLE !== undefined

describe("what a conversation has", () => {
  it("spans: all of them and nothing else", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(listed(conversationOf(text).graph("span"))).toEqual(spansOf(text))
      }),
      { numRuns: WHOLE ? 1500 : 500 },
    )
  })

  it("paths: all of them, two joined, and nothing else", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(listed(conversationOf(text).graph("path"))).toEqual(pathsOf(text))
      }),
      { numRuns: WHOLE ? 1000 : 400 },
    )
  })

  it("whole numbers", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(new Set(conversationOf(text).numbers)).toEqual(wholeNumbersOf(text))
      }),
      { numRuns: WHOLE ? 500 : 200 },
    )
    expect(conversationOf("lines 10-20 of a3.txt, at -4 or 007, not 12345678901234567, x=-1").numbers).toEqual([
      "10",
      "20",
      "3",
      "4",
      "-4",
      "7",
      "1",
      "-1",
    ])
  })

  it("what a pattern or a length leaves of them", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom("a", "^[^ ]*$", "b$", "你|/"), fc.nat({ max: 6 }), (text, source, least) => {
        const language = compilePattern(source)
        const fits = (one: string): boolean => matchesDfa(language, one) && Array.from(one).length >= least
        expect(listed(conversationOf(text).graph("span", limits({ language, least })))).toEqual(
          new Set([...spansOf(text)].filter(fits)),
        )
        expect(listed(conversationOf(text).graph("path", limits({ language, least })))).toEqual(
          new Set([...pathsOf(text)].filter(fits)),
        )
      }),
      { numRuns: WHOLE ? 400 : 150 },
    )
  })

  it("under a maximum length: no longer ones, and all of up to three quarters of it", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, most) => {
        const all = [...spansOf(text)]
        const found = listed(conversationOf(text).graph("span", limits({ most })))
        for (const one of found) expect(all).toContain(one)
        const length = (one: string): number => Array.from(one).length
        expect([...found].filter((one) => length(one) > most)).toEqual([])
        expect(
          all.filter(
            (one) => length(one) <= (text.length <= most ? most : most - Math.ceil(most / 4)) && !found.has(one),
          ),
        ).toEqual([])
        expect(listed(conversationOf(text).graph("path", limits({ most })))).toEqual(
          new Set([...pathsOf(text)].filter((one) => length(one) <= most)),
        )
      }),
      { numRuns: WHOLE ? 600 : 200 },
    )
  })

  it("stays small: at most two states for a character, however often the text repeats itself", () => {
    for (const text of [
      "a ".repeat(2000),
      "ab/c d.e ".repeat(400),
      "x".repeat(3000),
      Array.from({ length: 900 }, (_, index) => `w${index % 7}`).join(" "),
    ]) {
      expect(conversationOf(text).graph("span")!.size).toBeLessThanOrEqual(2 * text.length)
    }
  })

  it("joins no paths where that would take too much: a second one may be at thousands of places at once", () => {
    const many = Array.from({ length: 4000 }, (_, index) => String.fromCodePoint(0x100 + index)).join("/")
    for (const text of ["a/".repeat(4000), "node_modules/".repeat(600), "a\u200bb/".repeat(2000), many]) {
      const graph = conversationOf(text).graph("path")!
      expect(graph.codes.length).toBeLessThanOrEqual(2 * text.length)
      expect(graphHas(graph, text.slice(0, 40).split("/")[0]!)).toBe(true)
    }
    expect(graphHas(conversationOf("a/".repeat(20) + " b.txt").graph("path")!, "a/a/b.txt")).toBe(true)
  })

  it("counts the lengths of paths one by one where those of two that are joined would be too many", () => {
    const words = [
      "agents",
      "runtime",
      "store",
      "model",
      "grammar",
      "masks",
      "paths",
      "index",
      "parse",
      "render",
      "types",
      "limits",
    ]
    const names = Array.from({ length: 250 }, (_, n) =>
      [5, 7, 11, 3].map((step) => `${words[(n * step + (n >> 3)) % 12]}${(n * step) % 17}`).join("/"),
    )
    const graph = conversationOf(names.join(" ")).graph("path", limits({ least: 3, most: 40 }))!
    expect(graph.size).toBeLessThanOrEqual(20_000)
    const last = names.at(-1)!
    const two = last.split("/").slice(0, 2).join("/")
    expect([graphHas(graph, last), graphHas(graph, two), graphHas(graph, `${two}/${two}`)]).toEqual([true, true, false])
  })

  it("takes the newest of a very long text, from a word's border on", () => {
    const text = `oldest ${"longword ".repeat(25_000)}src/newest.ts`
    const conversation = conversationOf(text)
    const graph = conversation.graph("span")!
    expect(graph.size).toBeLessThanOrEqual(2 * MAX_GROUNDING_TEXT)
    expect([
      graphHas(graph, "src/newest.ts"),
      graphHas(graph, "longword src/newest.ts"),
      graphHas(graph, "oldest"),
      graphHas(graph, "word"),
    ]).toEqual([true, true, false, false])
    expect(conversationOf("x".repeat(200_000)).graph("span")!.size).toBe(MAX_GROUNDING_TEXT + 1)
  })

  it("says of an empty text that there is nothing", () => {
    for (const text of ["", " \n\t", "\0", "\ud800"]) {
      const conversation = conversationOf(text)
      expect([
        conversation.graph("span"),
        conversation.graph("path"),
        conversation.graph("number"),
        conversation.numbers,
      ]).toEqual([undefined, undefined, undefined, []])
    }
  })
})
