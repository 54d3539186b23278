import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { dedent, indent, linesInStrings } from "./source-lines.ts"

describe("linesInStrings", () => {
  test.each([
    ["python", 'a = """\n  b\n"""\nc', [false, true, true, false]],
    ["python", "x = '''it's # \"\n''' # '''\ny", [false, true, false]],
    ["python", 'x = "a\\\n b"\ny', [false, true, false]],
    ["python", "# it's\nx = 'no \" end\ny = 1", [false, false, false]],
    ["python", 'r"\\"; y = 1\nz', [false, false]],
    ["javascript", "a = `\n b ${c +\n `inner\n` }\n`\nd", [false, true, false, true, true, false]],
    ["javascript", "/* it's\n ` */ x = 1 // `\ny", [false, false, false]],
    ["javascript", "x = /[`/'\"]/.test(y)\nz = a / b / c; w = '`'\nq", [false, false, false]],
    ["javascript", "x = `${{ a: { b: 1 } }}\n`\ny", [false, true, false]],
  ] as const)("%s %j", (lexis, source, expected) => {
    expect(linesInStrings(source, lexis)).toEqual(expected)
  })
})

describe("dedent", () => {
  test.each([
    ["a common margin", "    if x:\n        y\n    z", "if x:\n    y\nz"],
    ["tabs", "\tif x:\n\t\ty", "if x:\n\ty"],
    ["blank lines at both ends, and Windows line ends", "\r\n\n  a\r\n\r\n  b\n  ", "a\n\nb"],
    ["a first line that lost its margin", "a = 1\n    if a:\n        b()\n    c()", "a = 1\nif a:\n    b()\nc()"],
    ["a first line that opens a block", "if a:\n    b()", "if a:\n    b()"],
    ["lines inside strings", '    x = """\n  text\n    """\n    y', 'x = """\n  text\n    """\ny'],
  ])("takes away %s", (_, source, expected) => {
    expect(dedent(source, "python")).toBe(expected)
  })
})

test("what is indented comes back by dedenting, for any text", () => {
  const line = fc.tuple(
    fc.constantFrom("", " ", "  ", "    ", "\t"),
    fc.constantFrom(
      "x = 1",
      "'it''s'",
      '"""',
      "'''",
      "`",
      "${",
      "}",
      "# ' comment",
      '// " comment',
      "/* ` */",
      "<>&\"'",
      "é😀",
      "\\",
      "if a:",
      "",
    ),
  )
  const text = fc
    .array(
      line.map((parts) => parts.join("")),
      { minLength: 1, maxLength: 12 },
    )
    .map((lines) => lines.join("\n"))
  fc.assert(
    fc.property(
      text,
      fc.constantFrom("python" as const, "javascript" as const),
      fc.constantFrom("  ", "    "),
      (source, lexis, margin) => {
        const body = dedent(source, lexis)
        const again = indent(body, margin, lexis)
        expect(linesInStrings(again, lexis)).toEqual(linesInStrings(body, lexis))
        const inside = linesInStrings(body, lexis)
        const back = again
          .split("\n")
          .map((one, index) => (inside[index]! || !one.startsWith(margin) ? one : one.slice(margin.length)))
        expect(back.join("\n")).toBe(body)
      },
    ),
    { numRuns: 2000 },
  )
})
