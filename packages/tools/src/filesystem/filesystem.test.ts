import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { fileFixture, type FileFixture } from "../testing/file-fixture.ts"

const TEXT = "line 1\nline 2\nline 3\n"
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

let files: FileFixture
beforeEach(() => void (files = fileFixture({ "test.txt": TEXT })))
afterEach(() => files[Symbol.dispose]())

const path = (name: string) => join(files.root, name)
const read = async (args: object) =>
  (await files.call("read_text_file", { path: path("test.txt"), ...args })).data as Record<string, unknown>

describe("read_text_file", () => {
  test("gives a whole file with what is known about it", async () => {
    const data = await read({})
    expect(data).toMatchObject({
      path: path("test.txt"),
      content: TEXT,
      line_count: 3,
      size_bytes: 21,
      is_truncated: false,
      encoding: "utf-8",
    })
    expect(data["modified_time"]).toBeCloseTo(statSync(path("test.txt")).mtimeMs / 1000, 3)
  })

  test("gives the first or the last lines, and head wins", async () => {
    expect(await read({ head: 2 })).toMatchObject({
      content: "line 1\nline 2\n",
      line_count: 2,
      is_truncated: true,
      size_bytes: 21,
    })
    expect(await read({ tail: 1 })).toMatchObject({ content: "line 3\n", line_count: 1, is_truncated: true })
    expect(await read({ head: 1, tail: 1 })).toMatchObject({ content: "line 1\n" })
    expect(await read({ tail: 0 })).toMatchObject({ content: "", line_count: 0, is_truncated: true })
    expect(await read({ head: 0 })).toMatchObject({ content: "", line_count: 0, is_truncated: true })
    expect(await read({ head: 10 })).toMatchObject({ content: TEXT, line_count: 3, is_truncated: true })
    expect(await read({ tail: 10 })).toMatchObject({ content: TEXT, line_count: 3 })
  })

  test("counts a last line without an ending, keeps CRLF, and reads an empty file", async () => {
    writeFileSync(path("test.txt"), "a\r\nb")
    expect(await read({})).toMatchObject({ content: "a\r\nb", line_count: 2 })
    expect(await read({ tail: 1 })).toMatchObject({ content: "b", line_count: 1 })
    expect(await read({ tail: 2 })).toMatchObject({ content: "a\r\nb" })
    expect(await read({ head: 1 })).toMatchObject({ content: "a\r\n" })
    writeFileSync(path("test.txt"), "")
    expect(await read({})).toMatchObject({ content: "", line_count: 0, size_bytes: 0 })
    expect(await read({ tail: 3 })).toMatchObject({ content: "" })
    expect(await read({ start_line: 1 })).toMatchObject({ content: "" })
  })

  test("refuses negative and fractional numbers of lines, and arguments it does not know", async () => {
    for (const wrong of [{ head: -1 }, { tail: -2 }, { head: 1.5 }, { start_line: 0 }, { headd: 1 }]) {
      expect((await files.call("read_text_file", { path: "test.txt", ...wrong })).error?.code).toBe("INVALID_ARGUMENTS")
    }
  })

  test("gives a range of lines, and says what the range can be", async () => {
    expect(await read({ start_line: 2, end_line: 3 })).toMatchObject({
      content: "line 2\nline 3\n",
      line_count: 2,
      is_truncated: true,
    })
    expect(await read({ start_line: 2 })).toMatchObject({ content: "line 2\nline 3\n" })
    const beyond = await files.call("read_text_file", { path: "test.txt", start_line: 7 })
    expect(beyond.error).toMatchObject({ code: "INVALID_RANGE", hint: "Use lines from 1 to 3." })
    const reversed = await files.call("read_text_file", { path: "test.txt", start_line: 3, end_line: 2 })
    expect(reversed.error?.code).toBe("INVALID_RANGE")
  })

  test("shows a model at most 2000 lines and says how to go on; programs get everything", async () => {
    writeFileSync(path("test.txt"), Array.from({ length: 5000 }, (_, index) => `row ${index + 1}\n`).join(""))
    const result = await files.call("read_text_file", { path: "test.txt" })
    expect((result.data as { line_count: number }).line_count).toBe(5000)
    expect(result.output.split("\n")).toHaveLength(2001)
    expect(result.output.split("\n").at(-1)).toBe("[Showing lines 1–2000 of 5000. Use start_line=2001 to continue.]")
    const next = await files.call("read_text_file", { path: "test.txt", start_line: 2001 })
    expect(next.output).toMatch(/^row 2001\n/u)
    expect(next.output).toContain("[Showing lines 2001–4000 of 5000. Use start_line=4001 to continue.]")
  })

  test("reads Latin-1, UTF-16 and byte-order marks, and reports the encoding", async () => {
    writeFileSync(path("test.txt"), Buffer.from("caf\xe9\n", "latin1"))
    expect(await read({})).toMatchObject({ content: "café\n", encoding: "iso-8859-1" })
    writeFileSync(path("test.txt"), Buffer.from("\ufeffeins\nzwei\ndrei\n", "utf16le"))
    expect(await read({})).toMatchObject({ content: "eins\nzwei\ndrei\n", encoding: "utf-16le" })
    expect(await read({ tail: 1 })).toMatchObject({ content: "drei\n", encoding: "utf-16le" })
    expect(await read({ head: 1 })).toMatchObject({ content: "eins\n", encoding: "utf-16le" })
    writeFileSync(path("test.txt"), Buffer.from("\ufeffeins\nzwei\ndrei\n", "utf16le").swap16())
    expect(await read({ tail: 2 })).toMatchObject({ content: "zwei\ndrei\n", encoding: "utf-16be" })
    expect(await read({ head: 2 })).toMatchObject({ content: "eins\nzwei\n", encoding: "utf-16be" })
    writeFileSync(path("test.txt"), "\ufeffbom\n")
    expect(await read({})).toMatchObject({ content: "bom\n", encoding: "utf-8" })
  })

  test("keeps characters whole wherever the chunks of a partial read end", async () => {
    const line = `${"é€😀".repeat(9000)}\n`
    writeFileSync(path("test.txt"), line.repeat(4))
    expect((await read({ head: 2 }))["content"]).toBe(line.repeat(2))
    expect((await read({ tail: 3 }))["content"]).toBe(line.repeat(3))
  })

  test("refuses binary files and names the tool for them", async () => {
    for (const [part, content] of [
      [{}, "\u0001\0"],
      [{ head: 1 }, "\u0001\0"],
      [{ head: 1 }, "text\n\0"],
      [{ tail: 1 }, "\0\ntext\n"],
    ] as const) {
      writeFileSync(path("test.txt"), content)
      const { error } = await files.call("read_text_file", { path: "test.txt", ...part })
      expect(error).toMatchObject({ code: "BINARY_FILE", hint: expect.stringContaining("read_media_file") as string })
    }
  })

  test("refuses 60 MB with both sizes in the message, but reads their ends", async () => {
    writeFileSync(path("big.txt"), "first\n")
    truncateSync(path("big.txt"), 60 * 1024 * 1024)
    const { error } = await files.call("read_text_file", { path: path("big.txt") })
    expect(error).toMatchObject({
      code: "FILE_TOO_LARGE",
      message: `File too large: ${path("big.txt")} is 60 MB, the limit is 50 MB`,
    })
    writeFileSync(path("big.txt"), `first\n${"x".repeat(1023)}\n`.padEnd(1024 * 1024, "some more text\n").repeat(60))
    expect((await files.call("read_text_file", { path: path("big.txt"), head: 1 })).data).toMatchObject({
      content: "first\n",
    })
    writeFileSync(path("big.txt"), "")
    for (let block = 0; block < 6; block += 1) {
      appendFileSync(
        path("big.txt"),
        Array.from({ length: 100_000 }, (_, line) => `line ${block * 100_000 + line + 1}`.padEnd(51, "é")).join("\n") +
          "\n",
      )
    }
    const far = await files.call("read_text_file", { path: path("big.txt"), start_line: 500_001, end_line: 500_002 })
    expect((far.data as { content: string }).content.replaceAll("é", "")).toBe("line 500001\nline 500002\n")
    expect(far.output).toContain("[Lines 500001–500002. Use start_line=500003 to continue.]")
    expect((await files.call("read_text_file", { path: path("big.txt"), start_line: 600_001 })).output).toContain(
      "fewer than 600001 lines",
    )
  })

  test("cuts one line that is longer than 50 MB, at either end, and says so", async () => {
    writeFileSync(path("line.txt"), Buffer.alloc(55 * 1024 * 1024, "é"))
    for (const part of [{ head: 1 }, { tail: 1 }]) {
      const { data, output } = await files.call("read_text_file", { path: "line.txt", ...part })
      const { content, line_count } = data as { content: string; line_count: number }
      expect([content.length, line_count, content.includes("\ufffd")]).toEqual([25 * 1024 * 1024, 1, false])
      expect(output.length).toBeLessThan(60_000)
      expect(output).toContain("[Cut: ")
    }
  })

  test("shows control and direction characters to a model as escapes, and gives programs the text itself", async () => {
    writeFileSync(path("test.txt"), "a\u001b]0;title\u0007b\u202ec\r\n")
    const result = await files.call("read_text_file", { path: "test.txt" })
    expect(result.output).not.toMatch(/[\u001b\u202e]/u)
    expect(result.output).toContain("b\\u202ec")
    expect((result.data as { content: string }).content).toBe("a\u001b]0;title\u0007b\u202ec\r\n")
  })
})

