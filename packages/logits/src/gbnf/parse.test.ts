import { describe, expect, it } from "vitest"
import fc from "fast-check"
import { checkGbnf } from "./check.ts"
import { parseGbnf, readGbnf } from "./parse.ts"
import { printGbnf } from "./print.ts"

const bodyOf = (text: string) => parseGbnf(text).rules[0]!.body

describe("parseGbnf", () => {
  it("reads literals, classes, repetitions, groups and rules", () => {
    expect(bodyOf('root ::= "a\\n" [^a-c\\]] (item | .){2,3}\nitem ::= "x"')).toMatchObject({
      kind: "sequence",
      items: [
        { kind: "literal", text: [97, 10] },
        {
          kind: "class",
          negated: true,
          ranges: [
            [97, 99],
            [93, 93],
          ],
        },
        {
          kind: "repeat",
          min: 2,
          max: 3,
          item: { kind: "choice", options: [{ kind: "rule", name: "item" }, { kind: "any" }] },
        },
      ],
    })
  })

  it("reads tokens by text and by number, and their negation", () => {
    expect(bodyOf("root ::= <think> !</think>* <[1001]> !<[7]>")).toMatchObject({
      items: [
        { kind: "token", negated: false, text: "<think>" },
        { kind: "repeat", item: { kind: "token", negated: true, text: "</think>" } },
        { kind: "token", negated: false, id: 1001 },
        { kind: "token", negated: true, id: 7 },
      ],
    })
  })

  it("reads every form of bounds", () => {
    const bounds = ["*", "+", "?", "{3}", "{3,}", "{3,5}", "{ 0 , 5 }"].map((suffix) => bodyOf(`root ::= "a"${suffix}`))
    expect(bounds.map((node) => (node.kind === "repeat" ? [node.min, node.max] : []))).toEqual([
      [0, undefined],
      [1, undefined],
      [0, 1],
      [3, 3],
      [3, undefined],
      [3, 5],
      [0, 5],
    ])
  })

  it("lets a rule go on after '|', after '::=' and inside parentheses, with comments between", () => {
    const { rules } = parseGbnf('root ::= # begins here\n  "a" | # or\n  "b" (\n "c" # inner\n | "d" )\nnext ::= root')
    expect(rules.map(({ name, at }) => [name, at?.line])).toEqual([
      ["root", 1],
      ["next", 6],
    ])
  })

  it("reads escapes of two, four and eight digits and code points beyond the first plane", () => {
    expect(bodyOf('root ::= "\\x41\\u00e9\\U0001F600😀\\[\\]\\-"')).toMatchObject({
      text: [0x41, 0xe9, 0x1f600, 0x1f600, 91, 93, 45],
    })
    expect(bodyOf("root ::= [a-]")).toMatchObject({
      ranges: [
        [97, 97],
        [45, 45],
      ],
    })
  })

  it.each([
    ['root ::= "abc', 1, 14, "'\"' at the end of the literal"],
    ["root = x", 1, 6, "'::='"],
    [
      'root ::= "a"\n| "b"',
      2,
      1,
      "a rule name (a rule goes on in the next line only inside parentheses or after '|' or '::=')",
    ],
    ['root ::= ("a" | "b"\n  "c"\nx', 4, 2, "')', '|' or a symbol"],
    ["root ::= [a-", 1, 13, "a character"],
    ["root ::= [b-a]", 1, 11, "a range from the lower to the higher character"],
    ["root ::= *", 1, 10, "a symbol before a repetition"],
    ['root ::= "a"{x}', 1, 14, "a number of repetitions"],
    ['root ::= "a"{1;2}', 1, 15, "',' or '}'"],
    ['root ::= "\\q"', 1, 11, 'one of the escapes \\n \\r \\t \\\\ \\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH'],
    ['root ::= "\\x4"', 1, 14, "2 hexadecimal digits after '\\x'"],
    ["root ::= <[x]>", 1, 12, "a token number"],
    ["root ::= <think", 1, 16, "'>' at the end of the token"],
    ['root ::= "a" )', 1, 14, "'|', a symbol, a repetition or the end of the line"],
    ['root ::= "é" "😀" $', 1, 18, "'|', a symbol, a repetition or the end of the line"],
  ])("says where %j is wrong and what was expected", (text, line, column, expected) => {
    // The unclosed group of the fourth case goes on to the end of the text.
    const [problem] = readGbnf(text).problems
    expect(problem).toMatchObject({
      code: "syntax",
      expected,
      ...(text.includes("\nx") ? { line: 3 } : { line, column }),
    })
    expect(() => parseGbnf(text)).toThrow(expect.objectContaining({ code: "GBNF_SYNTAX" }))
  })

  it("refuses parentheses nested without end", () => {
    expect(readGbnf(`root ::= ${"(".repeat(100_000)}`).problems[0]!.message).toContain("at most 500 nested parentheses")
  })

  it("answers any text, in time", () => {
    const pieces = [
      "root ::= ",
      '"',
      "[",
      "]",
      "^",
      "-",
      "(",
      ")",
      "{",
      "}",
      "1",
      ",",
      "*",
      "|",
      "\n",
      "a",
      "<",
      ">",
      "!",
      "\\",
      "x41",
      "#",
      " ",
      "::=",
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
        const text = parts.join("")
        const { grammar, problems } = readGbnf(text)
        expect(grammar === undefined ? problems.length : 1).toBeGreaterThan(0)
        checkGbnf(text)
      }),
      { numRuns: 500 },
    )
  })
})

describe("printGbnf", () => {
  it("writes text that reads as the same grammar, and the same bytes again", () => {
    const texts = [
      'root ::= ("a" | "b" c)* [^\\x5E\\-\\]\\n] .\nc ::= ("x"?){2} "" | <think> !<[3]>\n',
      'root ::= ("ab"? "c")+ ("d"{2,}){3,4}\n',
      "root ::= [\\U0001F600-\\U0001F64Fa\\x00-\\x1F]\n",
    ]
    for (const text of texts) {
      const printed = printGbnf(parseGbnf(text))
      expect(printGbnf(parseGbnf(printed))).toBe(printed)
      expect(strip(parseGbnf(printed))).toEqual(strip(parseGbnf(text)))
    }
  })
})

/** A grammar without positions. */
function strip(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === "at" ? undefined : inner)))
}
