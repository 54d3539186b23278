import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { fileFixture, type FileFixture } from "../testing/file-fixture.ts"

let files: FileFixture
beforeEach(() => void (files = fileFixture({ "a.ts": "const a = 1\nconst b = 2\n" })))
afterEach(() => files[Symbol.dispose]())

const bytes = () => readFileSync(join(files.root, "a.ts"))
const put = (content: string | Buffer) => writeFileSync(join(files.root, "a.ts"), content)
const editA = (args: object) => files.call("edit_file", { path: "a.ts", ...args })

describe("edit_file", () => {
  test("replaces, reports and shows the diff", async () => {
    const result = await editA({ old_text: "a = 1", new_text: "a = 3" })
    expect(result.data).toMatchObject({
      replacements: 1,
      dry_run: false,
      line_count: 2,
      edits: [{ line: 1, matched: "exact" }],
    })
    expect(result.output).toContain("-const a = 1\n+const a = 3\n const b = 2")
    expect(result.modifiedFiles).toEqual([join(files.root, "a.ts")])
    expect(bytes().toString()).toBe("const a = 3\nconst b = 2\n")
  })

  test("writes nothing on a dry run, and says what it would write", async () => {
    const before = statSync(join(files.root, "a.ts"))
    const dry = await editA({ edits: [{ old_text: "a = 1", new_text: "a = 3" }], dry_run: true })
    expect(dry.output).toContain("nothing was written")
    expect(dry.modifiedFiles).toEqual([])
    expect(statSync(join(files.root, "a.ts")).mtimeMs).toBe(before.mtimeMs)
    const real = await editA({ edits: [{ old_text: "a = 1", new_text: "a = 3" }] })
    expect(real.data as { hash: string; diff: string }).toMatchObject({
      hash: (dry.data as { hash: string }).hash,
      diff: (dry.data as { diff: string }).diff,
    })
  })

  test("keeps CRLF, byte-order mark, mode and a missing final newline", async () => {
    put("\ufeffconst a = 1\r\nconst b = 2\r\nlast")
    chmodSync(join(files.root, "a.ts"), 0o755)
    expect((await editA({ old_text: "const a = 1\nconst b", new_text: "let a = 1\nlet b" })).success).toBe(true)
    expect(bytes().toString()).toBe("\ufefflet a = 1\r\nlet b = 2\r\nlast")
    expect(statSync(join(files.root, "a.ts")).mode & 0o777).toBe(0o755)
  })

  test("keeps Latin-1 and UTF-16 files in their encoding, and refuses what they cannot hold", async () => {
    put(Buffer.from("na\xefve caf\xe9\n", "latin1"))
    expect((await editA({ old_text: "naïve", new_text: "très" })).success).toBe(true)
    expect(bytes()).toEqual(Buffer.from("tr\xe8s caf\xe9\n", "latin1"))
    expect((await editA({ old_text: "très", new_text: "€" })).error?.code).toBe("ENCODING")
    put(Buffer.from("\ufeffeins zwei\n", "utf16le"))
    expect((await editA({ old_text: "zwei", new_text: "😀" })).success).toBe(true)
    expect(bytes()).toEqual(Buffer.from("\ufeffeins 😀\n", "utf16le"))
    put(Buffer.from([0, 1, 2]))
    expect((await editA({ old_text: "x", new_text: "y" })).error?.code).toBe("BINARY_FILE")
  })

  test("refuses a file that is no longer the one that was read", async () => {
    const { hash } = (await files.call("read_text_file", { path: "a.ts" })).data as { hash: string }
    put("const a = 1\nconst b = 9\n")
    const stale = await editA({ old_text: "a = 1", new_text: "a = 3", expected_hash: hash })
    expect(stale.error).toMatchObject({ code: "STALE", details: { expected_hash: hash } })
    expect(bytes().toString()).toBe("const a = 1\nconst b = 9\n")
  })

  test("of two that start from the same state lets one through", async () => {
    const { hash } = (await files.call("read_text_file", { path: "a.ts" })).data as { hash: string }
    const results = await Promise.all(
      ["x", "y"].map((name) => editA({ old_text: "const a", new_text: `const ${name}`, expected_hash: hash })),
    )
    expect(results.map((result) => result.error?.code ?? "done").sort()).toEqual(["STALE", "done"])
  })

  test("says which arguments go together", async () => {
    expect((await editA({ old_text: "a" })).error).toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "The call of 'edit_file' lacks new_text.",
    })
    expect((await editA({})).error?.hint).toContain('"old_text":"the text that is there"')
    expect(
      (await editA({ old_text: "a", new_text: "b", edits: [{ old_text: "a", new_text: "b" }] })).error?.message,
    ).toContain("one or the other")
  })

  test("edits 10 MB", async () => {
    put("some line of text\n".repeat(600_000) + "needle\n")
    const result = await editA({ old_text: "needle", new_text: "thread" })
    expect(result.data).toMatchObject({ replacements: 1, line_count: 600_001 })
    expect((result.data as { diff: string }).diff).toContain("@@ -599998,4 +599998,4 @@")
  })
})