describe("errors that name the path", () => {
  test("a missing file, a directory, and paths outside", async () => {
    const message = async (args: object) => (await files.call("read_text_file", { ...args })).error?.message
    expect(await message({ path: path("nope.txt") })).toBe(`File not found: ${path("nope.txt")}`)
    expect(await message({ path: files.root })).toBe(`Not a file: ${files.root}`)
    expect(await message({ path: path("test.txt/below") })).toMatch(/^Not a directory: /u)
    for (const outside of [
      "/nonexistent/file.txt",
      "/etc/passwd",
      `${files.root}/../../etc/passwd`,
      "../../etc/passwd",
    ]) {
      expect(await message({ path: outside })).toBe(
        `Access denied: ${outside} is not within allowed directories (not found or permission denied)`,
      )
    }
    expect(await message({ path: "a\0b" })).toMatch(/denied.*null byte/u)
  })
})

describe("read_media_file", () => {
  test("gives base64 and the MIME type that the content shows", async () => {
    writeFileSync(path("picture.dat"), PNG)
    const { data, output } = await files.call("read_media_file", { path: "picture.dat" })
    expect(data).toMatchObject({
      mime_type: "image/png",
      type: "image",
      data: PNG.toString("base64"),
      size_bytes: PNG.length,
    })
    expect(output).not.toContain(PNG.toString("base64"))
  })

  test("knows what only the name can tell, and calls the rest bytes", async () => {
    writeFileSync(path("a.svg"), "<svg/>")
    writeFileSync(path("a.bin"), Buffer.from([0, 1, 2, 3]))
    writeFileSync(path("a.ts"), "export {}\n")
    const type = async (name: string) =>
      ((await files.call("read_media_file", { path: name })).data as { mime_type: string }).mime_type
    expect(await type("a.svg")).toBe("image/svg+xml")
    expect(await type("a.bin")).toBe("application/octet-stream")
    expect(await type("a.ts")).toBe("text/plain")
  })
})

