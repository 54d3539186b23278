import { describe, expect, it } from "vitest"
import { createTokenizer, isAllowed } from "../masks/index.ts"
import { createRandom } from "../sampling/random.ts"
import { createGbnfMatcher } from "./matcher.ts"
import { createGbnfMaskEngine } from "./masks.ts"

const encoder = new TextEncoder()
const texts = [
  "",
  "<think>",
  "</think>",
  ...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)),
  '{"',
  '":',
  "ab",
  "abc",
  "true",
  "é",
  "éa",
  "\n",
  "ab",
]
const bytes = texts.map((text, id) => (id < 3 ? null : encoder.encode(text)))
bytes.push(Uint8Array.of(0xc3), Uint8Array.of(0xa9))
const tokenizer = createTokenizer({ tokens: bytes, eos: [0] })
const tokenId = (text: string) => (texts.includes(text) && text.startsWith("<") ? texts.indexOf(text) : undefined)

describe("createGbnfMaskEngine", () => {
  it.each([
    'root ::= "{" ("\\"" [a-cé]{1,4} "\\":" ("true" | root))* "}"',
    "root ::= <think> !</think>{0,5} </think> [a-z]{2}",
    'root ::= ("ab" | "abc" | root "a")? "é"',
  ])("allows exactly the tokens that the matcher accepts: %s", (grammar) => {
    const engine = createGbnfMaskEngine(grammar, tokenizer, { tokenId })
    const random = createRandom(3)
    for (let round = 0; round < 10; round++) {
      const tokens = engine.matcher()
      const matcher = createGbnfMatcher(grammar, { tokenId })
      for (let step = 0; step < 25 && !tokens.isEnded(); step++) {
        const mask = tokens.mask()
        const allowed: number[] = []
        for (let id = 0; id < bytes.length; id++) {
          const expected = id === 0 ? matcher.complete : matcher.allowsToken(id, bytes[id] ?? undefined)
          // Of so many tokens `expect` looks at those alone that it has something to say of.
          if (isAllowed(mask, id) !== expected) expect([id, isAllowed(mask, id)]).toEqual([id, expected])
          if (expected) allowed.push(id)
        }
        if (allowed.length === 0) break
        const token = allowed[Math.floor(random() * allowed.length)]!
        expect(tokens.clone().accept(token)).toBe(true)
        expect(tokens.accept(token)).toBe(true)
        if (token !== 0) matcher.acceptToken(token, bytes[token] ?? undefined)
      }
    }
  })

  it("ends with an end token, where the text is whole", () => {
    const matcher = createGbnfMaskEngine('root ::= "ab"', tokenizer).matcher()
    expect(matcher.accept(0)).toBe(false)
    matcher.accept(texts.indexOf("ab"))
    expect([
      matcher.isComplete(),
      matcher.accept(0),
      matcher.isEnded(),
      matcher.accept(5),
      [...matcher.mask()].every((word) => word === 0),
    ]).toEqual([true, true, true, false, true])
  })
})