describe("file and code_edit", () => {
  test("do what their actions say, by the whole tool or as tools of one action", async () => {
    expect((await files.call("file", { action: "write", path: "n.txt", content: "1\n" })).success).toBe(true)
    expect((await files.call("file", { action: "append", path: "n.txt", content: "2\n" })).success).toBe(true)
    expect((await files.call("file", { action: "replace", path: "n.txt", old_text: "2", new_text: "3" })).success).toBe(
      true,
    )
    expect((await files.call("file", { action: "read", path: "n.txt" })).data).toMatchObject({ content: "1\n3\n" })
    const lines = await files.call("code_edit", { action: "get_lines", path: "n.txt", start_line: 2 })
    expect(lines.output).toMatch(/^2: 3\n\[2 lines, hash [0-9a-f]{16}\]$/u)
    const { hash } = lines.data as { hash: string }
    expect(
      (
        await files.call("code_edit", {
          action: "edit_lines",
          path: "n.txt",
          start_line: 2,
          end_line: 2,
          content: "two",
          expected_hash: hash,
        })
      ).success,
    ).toBe(true)
    expect(
      (
        await files.call("code_edit", {
          action: "insert_at_line",
          path: "n.txt",
          line: 1,
          content: "zero",
          expected_hash: hash,
        })
      ).error?.code,
    ).toBe("STALE")
    expect(
      (await files.call("code_edit", { action: "insert_at_line", path: "n.txt", line: 1, content: "zero" })).success,
    ).toBe(true)
    expect(
      (await files.call("code_edit", { action: "delete_lines", path: "n.txt", start_line: 2, end_line: 2 })).success,
    ).toBe(true)
    expect(files.text("n.txt")).toBe("zero\ntwo\n")
    expect((await files.call("file", { action: "delete", path: "n.txt" })).success).toBe(true)
    const single = files.registry.view({ splitActions: true })
    expect((await files.registry.execute("file", { action: "read", path: "n.txt" })).error?.code).toBe("NOT_FOUND")
    expect(single.list().map((tool) => tool.name)).toEqual(
      expect.arrayContaining(["file_read", "code_edit_get_lines", "search_grep"]),
    )
  })

  test("lines beyond the end are refused with how many there are", async () => {
    const beyond = await files.call("code_edit", { action: "get_lines", path: "a.ts", start_line: 99 })
    expect(beyond.error).toMatchObject({
      code: "INVALID_RANGE",
      message: "There is no line 99 in a.ts: it has 2 lines",
      hint: "Use lines from 1 to 2.",
    })
  })

  test("all of many appends to a new file at once are in it", async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, line) =>
        files.call("file", { action: "append", path: "log.txt", content: `${line}\n` }),
      ),
    )
    expect(results.filter((result) => !result.success)).toEqual([])
    expect(readFileSync(join(files.root, "log.txt"), "utf8").split("\n")).toHaveLength(21)
  })

  test("append never becomes a part of the line before", async () => {
    using files = fileFixture({ "open.md": "last line", "closed.md": "last line\r\n", "windows.md": "a\r\nlast line" })
    for (const path of ["open.md", "closed.md", "windows.md"])
      await files.call("file", { action: "append", path, content: "added\n" })
    expect(files.text("open.md")).toBe("last line\nadded\n")
    expect(files.text("closed.md")).toBe("last line\r\nadded\n")
    expect(files.text("windows.md")).toBe("a\r\nlast line\r\nadded\n")
    await files.call("file", { action: "append", path: "open.md", content: "\nmore" })
    expect(files.text("open.md")).toBe("last line\nadded\n\nmore")
  })

  test("append to a UTF-16 file in its encoding, and to binary files as they are", async () => {
    writeFileSync(join(files.root, "w.txt"), Buffer.from("\ufeffa\n", "utf16le"))
    await files.call("file", { action: "append", path: "w.txt", content: "b\n" })
    expect(readFileSync(join(files.root, "w.txt"))).toEqual(Buffer.from("\ufeffa\nb\n", "utf16le"))
  })
})