describe("read_multiple_files", () => {
  test("returns the others when one is missing, that one with its error", async () => {
    writeFileSync(path("b.txt"), "b\n")
    const result = await files.call("read_multiple_files", {
      paths: ["test.txt", "missing.txt", "/etc/passwd", "b.txt"],
    })
    const data = result.data as {
      files: { content?: string; error?: { code: string } }[]
      read: number
      failed: number
    }
    expect(result.success).toBe(true)
    expect(data.files.map((file) => file.content ?? file.error?.code)).toEqual([
      TEXT,
      "NOT_FOUND",
      "ACCESS_DENIED",
      "b\n",
    ])
    expect([data.read, data.failed]).toEqual([2, 2])
    expect(result.output).toContain("==> missing.txt <==\nError: File not found: missing.txt")
  })

  test("fails when none can be read, and shares the room for text", async () => {
    expect((await files.call("read_multiple_files", { paths: ["x", "y"] })).error?.message).toBe(
      "File not found: x\nFile not found: y",
    )
    writeFileSync(path("long.txt"), "some text\n".repeat(10_000))
    const result = await files.call("read_multiple_files", { paths: ["long.txt", "test.txt"] })
    expect(result.output.length).toBeLessThan(52 * 1024)
    expect(result.output).toContain("line 3")
  })
})

