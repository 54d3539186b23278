import { expect, test } from "vitest"
import { gbnfToLark } from "./lark.ts"

test("lexemes are what does not contain itself", () => {
  const rules = [
    "root ::= list | word",
    'list ::= "(" (root ",")* ")"',
    'word ::= letter+ ("!" | "")',
    "letter ::= [a-z_]",
  ]
  expect(gbnfToLark(`${rules.join("\n")}\n`).split("\n")).toEqual([
    "start: r_list | T_WORD",
    'r_list: "(" (start ",")* ")"',
    'T_WORD: T_LETTER+ ("!")?',
    "T_LETTER: /[a-z\\x{5F}]/",
    "",
  ])
})

test("no lexeme is empty", () => {
  const rules = ["root ::= ws (word ws)+ end", "ws ::= [ ]*", 'word ::= "a" | ""', "end ::= ws word"]
  expect(gbnfToLark(`${rules.join("\n")}\n`).split("\n")).toEqual([
    "start: T_WS? (T_WORD? T_WS?)+ r_end",
    "T_WS: /[\\x{20}]/+",
    'T_WORD: "a"',
    "r_end: T_WS? T_WORD?",
    "",
  ])
})
