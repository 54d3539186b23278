import { expect, test } from "vitest"
import { partRawDiff, plainName } from "./raw-diff.ts"

const ids = ":100644 100644 587be6b 0000000"

test("tells the files of a diff, both names of a renamed one, and the diff as it is", () => {
  const diff = "diff --git a/x b/x\n@@ -1 +1 @@\n-:100644 100644 a b M\tno\n+\n+y\n"
  const text = `${ids} M\tx\n${ids} R100\told name\t"\\303\\244 \\"b\\"\\t\\n\\\\"\n\n${diff}`
  expect(partRawDiff(text)).toEqual({ names: ["x", "old name", 'ä "b"\t\n\\'], diff })
  expect(partRawDiff("")).toEqual({ names: [], diff: "" })
  expect(partRawDiff(`${ids} M\tx\n`)).toEqual({ names: ["x"], diff: "" })
})

test.each([
  ["a merge", "::100644 100644 100644 28ce6a8 13e7564 0000000 MM\ta\n\ndiff --git a/x b/x\n"],
  ["a list that was cut", `${ids} M\tx\n${ids} M\t.e\n[... 99 bytes left out here ...]\nnv\n\ndiff --git a/x b/x\n`],
  ["a diff without a list", "diff --git a/x b/x\n"],
])("does not take %s for a whole list", (_, text) => {
  expect(partRawDiff(text)).toBe(undefined)
})

test("reads names in quotes as git writes them", () => {
  expect(plainName("plain \\303")).toBe("plain \\303")
  expect(plainName('"a\\a\\b\\f\\r\\v\\001ü"')).toBe("a\u0007\b\f\r\v\u0001ü")
})
