import { describe, expect, it } from "vitest"
import { checkGbnf } from "./check.ts"

const codes = (text: string) =>
  checkGbnf(text).map(({ code, severity, line, column, rule }) => [code, severity, rule, line, column])

describe("checkGbnf", () => {
  it("is silent about a sound grammar", () => {
    expect(
      checkGbnf('root ::= "{" pair ("," pair)* "}"\npair ::= [a-z]{1,10} ":" value\nvalue ::= root | [0-9]+'),
    ).toEqual([])
  })

  it.each([
    ["root ::= item", [["undefined-rule", "error", "root", 1, 10]]],
    ['start ::= "a"', [["missing-root", "error", undefined, 1, 1]]],
    ['root ::= "a"\n\nother ::= "b"', [["unused-rule", "warning", "other", 3, 1]]],
    ['root ::= root "a" | "b"', [["left-recursion", "error", "root", 1, 1]]],
    [
      'root ::= a\na ::= b "x"\nb ::= "y"? a | "z"',
      [
        ["left-recursion", "error", "a", 2, 1],
        ["left-recursion", "error", "b", 3, 1],
      ],
    ],
    ['root ::= ("a"?)*', [["empty-loop", "error", "root", 1, 16]]],
    ['root ::= maybe+ "c"\nmaybe ::= "a" | ""', [["empty-loop", "error", "root", 1, 15]]],
    ['root ::= "a" root', [["never-ends", "error", "root", 1, 1]]],
    ['root ::= "a"{3,2}', [["reversed-bounds", "error", "root", 1, 13]]],
    ['root ::= "a"{0,5000}', [["unlimited-repetition", "error", "root", 1, 13]]],
    ['root ::= "a"{2000}', [["too-many-repetitions", "error", "root", 1, 13]]],
    ['root ::= ("a" | ("b" | "c"){0,100}){50}', [["too-many-repetitions", "error", "root", 1, 36]]],
    ['root ::= "a"\nroot ::= "b"', [["duplicate-rule", "warning", "root", 2, 1]]],
    ['root ::= a_b\na_b ::= "x"', [["underscore-in-name", "warning", "a_b", 2, 1]]],
    ["root ::= []", [["empty-class", "error", "root", 1, 10]]],
  ])("finds what is wrong in %j", (text, expected) => {
    expect(codes(text)).toEqual(expected)
  })

  it("puts errors before warnings", () => {
    expect(codes('b ::= "x"\nroot ::= c').map(([code]) => code)).toEqual(["undefined-rule", "unused-rule"])
  })

  it("takes another root when told", () => {
    expect(checkGbnf('start ::= "a"', { root: "start" })).toEqual([])
  })
})
