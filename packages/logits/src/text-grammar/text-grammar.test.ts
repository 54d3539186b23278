import { describe, expect, test } from "vitest"
import { createMatcher } from "../matcher/index.ts"
import { gbnfToLark, grammarToGbnf, matchesGbnf } from "../gbnf/index.ts"
import { type Expression, grammarOf } from "../grammar/index.ts"
import type { StringStyle } from "../grammar/notation.ts"
import { asCustomFormat, embedText, grammar } from "./index.ts"

const SUM = grammar.lark(`
// numbers, added and taken away, as they were learnt
start: expr
?expr: expr "+" term   -> add
     | expr "-" term   -> sub
     | term
term: term "*" factor | factor
factor: NUMBER | "(" expr ")" | "-" factor
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
`)

const PATCH = grammar.lark(String.raw`
start: begin_patch hunk+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?
hunk: add_hunk | delete_hunk
add_hunk: "*** Add File: " filename LF add_line+
delete_hunk: "*** Delete File: " filename LF
filename: /(.+)/
add_line: "+" /(.*)/ LF -> line
%import common.LF
`)

const PATCHED =
  '*** Begin Patch\n*** Add File: a "b".txt\n+Grüße\\n, 世界 </parameter>\n+\n*** Delete File: c\n*** End Patch'

describe("Lark", () => {
  test.each(["1", " 1 + 2*3", "-(2 - .5)*1e3 ", "((1))"])("a sum %j is one", (text) => {
    expect(SUM.fault(text)).toBeUndefined()
  })

  test.each([
    ["1 +", /^it ends too soon, at line 1, column 4, after "1 \+"; next may come .*"-", "\("/],
    ["1 + x", /^it leaves it at line 1, column 5, after "1 \+ ", with "x"; there may come .*\[0-9\]/],
    ["", /^it ends too soon, at line 1, column 1; next may come/],
    ["1)", /with "\)"; there may come .*, or the end\.$/],
  ])("of %j it says where it leaves the grammar", (text, told) => {
    expect(SUM.fault(text)).toMatch(told)
  })

  test("reads rules over several lines, ranges, bounds, options, cases, flags, priorities and aliases", () => {
    const read = grammar.lark(String.raw`
start: greeting
    | count ["!"]
greeting.2: "hello"i "a".."c"~2..3
!count: DIGITS{2,3} (/x\/y/i | /(?s:.)\x{41}/)
DIGITS: "0".."4" | /[5-9]/
`)
    for (const text of ["HeLLoab", "helloabc", "1234X/Y!".slice(2), "007x/y", "12\nA!"])
      expect(read.fault(text)).toBeUndefined()
    for (const text of ["helloa", "helloabca", "1x/y", "12A", "hallo"]) expect(read.fault(text)).toBeDefined()
  })

  test("a patch is read to its end, and a wrong line is named", () => {
    expect(PATCH.fault(PATCHED)).toBeUndefined()
    expect(PATCH.fault(PATCHED.replace("+\n", "oops\n"))).toMatch(
      /^it leaves it at line 4, column 1, after .*, with "oops\\n\*\*\* Delete File"; there may come .*"\*\*\* End Patch"/,
    )
  })

  test.each([
    ["start: missing", "line 1, column 8: 'missing' is not defined"],
    ['a: "x"', "there is no rule 'start'"],
    ['start: "x" )', "line 1, column 12: ')' does not belong here"],
    ["start: a\na: /(?=x)y/", "line 2, column 4: /(?=x)y/: look-ahead is not supported"],
    ["start: T\nT: start", "line 2, column 4: a terminal cannot hold the rule 'start'"],
    ['start: start "x"', "no text can match 'start'"],
    ['start: "x"\nstart: "y"', "line 2, column 1: 'start' is defined twice"],
    ["%import other.X\nstart: X", "line 1, column 9: only 'common' can be imported, not 'other'"],
    ["%import common.NOPE\nstart: NOPE", "line 1, column 16: common has no NOPE"],
    ["%declare X\nstart: X", "line 1, column 1: %declare is not supported"],
    ["start: <special>", "line 1, column 8: '<' is not supported"],
    ["start{x}: x", "line 1, column 6: templates and attributes of rules are not supported"],
    ['start: "z".."a"', "line 1, column 8: a range goes from one character to a later one"],
    ["start: 'x'", "line 1, column 8: nothing begins with"],
  ])("%j is refused with the place", (text, told) => {
    expect(() => grammar.lark(text)).toThrow(told)
  })

  test("what our own printer writes is read again as the same language", () => {
    const gbnf = 'root ::= "a" (b | [c-e]{2,3})* "\\n"?\nb ::= "(" b ")" | [^x\\n]'
    const read = grammar.lark(gbnfToLark(gbnf))
    for (const text of ["a", "a((q))cd", "acde\n", "a\n", "ax", "a(x)", "b", "a)"])
      expect([text, read.fault(text) === undefined]).toEqual([text, matchesGbnf(gbnf, text)])
  })
})

