import { execFileSync } from "node:child_process"
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { fileFixture, type FileFixture } from "../testing/file-fixture.ts"
import { pinByName } from "@toolwright/host/paths"

let files: FileFixture
beforeEach(() => {
  files = fileFixture({ "a.txt": "inside\n", "sub/b.txt": "b\n" })
  mkdirSync(join(files.folder, "outside"))
  writeFileSync(join(files.folder, "outside/secret.txt"), "secret\n")
})
afterEach(() => files[Symbol.dispose]())

const at = (name: string) => join(files.root, name)
const pinned = (path: string) => pinByName(files.workspace.policy, files.workspace.locate(path, "read"), "read")
const read = async (path: string): Promise<string> => {
  await using found = await pinned(path)
  const handle = await found.reopen()
  await using _closed = handle
  return await handle.readFile("utf8")
}

describe("without a view of descriptors' paths", () => {
  test("files are read, links that stay inside followed, and links that lead outside denied", async () => {
    symlinkSync("sub", at("in"))
    symlinkSync(join(files.folder, "outside"), at("out"))
    symlinkSync(join(files.folder, "outside/secret.txt"), at("link"))
    expect(await read("a.txt")).toBe("inside\n")
    expect(await read("in/b.txt")).toBe("b\n")
    for (const path of ["out/secret.txt", "link"])
      await expect(read(path)).rejects.toMatchObject({ code: "ACCESS_DENIED" })
  })

  test("a file that is exchanged between the check and the opening is noticed", async () => {
    await using found = await pinned("a.txt")
    symlinkSync(join(files.folder, "outside/secret.txt"), at("swap"))
    renameSync(at("swap"), at("a.txt"))
    await expect(found.reopen()).rejects.toMatchObject({ code: "ELOOP" })
    await using other = await pinned("sub/b.txt")
    writeFileSync(at("other"), "another\n")
    renameSync(at("other"), at("sub/b.txt"))
    await expect(other.reopen()).rejects.toMatchObject({ code: "ACCESS_DENIED" })
  })

  test("FIFOs are not waited for", async () => {
    execFileSync("mkfifo", [at("fifo")])
    await using found = await pinned("fifo")
    expect(found.stat.isFIFO()).toBe(true)
  })
})