describe("write_file", () => {
  test("creates and replaces, and reads back equal", async () => {
    const content = "ünï\r\ncode\n\u2028end"
    const created = await files.call("write_file", { path: path("new.txt"), content })
    expect(created.data).toMatchObject({
      path: path("new.txt"),
      size_bytes: Buffer.byteLength(content),
      line_count: 3,
      created: true,
    })
    expect(created.modifiedFiles).toEqual([path("new.txt")])
    expect((await files.call("read_text_file", { path: "new.txt" })).data).toMatchObject({ content })
    expect((await files.call("write_file", { path: "new.txt", content: "" })).data).toMatchObject({
      line_count: 0,
      created: false,
    })
    expect(readFileSync(path("new.txt"), "utf8")).toBe("")
  })

  test("says which parent is missing or no directory", async () => {
    const message = async (target: string) =>
      (await files.call("write_file", { path: path(target), content: "" })).error?.message
    expect(await message("a/b/c.txt")).toBe(`Parent directory does not exist: ${path("a/b")}`)
    expect(await message("test.txt/c.txt")).toBe(`Parent is not a directory: ${path("test.txt")}`)
    expect(await message(".")).toMatch(/allowed directory itself/u)
    mkdirSync(path("dir"))
    expect(await message("dir")).toBe(`Not a file: ${path("dir")}`)
  })

  test("keeps the mode of an existing file, and refuses what changed since it was read", async () => {
    chmodSync(path("test.txt"), 0o755)
    const { hash } = (await read({})) as { hash: string }
    expect((await files.call("write_file", { path: "test.txt", content: "new", expected_hash: hash })).success).toBe(
      true,
    )
    expect(statSync(path("test.txt")).mode & 0o777).toBe(0o755)
    const stale = await files.call("write_file", { path: "test.txt", content: "newer", expected_hash: hash })
    expect(stale.error?.code).toBe("STALE")
    expect(files.text("test.txt")).toBe("new")
  })
})

describe("directories", () => {
  test("are created with their parents, listed, and deleted", async () => {
    expect((await files.call("create_directory", { path: "a/b/c" })).data).toMatchObject({
      path: path("a/b/c"),
      created: true,
    })
    expect((await files.call("create_directory", { path: "a/b/c" })).data).toMatchObject({ created: false })
    expect((await files.call("create_directory", { path: "test.txt/x" })).error?.code).toBe("NOT_A_DIRECTORY")
    symlinkSync("test.txt", path("link"))
    const { data, output } = await files.call("list_directory", { path: "." })
    expect(data).toMatchObject({
      entries: [
        { name: "a", type: "directory" },
        { name: "link", type: "symlink" },
        { name: "test.txt", type: "file" },
      ],
      total: 3,
    })
    expect(output).toBe("a/\nlink@\ntest.txt")
    expect((await files.call("delete_directory", { path: "a" })).error?.code).toBe("NOT_EMPTY")
    expect((await files.call("delete_directory", { path: "a", recursive: true })).data).toMatchObject({ removed: 3 })
    expect(existsSync(path("a"))).toBe(false)
  })

  test("tools for files refuse directories, and the reverse", async () => {
    mkdirSync(path("dir"))
    const code = async (tool: string, target: string) => (await files.call(tool, { path: target })).error?.code
    expect(await code("delete_file", "dir")).toBe("NOT_A_FILE")
    expect(await code("delete_directory", "test.txt")).toBe("NOT_A_DIRECTORY")
    expect(await code("list_directory", "test.txt")).toBe("NOT_A_DIRECTORY")
    expect(await code("get_directory_tree", "test.txt")).toBe("NOT_A_DIRECTORY")
    expect(await code("list_directory", "missing")).toBe("NOT_FOUND")
    expect(await code("delete_file", "missing")).toBe("NOT_FOUND")
    expect(await code("delete_directory", ".")).toBe("ACCESS_DENIED")
  })

  test("show sizes of entries themselves, by size, with totals", async () => {
    writeFileSync(path("big"), "x".repeat(5000))
    symlinkSync("/etc/passwd", path("outside"))
    mkdirSync(path("dir"))
    const { data } = await files.call("list_directory_with_sizes", { path: ".", sort_by: "size" })
    const { entries, ...totals } = data as { entries: { name: string; size_bytes: number }[] }
    expect(entries.slice(0, 2).map((entry) => [entry.name, entry.size_bytes])).toEqual([
      ["big", 5000],
      ["test.txt", 21],
    ])
    expect(entries.find((entry) => entry.name === "outside")?.size_bytes).toBe("/etc/passwd".length)
    expect(totals).toMatchObject({ total_files: 2, total_directories: 1, total_size_bytes: 5021 })
  })

  test("show as trees, without what is excluded and not deeper than asked", async () => {
    for (const name of ["src/a.ts", "src/deep/b.ts", "node_modules/x/y.js", ".toolwright/runs/1/run.json"]) {
      mkdirSync(join(files.root, name, ".."), { recursive: true })
      writeFileSync(path(name), "")
    }
    const { data, output } = await files.call("get_directory_tree", {})
    expect(data).toMatchObject({
      tree: [
        {
          name: "src",
          type: "directory",
          children: [{ name: "a.ts" }, { name: "deep", children: [{ name: "b.ts" }] }],
        },
        { name: "test.txt", type: "file" },
      ],
      files: 3,
      directories: 2,
      truncated: false,
    })
    expect(output).toContain("  src/\n    a.ts\n    deep/\n      b.ts\n  test.txt")
    const flat = await files.call("get_directory_tree", { max_depth: 1, exclude_patterns: [] })
    expect((flat.data as { tree: { name: string }[] }).tree.map((node) => node.name)).toEqual([
      ".toolwright",
      "node_modules",
      "src",
      "test.txt",
    ])
    expect(flat.data).toMatchObject({ truncated: true })
  })
})

