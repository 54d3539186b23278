import * as fc from "fast-check"
import { expect, test } from "vitest"
import { createSseReader } from "./sse.ts"

function read(pieces: string[]): string[] {
  const reader = createSseReader()
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]
}

test.each<[string, string, string[]]>([
  ["the data of each event", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["several lines as one", "data: a\ndata: b\n\n", ["a\nb"]],
  ["any line end", "data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]],
  ["no comments, other fields, empty events", ": hi\nevent: x\nid: 1\n\n\ndata:c\n\n", ["c"]],
  ["only one space off", "data:  a\n\n", [" a"]],
  ["a last event without its empty line", "data: a\n\ndata: b", ["a", "b"]],
  ["no byte order mark", "\uFEFFdata: a\n\n", ["a"]],
  ["a field without a colon", "data\n\n", [""]],
])("gives %s", (_, text, expected) => {
  expect(read([text])).toEqual(expected)
})

test("takes a CR LF that is cut in two for one line end", () => {
  expect(read(["data: a\r", "\ndata: b\n\n"])).toEqual(["a\nb"])
  expect(read(["data: a\r", "data: b\r\r"])).toEqual(["a\nb"])
})

test("is the same for every cut", () => {
  const part = fc.constantFrom("data: ", "x", "\n", "\r", "\r\n", ": c", "data:", " ", "event: y", "\n\n")
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 30 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 9 }),
      (parts, sizes) => {
        const text = parts.join("")
        const pieces: string[] = []
        for (let at = 0, turn = 0; at < text.length; turn++) {
          const size = sizes[turn % sizes.length]!
          pieces.push(text.slice(at, at + size))
          at += size
        }
        expect(read(pieces)).toEqual(read([text]))
      },
    ),
    { numRuns: 1000 },
  )
})
