import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { applyPatch } from "diff"
import { applyEdits, type Edit } from "./apply.ts"
import { unifiedDiff } from "./diff.ts"
import { insertLines, replaceLines } from "./line-edits.ts"
import { finderIn } from "./match.ts"
import { nearestIn } from "./nearest.ts"

const edited = (text: string, ...edits: Edit[]): string => {
  const outcome = applyEdits(text, edits, "f")
  if ("refused" in outcome) throw new Error(outcome.refused.output)
  return outcome.text
}
const refused = (text: string, ...edits: Edit[]) => {
  const outcome = applyEdits(text, edits, "f.ts")
  if (!("refused" in outcome)) throw new Error(`applied: ${outcome.text}`)
  return outcome.refused.error!
}
const edit = (old_text: string, new_text: string, replace_all?: boolean): Edit => ({
  old_text,
  new_text,
  ...(replace_all === undefined ? {} : { replace_all }),
})

describe("several edits", () => {
  test("are looked up in the original, in any order, and applied together", () => {
    expect(edited("one two three", edit("three", "one"), edit("one", "1"), edit("two", "three"))).toBe("1 three one")
  })

  test("are applied all or not at all, and each failed one is told", () => {
    const error = refused("alpha\nbeta\nbeta\n", edit("alpha", "A"), edit("beta", "B"), edit("gamma", "G"))
    expect(error.code).toBe("EDIT_AMBIGUOUS")
    expect(error.message).toBe(
      "Nothing was changed in f.ts: edit 2 of 3: old_text is there 2 times, at lines 2, 3; edit 3 of 3: old_text " +
        "is not there, and nothing like it. The other edit is fine, but all are applied together or not at all.",
    )
  })

  test("must not overlap, be empty or change nothing", () => {
    expect(refused("abcdef", edit("abc", "x"), edit("cde", "y")).code).toBe("EDIT_OVERLAP")
    expect(refused("abc", edit("", "x")).code).toBe("EDIT_EMPTY")
    expect(refused("abc", edit("abc", "abc")).code).toBe("EDIT_NO_CHANGE")
    expect(edited("abcdef", edit("abc", "x"), edit("def", "y"))).toBe("xy")
  })

  test("replace every occurrence only when asked", () => {
    expect(edited("a-a-a", edit("a", "b", true))).toBe("b-b-b")
    expect(refused("a-a-a", edit("a", "b", false)).code).toBe("EDIT_AMBIGUOUS")
    expect(edited("aaaa", edit("aa", "b", true))).toBe("bb")
  })

  test("put text in as it is: no replacement patterns", () => {
    expect(edited("price", edit("price", "$& $1 $$ \\n"))).toBe("$& $1 $$ \\n")
  })
})

