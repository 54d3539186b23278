import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { fileFixture, type FileFixture } from "../testing/file-fixture.ts"
import { createWorkspace } from "@toolwright/host/paths"

let files: FileFixture
const at = (name: string) => join(files.root, name)
const outside = (name: string) => join(files.folder, "outside", name)
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (thrown: { code?: string }) => thrown.code ?? String(thrown),
  )

beforeEach(() => {
  files = fileFixture({ "a.txt": "a\n", "sub/b.txt": "b\n" })
  mkdirSync(join(files.folder, "outside"))
  writeFileSync(outside("secret.txt"), "secret\n")
})
afterEach(() => files[Symbol.dispose]())

test.runIf(process.platform === "linux")(
  "a file whose name is no UTF-8 is listed, and not opened: it is said why",
  async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${files.root}/caf`), Buffer.from([0xe9])]), "x")
    const name = readdirSync(files.root).find((each) => each.startsWith("caf"))!
    await expect(createWorkspace({ roots: [{ path: files.root }] }).read(name)).rejects.toMatchObject({
      code: "NOT_FOUND",
      hint: expect.stringContaining("no UTF-8"),
    })
  },
)

describe("symbolic links", () => {
  beforeEach(() => {
    symlinkSync(join(files.folder, "outside"), at("out"))
    symlinkSync(outside("secret.txt"), at("secret-link"))
    symlinkSync(outside("new.txt"), at("dangling"))
    symlinkSync("sub", at("in"))
    symlinkSync("a.txt", at("a-link"))
    symlinkSync("loop", at("loop"))
  })

  test("that lead outside are denied in every way, with the answer for outside paths, existing or not", async () => {
    const { workspace } = files
    for (const path of ["secret-link", "out/secret.txt", "out/nothing", "out/deep/nothing", "dangling"]) {
      const denied = await workspace.read(path).catch((thrown: Error) => thrown.message)
      if (path !== "dangling")
        expect(denied).toBe(`Access denied: ${path} is not within allowed directories (not found or permission denied)`)
    }
    expect(await codeOf(workspace.list("out"))).toBe("ACCESS_DENIED")
    expect(await codeOf(workspace.stat("out"))).toBe("ACCESS_DENIED")
    expect(await codeOf(workspace.walk("out", () => undefined))).toBe("ACCESS_DENIED")
    expect(await codeOf(workspace.write("out/new.txt", ""))).toBe("ACCESS_DENIED")
    expect(await codeOf(workspace.makeDirectory("out/dir"))).toBe("ACCESS_DENIED")
    expect(await codeOf(workspace.removeFile("out/secret.txt"))).toBe("ACCESS_DENIED")
    expect(await codeOf(workspace.move("a.txt", "out/a.txt"))).toBe("ACCESS_DENIED")
    expect(await codeOf(workspace.realPath("out", "read"))).toBe("ACCESS_DENIED")
    expect(readdirSync(join(files.folder, "outside"))).toEqual(["secret.txt"])
  })

  test("are never written through", async () => {
    for (const path of ["secret-link", "dangling", "a-link", "loop"]) {
      expect([path, await codeOf(files.workspace.write(path, "new"))]).toEqual([path, "IS_SYMLINK"])
    }
    expect(await codeOf(files.workspace.makeDirectory("dangling"))).not.toBe("done")
    expect(readFileSync(outside("secret.txt"), "utf8")).toBe("secret\n")
    expect(existsSync(outside("new.txt"))).toBe(false)
  })

  test("that stay inside are followed for reading and for directories", async () => {
    expect((await files.workspace.read("in/b.txt")).shown).toBe(at("sub/b.txt"))
    expect((await files.workspace.read("a-link")).bytes.toString()).toBe("a\n")
    expect((await files.workspace.write("in/c.txt", "c")).shown).toBe(at("sub/c.txt"))
    expect(await codeOf(files.workspace.read("loop"))).toBe("INVALID_PATH")
  })

  test("to a protected name are denied by what they lead to", async () => {
    writeFileSync(at(".env"), "KEY=1")
    symlinkSync(".env", at("harmless.txt"))
    expect(await codeOf(files.workspace.read("harmless.txt"))).toBe("ACCESS_DENIED")
    mkdirSync(at(".git"))
    symlinkSync(".git", at("repo"))
    expect(await codeOf(files.workspace.write("repo/config", "x"))).toBe("ACCESS_DENIED")
  })

  test("are removed as links, alone and in a directory", async () => {
    mkdirSync(at("dir"))
    symlinkSync(join(files.folder, "outside"), at("dir/out"))
    await files.workspace.removeFile("secret-link")
    expect(await codeOf(files.workspace.removeDirectory("out", true))).toBe("NOT_A_DIRECTORY")
    await files.workspace.removeDirectory("dir", true)
    expect(readFileSync(outside("secret.txt"), "utf8")).toBe("secret\n")
  })
})

describe("things that are no files", () => {
  test("neither block nor answer: FIFOs, devices, sockets, kernel files", async () => {
    execFileSync("mkfifo", [at("fifo")])
    const reads = Array.from({ length: 8 }, () => codeOf(files.workspace.read("fifo")))
    expect(await Promise.all(reads)).toEqual(Array.from({ length: 8 }, () => "NOT_A_FILE"))
    expect((await files.workspace.read("a.txt")).bytes.toString()).toBe("a\n")
    expect(await codeOf(files.workspace.write("fifo", "x"))).toBe("NOT_A_FILE")
    expect((await files.call("search", { action: "grep", pattern: "a" })).success).toBe(true)
    expect((await files.call("search", { action: "find_in_file", path: "fifo", pattern: "a" })).error?.code).toBe(
      "NOT_A_FILE",
    )
    for (const [name, target] of [
      ["zero", "/dev/zero"],
      ["environ", "/proc/self/environ"],
      ["tty", "/dev/tty"],
    ] as const) {
      symlinkSync(target, at(name))
      expect(await codeOf(files.workspace.read(name))).toBe("ACCESS_DENIED")
    }
    const everything = createWorkspace({ roots: [{ path: "/" }] })
    for (const path of ["/proc/self/environ", "/proc/self/mem", "/dev/zero", "/dev/stdin"]) {
      expect(await codeOf(everything.read(path))).toBe("ACCESS_DENIED")
    }
  })

  test("sparse and growing files are read within the limit", async () => {
    writeFileSync(at("sparse"), "")
    truncateSync(at("sparse"), 5 * 1024 ** 3)
    expect(await codeOf(files.workspace.read("sparse"))).toBe("FILE_TOO_LARGE")
    expect(await codeOf(files.workspace.read("a.txt", 1))).toBe("FILE_TOO_LARGE")
  })
})

describe("writing", () => {
  test("keeps mode, gives hard links' other names their old content, and leaves no temporary files", async () => {
    linkSync(outside("secret.txt"), at("hard.txt"))
    chmodSync(at("hard.txt"), 0o750)
    await files.workspace.write("hard.txt", "new")
    expect(readFileSync(outside("secret.txt"), "utf8")).toBe("secret\n")
    expect(statSync(at("hard.txt")).mode & 0o777).toBe(0o750)
    await files.call("file", { action: "append", path: "hard.txt", content: "er" })
    expect(files.text("hard.txt")).toBe("new\ner")
    expect(readdirSync(files.root).sort()).toEqual(["a.txt", "hard.txt", "sub"])
  })

  test("gives new files the mode that the process's mask leaves", async () => {
    const mask = process.umask(0o027)
    await files.workspace.write("new.txt", "")
    process.umask(mask)
    expect(statSync(at("new.txt")).mode & 0o777).toBe(0o640)
  })

  test("exclusively refuses an existing file, and can flush to the disk", async () => {
    expect(await codeOf(files.workspace.write("a.txt", "x", { exclusive: true }))).toBe("ALREADY_EXISTS")
    await files.workspace.write("c.txt", "c", { exclusive: true, durable: true })
    expect(files.text("c.txt")).toBe("c")
  })

  test("of one file waits for what came before, and a change from outside in between is stale", async () => {
    await files.workspace.write("count", "0")
    const increment = () => files.workspace.update("count", ({ bytes }) => Buffer.from(String(Number(bytes) + 1)))
    await Promise.all(Array.from({ length: 50 }, increment))
    expect(files.text("count")).toBe("50")
    const outsider = files.workspace.update("count", ({ bytes }) => {
      writeFileSync(at("other"), "another file")
      renameSync(at("other"), at("count"))
      return Buffer.from(`${bytes.toString()}!`)
    })
    expect(await codeOf(outsider)).toBe("STALE")
    expect(files.text("count")).toBe("another file")
  })

  test("fails whole when the disk refuses, and leaves nothing behind", async () => {
    const before = readdirSync(files.root)
    expect(await codeOf(files.workspace.write("x".repeat(300), "y"))).toBe("ENAMETOOLONG")
    expect((await files.call("write_file", { path: "x".repeat(300), content: "y" })).error?.message).toMatch(
      /^Path too long: /u,
    )
    expect(readdirSync(files.root)).toEqual(before)
  })
})

describe("removing directories", () => {
  test("refuses those that hold a repository or secrets, and removes nothing then", async () => {
    mkdirSync(at("project/.git"), { recursive: true })
    writeFileSync(at("project/readme"), "x")
    expect(await codeOf(files.workspace.removeDirectory("project", true))).toBe("ACCESS_DENIED")
    expect(readdirSync(at("project"))).toEqual([".git", "readme"])
  })

  test("removes trees deeper than any path can be", async () => {
    execFileSync(
      "sh",
      [
        "-c",
        'i=0; while [ $i -lt 60 ]; do mkdir -p "$1" && cd -P "./$1" || exit 1; i=$((i+1)); done; echo x > leaf',
        "sh",
        "d".repeat(100),
      ],
      {
        cwd: at("sub"),
      },
    )
    expect(await codeOf(files.workspace.removeDirectory("sub", true))).toBe("done")
    expect(existsSync(at("sub"))).toBe(false)
    expect(readdirSync(files.root)).toEqual(["a.txt"])
  })
})

describe("walking", () => {
  test("bounds depth and number, says so, and can be aborted", async () => {
    mkdirSync(at("1/2/3/4"), { recursive: true })
    const seen: string[] = []
    expect(
      await files.workspace.walk(".", ({ path }) => void seen.push(path), { maxDepth: 2, sorted: true }),
    ).toMatchObject({ stopped: "depth" })
    expect(seen).toEqual(["1", "a.txt", "sub", "1/2", "sub/b.txt"])
    expect(await files.workspace.walk(".", () => undefined, { maxEntries: 2 })).toMatchObject({ stopped: "entries" })
    expect(await files.workspace.walk(".", () => "stop")).toMatchObject({ stopped: "visitor" })
    await expect(
      files.workspace.walk(".", () => undefined, { signal: AbortSignal.abort(new Error("enough")) }),
    ).rejects.toThrow("enough")
  })

  test("does not follow links, so cycles end", async () => {
    symlinkSync("..", at("sub/up"))
    const seen: string[] = []
    await files.workspace.walk(".", ({ path, kind }) => void seen.push(`${path}:${kind}`), { sorted: true })
    expect(seen).toEqual(["a.txt:file", "sub:directory", "sub/b.txt:file", "sub/up:symlink"])
    expect(lstatSync(at("sub/up")).isSymbolicLink()).toBe(true)
  })
})

test("a workspace says how it checks paths", () => {
  expect(files.workspace.checkedBy).toBe(process.platform === "linux" ? "descriptor" : "name")
})

test("long outputs lie in a directory that can be read by path, but is no root and cannot be written", async () => {
  const directory = await files.workspace.outputDirectory()
  writeFileSync(join(directory, "log.txt"), "output\n")
  expect((await files.workspace.read(join(directory, "log.txt"))).bytes.toString()).toBe("output\n")
  expect(await codeOf(files.workspace.write(join(directory, "log.txt"), ""))).toBe("READ_ONLY")
  expect(files.workspace.roots.map((root) => root.path)).toEqual([files.root])
  expect(statSync(directory).mode & 0o077).toBe(0)
})