describe("search_files", () => {
  test("finds by glob over names or paths, and by part of a name", async () => {
    for (const name of ["src/Index.ts", "src/a/index.test.ts", "lib/index.js", ".toolwright/runs/1/run.json"]) {
      mkdirSync(join(files.root, name, ".."), { recursive: true })
      writeFileSync(path(name), "")
    }
    const found = async (args: object) =>
      ((await files.call("search_files", { path: ".", ...args })).data as { matches: string[] }).matches.map((match) =>
        match.slice(files.root.length + 1),
      )
    expect(await found({ pattern: "*.ts" })).toEqual(["src/Index.ts", "src/a/index.test.ts"])
    expect(await found({ pattern: "src/**/*.ts" })).toEqual(["src/Index.ts", "src/a/index.test.ts"])
    expect(await found({ pattern: "src/*.ts" })).toEqual(["src/Index.ts"])
    expect(await found({ pattern: "index" })).toEqual(["lib/index.js", "src/Index.ts", "src/a/index.test.ts"])
    expect(await found({ pattern: "index", exclude_patterns: ["src"] })).toEqual(["lib/index.js"])
    expect(await found({ pattern: "*.{js,txt}" })).toEqual(["lib/index.js", "test.txt"])
    expect(await found({ pattern: "*.json" })).toEqual([])
    expect(await found({ pattern: "*.json", exclude_patterns: [] })).toEqual([".toolwright/runs/1/run.json"])
    expect(await found({ pattern: "*.json", path: ".toolwright/runs" })).toEqual([".toolwright/runs/1/run.json"])
    const limited = await files.call("search_files", { path: ".", pattern: "index", max_results: 1 })
    expect(limited.data).toMatchObject({ total: 3, truncated: true })
  })
})

describe("get_file_info and list_allowed_directories", () => {
  test("tell type, size, permissions, links and whether it can be changed", async () => {
    chmodSync(path("test.txt"), 0o640)
    expect((await files.call("get_file_info", { path: "test.txt" })).data).toMatchObject({
      path: path("test.txt"),
      type: "file",
      size_bytes: 21,
      permissions: "640",
      hard_links: 1,
      writable: true,
    })
    expect((await files.call("get_file_info", { path: "." })).data).toMatchObject({ type: "directory" })
    expect((await files.call("list_allowed_directories", {})).data).toEqual({
      directories: [{ path: files.root, access: "read-write" }],
    })
  })
})