describe("the ladder of matches", () => {
  const rung = (text: string, wanted: string) => {
    const found = finderIn(text)(wanted, "new")
    return found !== undefined && "rung" in found ? found.rung : undefined
  }

  test("line endings: a CRLF file is edited with LF text and stays CRLF", () => {
    expect(edited("a\r\nb\r\nc\r\n", edit("a\nb", "x\ny\nz"))).toBe("x\r\ny\r\nz\r\nc\r\n")
    expect(edited("a\r\nb\r\n", edit("a", "x\ny"))).toBe("x\r\ny\r\nb\r\n")
    expect(edited("a\nb\n", edit("a\r\nb", "x\r\ny"))).toBe("x\ny\n")
    expect(rung("a\r\nb\r\n", "a\nb")).toBe("line-endings")
  })

  test("blanks at line ends, in the file or in what was asked for", () => {
    expect(edited("if (a) {  \n  b()\t\n}\n", edit("if (a) {\n  b()\n}", "c()"))).toBe("c()\n")
    expect(edited("one\ntwo\n", edit("one  \ntwo", "1\n2"))).toBe("1\n2\n")
    expect(rung("a  \nb\n", "a\nb")).toBe("trailing-whitespace")
  })

  test("one indentation for all lines, which the new text gets too", () => {
    const text = "class A {\n    f() {\n        return 1\n    }\n}\n"
    expect(edited(text, edit("f() {\n    return 1\n}", "f() {\n    return 2\n}"))).toBe(
      "class A {\n    f() {\n        return 2\n    }\n}\n",
    )
    expect(edited("f() {\n  x\n}\n", edit("    f() {\n      x\n    }", "    f() {\n      y\n    }"))).toBe(
      "f() {\n  y\n}\n",
    )
    expect(edited("\tif x:\n\t\ty\n", edit("if x:\n\ty", "if z:\n\ty"))).toBe("\tif z:\n\t\ty\n")
    expect(rung("  a\n    b\n", "a\nb")).toBeUndefined()
  })

  test("typographic punctuation, mapped back to the characters of the file", () => {
    expect(edited("say “hello” – now\nrest “kept”\n", edit('say "hello" - now', "said"))).toBe("said\nrest “kept”\n")
    expect(edited("a\u00a0b\r\nc\r\n", edit("a b\nc", "x\ny"))).toBe("x\r\ny\r\n")
  })

  test("never goes further: what is merely similar is refused", () => {
    expect(rung("function add(a, b) {\n  return a + b\n}\n", "function add(a, b) {\n  return a - b\n}")).toBeUndefined()
    expect(rung("abc", "abd")).toBeUndefined()
    expect(rung("\n\n\n", " \n ")).toBeUndefined()
  })

  test("is ambiguous on every rung when there are two places", () => {
    expect(refused("  a()\nx\n  a()\n", edit("\ta()\n", "b()\n")).code).toBe("EDIT_NOT_FOUND")
    expect(refused("a  \nb\nx\na \nb\n", edit("a\nb\n", "c\n")).message).toContain("lines 1, 4")
  })
})

