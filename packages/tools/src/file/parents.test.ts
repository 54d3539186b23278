import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ToolRegistry } from "@toolwright/toolbox"
import { createWorkspace } from "@toolwright/host/paths"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createBuiltinTools } from "../builtin.ts"
import { fileFixture } from "../testing/file-fixture.ts"

let files: ReturnType<typeof fileFixture>
beforeEach(() => {
  files = fileFixture({ "here/a.txt": "a\n" })
})
afterEach(() => files[Symbol.dispose]())

type Rules = Omit<Parameters<typeof createWorkspace>[0], "roots">

/** Calls `file` in the fixture's folder under rules of its own, and takes what it did back. */
function withRules(rules: Rules, access: "read-only" | "read-write" = "read-write") {
  const kept = join(files.folder, "undo")
  const workspace = createWorkspace({
    roots: [{ path: files.root, access }],
    stateDirectory: join(files.folder, "state"),
    history: { folder: () => kept, makeFolder: () => mkdirSync(kept, { recursive: true }) },
    ...rules,
  })
  const registry = new ToolRegistry()
  for (const tool of createBuiltinTools({ roots: [], workspace, env: {} })) registry.register(tool)
  return {
    write: (path: string, action = "write") => registry.execute("file", { action, path, content: "text\n" }),
    history: () => workspace.history!(),
  }
}
const at = (path: string): string => join(files.root, path)
const isThere = (path: string): boolean => lstatSync(at(path), { throwIfNoEntry: false }) !== undefined

describe.each(["write", "append"])("the missing directories above a new file, by %s", (action) => {
  test("are made with it", async () => {
    const { write } = withRules({})
    expect((await write("new/deep/b.txt", action)).data).toMatchObject({ path: at("new/deep/b.txt"), created: true })
    expect(readFileSync(at("new/deep/b.txt"), "utf8")).toBe("text\n")
    expect((await write("here/b.txt", action)).success).toBe(true)
  })

  test("go with it when it is taken back", async () => {
    const { write, history } = withRules({})
    await write("here/new/deep/b.txt", action)
    expect((await (await history()).undo()).refused).toEqual([])
    expect([isThere("here/a.txt"), isThere("here/new")]).toEqual([true, false])
  })

  test("stay when something else is in them by then", async () => {
    const { write, history } = withRules({})
    await write("new/deep/b.txt", action)
    writeFileSync(at("new/mine.txt"), "mine\n")
    await (await history()).undo()
    expect([isThere("new/mine.txt"), isThere("new/deep/b.txt")]).toEqual([true, false])
  })

  test("are not made where the rules refuse the file, by its name or by where a link leads", async () => {
    symlinkSync("here", at("link"))
    symlinkSync(files.folder, at("out"))
    const { write } = withRules({ denyWrite: ["here/private", "here/*/*.lock"], denyRead: [".secrets"] })
    const code = async (path: string) => (await write(path, action)).error?.code
    for (const path of ["here/private/new/b.txt", "link/private/new/b.txt", "link/new/b.lock", "x/.secrets/b.txt"])
      expect([path, await code(path)]).toEqual([path, "ACCESS_DENIED"])
    expect(await code("out/new/b.txt")).toBe("ACCESS_DENIED")
    expect(["here/private", "here/new", "x"].filter(isThere)).toEqual([])
    expect(existsSync(join(files.folder, "new"))).toBe(false)
    expect((await write("link/new/b.txt", action)).data).toMatchObject({ path: at("here/new/b.txt") })
  })

  test("are not made in a read-only root, below a file, or behind a link to nothing", async () => {
    expect((await withRules({}, "read-only").write("new/b.txt", action)).error?.code).toBe("READ_ONLY")
    const { write } = withRules({})
    expect((await write("here/a.txt/new/b.txt", action)).error?.code).toBe("PARENT_NOT_A_DIRECTORY")
    symlinkSync("nowhere", at("dangling"))
    expect((await write("dangling/new/b.txt", action)).success).toBe(false)
    expect(["new", "nowhere"].filter(isThere)).toEqual([])
  })
})

test("a directory is not made through a link into a place that is denied", async () => {
  symlinkSync("here", at("link"))
  const workspace = createWorkspace({
    roots: [{ path: files.root, access: "read-write" }],
    stateDirectory: join(files.folder, "state"),
    denyWrite: ["here/private"],
  })
  await expect(workspace.makeDirectory("link/private/new")).rejects.toMatchObject({ code: "ACCESS_DENIED" })
  expect(isThere("here/private")).toBe(false)
})
