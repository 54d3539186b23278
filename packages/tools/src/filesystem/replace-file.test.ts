import { describe, expect, test } from "vitest"
import { fileFixture } from "../testing/file-fixture.ts"

describe("writing over a file", () => {
  test("says that it replaces, how many lines, and which", async () => {
    using files = fileFixture({ "a.txt": "one\ntwo\nthree\n" })
    const result = await files.call("write_file", { path: "a.txt", content: "one\n" })
    expect(result.output).toMatch(
      /^Replaced \S+a\.txt \(3 lines before, 1 line now, 4 bytes\)\.\n@@ [^]*\n-two\n-three$/,
    )
    expect(result.data).toMatchObject({ created: false, replaced: { line_count: 3, size_bytes: 14 } })
    const same = await files.call("file", { action: "write", path: "a.txt", content: "one\n" })
    expect(same.output).toMatch(/with the same content/)
    const created = await files.call("write_file", { path: "b.txt", content: "one\n" })
    expect(created.output).toMatch(/^Created /)
    expect(created.data).not.toHaveProperty("replaced")
  })

  test("is told to whoever is to permit it, in every form of the tool, and nothing is written", async () => {
    using files = fileFixture({ "a.txt": "one\ntwo\n", ".env": "KEY=canary" })
    const { registry } = files
    const write = { path: "a.txt", content: "other\n" }
    const split = registry.view({ splitActions: true })
    for (const [tool, args] of [
      [registry.get("write_file"), write],
      [registry.get("file"), { action: "write", ...write }],
      [split.get("file_write"), write],
    ] as const) {
      const preview = await tool!.preview!(args)
      expect(preview).toContain("2 lines before, 1 line now")
      expect(preview).toContain("-one\n-two\n+other")
    }
    const edit = registry.get("edit_file")!
    expect(await edit.preview!({ path: "a.txt", old_text: "one", new_text: "1" })).toContain("-one\n+1")
    expect(await edit.preview!({ path: "a.txt", old_text: "none", new_text: "1" })).toBeUndefined()
    for (const path of ["none.txt", ".env"])
      expect(await registry.get("write_file")!.preview!({ path, content: "x" })).toBeUndefined()
    expect(files.text("a.txt")).toBe("one\ntwo\n")
  })
})