test("what lies outside the matches never changes, whatever the text, its endings and the edits", () => {
  const piece = fc.constantFrom("a", "b", " ", "  ", "\t", "\n", "\r\n", "“", "'", "é", "😀", "x=1", "\u00a0")
  const texts = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""))
  fc.assert(
    fc.property(texts, fc.nat(), fc.integer({ min: 1, max: 12 }), texts, fc.boolean(), (text, at, length, put, all) => {
      const start = text.length === 0 ? 0 : at % text.length
      const outcome = applyEdits(
        text,
        [edit(text.slice(start, start + length).replaceAll("\r\n", "\n"), put, all)],
        "f",
      )
      if ("refused" in outcome) return
      let rebuilt = ""
      let position = 0
      for (const change of outcome.changes) {
        rebuilt += text.slice(position, change.start) + change.replacement
        position = change.end
      }
      expect(outcome.text).toBe(rebuilt + text.slice(position))
      const [first] = outcome.changes
      expect(outcome.text.startsWith(text.slice(0, first!.start))).toBe(true)
      expect(outcome.text.endsWith(text.slice(outcome.changes.at(-1)!.end))).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

describe("the answer to a text that is not there", () => {
  const text =
    "import x\n\nexport function mean(values) {\n  let sum = 0\n  for (const value of values) sum += value\n  " +
    "return sum / values.length\n}\n"

  test("shows the nearest lines with their numbers", () => {
    const error = refused(text, edit("for (const v of values) sum += v\nreturn sum / (values.length - 1)", "y"))
    expect(error.code).toBe("EDIT_NOT_FOUND")
    expect(error.hint).toContain("Did you mean")
    expect(error.hint).toContain("5:   for (const value of values) sum += value\n6:   return sum / values.length")
  })

  test("says when the change is there already", () => {
    expect(refused(text, edit("let total = 0", "let sum = 0")).message).toContain("new_text already is, at line 4")
  })

  test("finds a block among many lines, and nothing in what is unlike", () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `const value${index} = compute(${index * 7})`).join("\n")
    const [best] = nearestIn(many)("const value17001 = compute(119008)\nconst value17002 = compute(119014)")
    expect(best?.startLine).toBe(17_002)
    expect(nearestIn(text)("zzzz qqqq wwww")).toEqual([])
    const longer =
      `${text}${"// nothing of the kind\n".repeat(9)}const total = first.values.reduce((sum, value) => sum + ` +
      `value, 0) / count\n`
    const part = nearestIn(longer)("total = frist.values")
    expect(part[0]).toMatchObject({ startLine: 17 })
  })
})

describe("the diff", () => {
  test("of any edits gives the new text when it is applied to the old one", async () => {
    const line = fc.constantFrom("a", "b", "c", "", "long line of text")
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 40 }),
        fc.array(fc.nat(39), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (lines, picks, closed) => {
          const numbered = lines.map((text, index) => `${index} ${text}`)
          const text = numbered.join("\n") + (closed ? "\n" : "")
          const chosen = [...new Set(picks.map((pick) => pick % numbered.length))]
          const edits = chosen.map((index) =>
            edit(`${index === 0 ? "" : "\n"}${numbered[index]}`, index % 2 === 0 ? "\nnew\nlines" : ""),
          )
          const outcome = applyEdits(text, edits, "f")
          if ("refused" in outcome) return
          const diff = await unifiedDiff(text, outcome.changes, "f")
          expect(applyPatch(text, diff)).toBe(outcome.text)
        },
      ),
      { numRuns: 300 },
    )
  })

  test("counts lines from the beginning of the file, in both texts", async () => {
    const text = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join("")
    const outcome = applyEdits(text, [edit("line 5\n", "a\nb\nc\n"), edit("line 30\n", "")], "f")
    if ("refused" in outcome) throw new Error("refused")
    const headers = (await unifiedDiff(text, outcome.changes, "f")).split("\n").filter((line) => line.startsWith("@@"))
    expect(headers).toEqual(["@@ -2,7 +2,9 @@", "@@ -27,7 +29,6 @@"])
  })

  test("is bounded, and quick for large changes", async () => {
    const text = "old line\n".repeat(20_000)
    const outcome = applyEdits(text, [edit("old", "new", true)], "f")
    if ("refused" in outcome) throw new Error("refused")
    const started = process.cpuUsage()
    const diff = await unifiedDiff(text, outcome.changes, "f")
    const { user, system } = process.cpuUsage(started)
    expect((user + system) / 1000).toBeLessThan(3000)
    expect(diff.length).toBeLessThan(8100)
    expect(diff).toMatch(/more lines of diff$/u)
  })
})

describe("edits by line number", () => {
  const text = (outcome: ReturnType<typeof replaceLines>) =>
    "refused" in outcome ? outcome.refused.error?.code : outcome.text

  test("replace, delete and insert whole lines with the file's endings", () => {
    expect(text(replaceLines("a\r\nb\r\nc", { start_line: 2, end_line: 2 }, "x\ny", "f"))).toBe("a\r\nx\r\ny\r\nc")
    expect(text(replaceLines("a\nb\nc", { start_line: 3, end_line: 3 }, "z\n", "f"))).toBe("a\nb\nz")
    expect(text(replaceLines("a\nb\nc\n", { start_line: 1, end_line: 2 }, "", "f"))).toBe("c\n")
    expect(text(insertLines("a\nb\n", 1, "x", "f"))).toBe("x\na\nb\n")
    expect(text(insertLines("a\nb\n", 3, "x\n", "f"))).toBe("a\nb\nx\n")
    expect(text(insertLines("a\nb", 3, "x", "f"))).toBe("a\nb\nx")
    expect(text(insertLines("", 1, "x", "f"))).toBe("x\n")
  })

  test("refuse lines that are not there", () => {
    expect(text(replaceLines("a\n", { start_line: 2, end_line: 2 }, "x", "f"))).toBe("INVALID_RANGE")
    expect(text(replaceLines("a\nb\n", { start_line: 2, end_line: 1 }, "x", "f"))).toBe("INVALID_RANGE")
    expect(text(insertLines("a\n", 3, "x", "f"))).toBe("INVALID_RANGE")
  })
})
