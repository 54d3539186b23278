import { expect, test } from "vitest"
import { fileFixture } from "../testing/file-fixture.ts"

test("edits in the spelling of other servers are taken, and that they were put right is recorded", async () => {
  using fixture = fileFixture({ "a.txt": "one\ntwo\n" })
  const result = await fixture.call("edit_file", { path: "a.txt", edits: [{ oldText: "two", newText: "2" }] })
  expect(result).toMatchObject({
    success: true,
    metadata: {
      repairs: [
        { from: "oldText", to: "old_text" },
        { from: "newText", to: "new_text" },
      ],
    },
  })
  expect(fixture.text("a.txt")).toBe("one\n2\n")
})