test("regular expressions and GBNF hold whole texts", () => {
  expect(grammar.regex(String.raw`^v\d+(\.\d+)*$`).fault("v1.2")).toBeUndefined()
  expect(grammar.regex("[0-9]{4}").fault("12")).toBe(
    'it ends too soon, at line 1, column 3, after "12"; next may come [0-9].',
  )
  expect(grammar.gbnf('root ::= "a"+').fault("aab")).toBe(
    'it leaves it at line 1, column 3, after "aa", with "b"; there may come "a", or the end.',
  )
  expect(grammar.text.fault("anything \u0000 at all")).toBeUndefined()
  expect(() => grammar.regex("(")).toThrow(/regular expression/)
  expect(() => grammar.gbnf("root ::= x")).toThrow(/rule 'x' is not defined/)
})

test("OpenAI's custom tools get Lark or a regular expression", () => {
  expect(asCustomFormat(grammar.gbnf('root ::= "a"+'))).toEqual({ syntax: "lark", definition: 'start: "a"+\n' })
  expect(asCustomFormat(grammar.regex("a+"))).toEqual({ syntax: "regex", definition: "a+" })
  expect(asCustomFormat(grammar.text)).toBeUndefined()
})

const STYLES: readonly (readonly [StringStyle, (text: string) => string])[] = [
  [{ kind: "json" }, (text) => JSON.stringify(text)],
  [{ kind: "python" }, (text) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n")}'`],
  [{ kind: "delimited", open: "<|", close: "|>" }, (text) => `<|${text}|>`],
  [{ kind: "bare", stop: ["</arg>"] }, (text) => text],
]

describe.each(STYLES)("as a string of style %j", (style, write) => {
  test.each([
    [SUM, "1 + 2*(3 - 4)", "1 + + )"],
    [PATCH, PATCHED, PATCHED.replace("+\n", "oops\n")],
    [grammar.regex('[^"]*"[^"]*'), 'one " only\n', 'one " and " two'],
  ])("a text of the grammar is taken, and no other", (input, right, wrong) => {
    const rules: Record<string, Expression> = {}
    const embedded = grammarOf(embedText(input, style, "text-x-0", rules), rules)
    const gbnf = grammarToGbnf(embedded)
    for (const [text, isRight] of [
      [right, true],
      [wrong, false],
    ] as const) {
      const matcher = createMatcher(embedded)
      expect([text, matcher.accept(write(text)) && matcher.isComplete()]).toEqual([text, isRight])
      expect([text, matchesGbnf(gbnf, write(text))]).toEqual([text, isRight])
    }
  })
})

test("a run of characters keeps clear of the mark that ends the string", () => {
  const rules: Record<string, Expression> = {}
  const embedded = grammarOf(embedText(grammar.text, { kind: "bare", stop: ["</arg>"] }, "t", rules), rules)
  expect(createMatcher(embedded).accept("a </arg b")).toBe(true)
  expect(createMatcher(embedded).accept("a </arg>")).toBe(false)
})

test("a rule that begins with itself behind what may be empty is refused where it is embedded", () => {
  const hidden = grammar.lark('start: a\na: maybe a "x" | "y"\nmaybe: "z"?')
  expect(hidden.fault("zyx")).toBeUndefined()
  expect(() => embedText(hidden, { kind: "json" }, "t", {})).toThrow(/begins with itself/)
})

test("a grammar that can read a text in ever more ways is left, with an error", () => {
  const ambiguous = grammar.lark('start: start start | "x"')
  expect(ambiguous.fault("x".repeat(50))).toBeUndefined()
  expect(() => ambiguous.fault("x".repeat(1_000_000))).toThrow(/too many ways|more than \d+ steps/)
})
