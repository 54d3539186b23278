/** GBNF texts: read, checked, printed, compiled, followed and masked. */
import {
  checkGbnf,
  createGbnfMaskEngine,
  createGbnfMatcher,
  createTokenizer,
  describeGbnfProblem,
  matchesGbnf,
  parseGbnf,
  printGbnf,
  readGbnf,
} from "@toolwright/logits"
import { mutateText, randomText, type Random } from "./random.ts"
import type { Target } from "./target.ts"

const SEEDS = [
  'root ::= "a" | "b" root\n',
  'root ::= object\nobject ::= "{" ws (pair ("," ws pair)*)? "}" ws\npair ::= string ":" ws value\nvalue ::= ' +
    'object | string | number | "true"\nstring ::= "\\"" [^"\\\\\\x00-\\x1f]* "\\"" ws\nnumber ::= "-"? ' +
    '[0-9]{1,15} ("." [0-9]+)?\nws ::= [ \\t\\n]{0,20}\n',
  'root ::= [a-z]{2,5} [^\\]] . (x | y)*\nx ::= "\\u00e9" # note\ny ::= "\\U0001F600"\n',
  'root ::= a b? c* d+\na ::= ""\nb ::= a a\nc ::= "x" | a\nd ::= b | "y"\n',
  'root ::= !<[1]> <[2]>* <think> "x"\n',
  'root ::= root "a" | "b"\n',
  'root ::= (((((("a"))))))*\n',
  'root ::= e\ne ::= e "+" e | "1"\n',
  'root ::= ("a"*)* ("b"?)+ (("c" | "")* "d"){0,3}\n',
]
const PIECES = [
  "root",
  " ::= ",
  "a",
  "b",
  "|",
  "*",
  "+",
  "?",
  "{3}",
  "{2,}",
  "{,4}",
  "{0,0}",
  "{5,2}",
  "{99999}",
  "{4294967296}",
  "(",
  ")",
  "[",
  "]",
  "^",
  "-",
  ".",
  '"',
  '"a"',
  '""',
  "[a-z]",
  "[^a]",
  "[]",
  "[z-a]",
  "\\n",
  "\\x41",
  "\\u00e9",
  "\\U0010FFFF",
  "\\U00110000",
  "\\",
  "\n",
  "\n\n",
  " ",
  "#",
  "::=",
  ":",
  "=",
  "<[1]>",
  "!<[2]>",
  "<think>",
  "<",
  ">",
  "\u0000",
  "é",
  "😀",
  "((((((((",
  "))))))))",
  '("a"|',
  "root ::= root\n",
  "x-y",
  "_",
  "{",
  "}",
  ",",
]
const TEXTS = ["", "a", "ab", '{"a":1}', "bbbb", "é😀", "xyz", "1+1+1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\n"]
const MATCHING = ["GBNF_SYNTAX", "GBNF_INVALID", "GRAMMAR_TOO_AMBIGUOUS"]
const tokenizer = createTokenizer({
  tokens: [...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), new TextEncoder().encode("ab"), null],
  eos: [257],
})

function grammar(random: Random): string {
  const form = random.next()
  if (form < 0.15) return randomText(random, PIECES, 30)
  if (form < 0.2) return `root ::= ${random.pick(PIECES).repeat(random.pick([10, 500, 20_000]))}\n`
  if (form < 0.25)
    return `root ::= ${"(".repeat(random.pick([5, 200, 20_000]))}"a"${")*".repeat(random.pick([5, 200, 20_000]))}\n`
  if (form < 0.4)
    return `root ::= ${randomText(random, PIECES, 12)}\na ::= ${randomText(random, PIECES, 6)}\nb ::= "b" a?\n`
  return mutateText(random, random.pick(SEEDS), PIECES)
}

export const gbnfTarget: Target = {
  name: "gbnf",
  show: (random) => JSON.stringify(grammar(random)).slice(0, 4000),
  run(random, expecting) {
    const text = grammar(random)
    for (const problem of checkGbnf(text)) describeGbnfProblem(problem)
    readGbnf(text)
    const parsed = expecting(["GBNF_SYNTAX"], () => parseGbnf(text))
    if (parsed !== undefined) printGbnf(parsed)
    expecting(MATCHING, () => matchesGbnf(text, random.pick(TEXTS)))
    expecting(MATCHING, () => {
      const matcher = createGbnfMatcher(text)
      for (let left = 4; left > 0; left--) matcher.acceptText(random.pick(TEXTS))
    })
    if (random.chance(0.2)) {
      expecting(MATCHING, () => {
        const engine = createGbnfMaskEngine(text, tokenizer)
        const matcher = engine.matcher()
        for (let left = 5; left > 0; left--) {
          matcher.mask()
          if (!matcher.accept(random.below(257))) break
        }
      })
    }
  },
}
