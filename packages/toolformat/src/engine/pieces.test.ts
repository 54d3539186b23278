import { describe, expect, it } from "vitest"
import { toolOf } from "../fixtures/support.ts"
import { collectReply, formatterById } from "../index.ts"
import { Beginnings } from "./codecs/raw-text.ts"
import { Source, type Scan } from "./source.ts"

/** Most pieces are read without waking the scanner; what becomes of a reply must not show it. */

const TOOLS = [
  toolOf({
    name: "write",
    parameters: { type: "object", properties: { path: { type: "string" }, text: { type: "string" } } },
  }),
]
/** Text full of what could be the beginning of a mark or of an escape. */
const TEXT = String.raw`if (a<b && "c" <<d) { return '\n\t\\' + "\u00e9\/" } // </ <p <tool ]]> \ é` + "\n\n<"

function joined(format: string, pieces: readonly string[]): unknown[] {
  const parser = formatterById(format).createParser({ tools: TOOLS })
  const events = [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()]
  const reply = collectReply(events)
  return [reply, events.map((event) => event.type).filter((type, at, types) => type !== types[at - 1])]
}

describe("a reply full of half marks", () => {
  it.each(["hermes", "qwen3-xml", "minimax-m2", "mistral", "pythonic", "deepseek-v3.1", "glm-4.5", "generic"])(
    "%s: gives the same at every cut",
    (format) => {
      const call = { id: "", name: "write", arguments: { path: "a.ts", text: TEXT } }
      const printed = formatterById(format).printCalls([call], TOOLS)
      const text = `a < b <\n${printed}`
      const whole = joined(format, [text])
      expect((whole[0] as { calls: { arguments: unknown }[] }).calls.map((one) => one.arguments)).toEqual([
        call.arguments,
      ])
      expect(joined(format, text.split(""))).toEqual(whole)
      for (let at = 1; at < text.length; at++)
        expect(joined(format, [text.slice(0, at), text.slice(at)]), `cut at ${at}`).toEqual(whole)
      for (let at = 1; at + 2 < text.length; at++)
        expect(joined(format, [text.slice(0, at), text.slice(at, at + 2), text.slice(at + 2)])).toEqual(whole)
    },
  )

  it("tells of a missing mark before the text after it, wherever that is cut", () => {
    const call = '<minimax:tool_call>\n<invoke name="write">\n<parameter name="path">a</parameter>\n</invoke>\n'
    for (const behind of ["<</parameter>", "<inv", "<invoice>", "< <invoke"]) {
      const text = call + behind
      const whole = joined("minimax-m2", [text])
      for (let at = 1; at < text.length; at++)
        expect(joined("minimax-m2", [text.slice(0, at), text.slice(at)]), `${behind} at ${at}`).toEqual(whole)
    }
  })
})

describe("waiting for more text", () => {
  it("wakes the scanner only for what whoever reads in its place leaves", () => {
    const source = new Source()
    const read: string[] = []
    let woken = 0
    const pass = (): boolean => {
      const end = source.text.indexOf("#", source.at)
      const to = end < 0 ? source.text.length : end
      if (to > source.at) read.push(source.text.slice(source.at, to))
      source.at = to
      return end < 0 || end === source.text.length - 1
    }
    function* scan(): Scan<undefined> {
      for (;;) {
        yield* source.more(pass)
        woken++
        if (source.ended) return
        read.push(source.text.slice(source.at, source.at + 2))
        source.at += 2
      }
    }
    const scanner = scan()
    scanner.next()
    for (const piece of ["ab", "c#", "1d", "e"]) if (source.push(piece)) scanner.next()
    expect(woken).toBe(1)
    expect(source.offset).toBe("abc#1de".length)
    expect(read.join("|")).toBe("ab|c|#1|de")
    source.end()
    scanner.next()
    expect(woken).toBe(2)
  })

  it("keeps what a mark needs, also of a piece that was left for the next one", () => {
    const source = new Source()
    const scanner = source.more(() => {
      source.at = Math.max(source.at, source.text.length - 1)
      return true
    })
    scanner.next()
    source.push("ab<")
    const start = source.mark()
    for (const piece of ["cd<", "e", "f<"]) source.push(piece)
    expect(source.since(start)).toBe("<cd<ef")
    source.rewind(start)
    expect(source.text.slice(source.at)).toBe("<cd<ef<")
  })
})

describe("where marks may begin", () => {
  it("asks for two code units, and for one where white space may stand in the mark", () => {
    const beginnings = new Beginnings(["</a>", "<b", "[ x", "\n</c>"])
    const text = "a < b <p </ [z <"
    const places: number[] = []
    for (let at = beginnings.find(text, 0); at < text.length; at = beginnings.find(text, at + 1)) places.push(at)
    expect(places.map((at) => text.slice(at, at + 2))).toEqual(["</", "[z", "<"])
    expect(beginnings.find("plain", 0)).toBe(5)
    expect(beginnings.needsSecond(60)).toBe(true)
    expect(beginnings.needsSecond(91)).toBe(false)
  })
})
