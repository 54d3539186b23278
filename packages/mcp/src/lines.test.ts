import { expect, test } from "vitest"
import { Lines } from "./lines.ts"

function reading(longest: number) {
  const heard: string[] = []
  const lines = new Lines(longest, {
    line: (line) => heard.push(line.toString()),
    tooLong: (begin, end) => heard.push(`${begin.slice(0, 2)}…${end.slice(-2)}`),
  })
  return { lines, heard, take: (text: string) => lines.take(Buffer.from(text)) }
}

test("lines come whole, whatever pieces they come in", () => {
  const { take, heard, lines } = reading(100)
  for (const piece of ["a", "b\nc\n", "\n", "d", "e", "\nf"]) take(piece)
  expect(heard).toEqual(["ab\n", "c\n", "\n", "de\n"])
  expect(lines.size).toBe(1)
})

test("of a line that is too long nothing is kept but its ends, and the next is read", () => {
  const { take, heard, lines } = reading(100)
  take("<<")
  for (let pieces = 0; pieces < 1000; pieces++) {
    take("x".repeat(60))
    expect(lines.size).toBeLessThanOrEqual(100)
  }
  take(">\nnext\n")
  expect(heard).toEqual(["<<…>\n", "next\n"])
})