describe("move_file", () => {
  test("renames, refuses what exists, and refuses to move into itself", async () => {
    mkdirSync(path("dir"))
    expect((await files.call("move_file", { source: "test.txt", destination: "dir/moved.txt" })).data).toEqual({
      source: path("test.txt"),
      destination: path("dir/moved.txt"),
    })
    expect(readdirSync(path("dir"))).toEqual(["moved.txt"])
    writeFileSync(path("other.txt"), "")
    const existing = await files.call("move_file", { source: "other.txt", destination: "dir" })
    expect(existing.error).toMatchObject({
      code: "ALREADY_EXISTS",
      hint: expect.stringContaining("dir/other.txt") as string,
    })
    expect((await files.call("move_file", { source: "dir", destination: "dir/below" })).error?.code).toBe(
      "INVALID_PATH",
    )
    expect((await files.call("move_file", { source: "none", destination: "b" })).error?.message).toBe(
      "File not found: none",
    )
    expect((await files.call("move_file", { source: "other.txt", destination: "other.txt" })).error?.code).toBe(
      "ALREADY_EXISTS",
    )
    expect((await files.call("move_file", { source: "other.txt", destination: "no/b" })).error?.code).toBe(
      "PARENT_NOT_FOUND",
    )
  })

  test("moves a link itself and checks both ends", async () => {
    symlinkSync("test.txt", path("link"))
    expect((await files.call("move_file", { source: "link", destination: "moved-link" })).success).toBe(true)
    expect(readlinkSync(path("moved-link"))).toBe("test.txt")
    expect((await files.call("move_file", { source: "test.txt", destination: "/tmp/out.txt" })).error?.code).toBe(
      "ACCESS_DENIED",
    )
    expect((await files.call("move_file", { source: "/etc/passwd", destination: "in.txt" })).error?.code).toBe(
      "ACCESS_DENIED",
    )
  })

  test("does not lock up when two moves cross", async () => {
    writeFileSync(path("a"), "a")
    writeFileSync(path("b"), "b")
    const results = await Promise.all([
      files.call("move_file", { source: "a", destination: "b" }),
      files.call("move_file", { source: "b", destination: "a" }),
    ])
    expect(results.map((result) => result.error?.code)).toEqual(["ALREADY_EXISTS", "ALREADY_EXISTS"])
  })
})

test("tools still answer to the names that older clients know them by", async () => {
  expect((await files.registry.execute("filesystem__read_text_file", { path: "test.txt" })).success).toBe(true)
  expect((await files.registry.execute("file_operations__delete_file", { path: "test.txt" })).success).toBe(true)
  expect(existsSync(path("test.txt"))).toBe(false)
})

describe("a read-only root", () => {
  test("refuses every change with a tool error, and a read-write one below it allows them", async () => {
    using fixture = fileFixture({ "a.txt": "a\n", "sub/b.txt": "b\n" }, {})
    const { createWorkspace } = await import("@toolwright/host/paths")
    const { createFilesystemTools } = await import("./index.ts")
    const { ToolRegistry } = await import("@toolwright/toolbox")
    const workspace = createWorkspace({
      roots: [{ path: fixture.root }, { path: join(fixture.root, "sub"), access: "read-write" }],
      stateDirectory: join(fixture.folder, "state"),
    })
    const registry = new ToolRegistry()
    for (const tool of createFilesystemTools(workspace)) registry.register(tool)
    const code = async (name: string, args: object) => (await registry.execute(name, args)).error?.code
    expect(await code("write_file", { path: "a.txt", content: "" })).toBe("READ_ONLY")
    expect(await code("edit_file", { path: "a.txt", old_text: "a", new_text: "b" })).toBe("READ_ONLY")
    expect(await code("create_directory", { path: "new" })).toBe("READ_ONLY")
    expect(await code("delete_file", { path: "a.txt" })).toBe("READ_ONLY")
    expect(await code("delete_directory", { path: "sub", recursive: true })).toBe("ACCESS_DENIED")
    expect(await code("move_file", { source: "a.txt", destination: "sub/a.txt" })).toBe("READ_ONLY")
    expect(await code("move_file", { source: "sub/b.txt", destination: "b.txt" })).toBe("READ_ONLY")
    expect(await code("write_file", { path: "sub/b.txt", content: "new\n" })).toBeUndefined()
    expect(readFileSync(join(fixture.root, "a.txt"), "utf8")).toBe("a\n")
  })
})
