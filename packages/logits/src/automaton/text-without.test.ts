import { expect, test } from "vitest"
import { intersectDfa } from "./dfa-algebra.ts"
import { matchesDfa } from "./dfa.ts"
import { compilePattern } from "./regex.ts"
import { textWithout } from "./text-without.ts"

test("texts hold no marker, also none that begins within another", () => {
  const language = textWithout(["</a>", "<<"])
  const texts = ["", "a", "<a", "</a", "<</a", "x</a>", "<</a>", "< <", "\u{1f600}"]
  expect(texts.filter((text) => matchesDfa(language, text))).toEqual(["", "a", "<a", "</a", "< <", "\u{1f600}"])
})

test("the same markers give the same language, so that what is made of it is made once", () => {
  const pattern = compilePattern("^[a-z<]+$")
  expect(intersectDfa(pattern, textWithout(["<<", "x"]))).toBe(intersectDfa(pattern, textWithout(["<<", "x"])))
  expect(textWithout(["x", "<<"])).not.toBe(textWithout(["<<", "x"]))
})
