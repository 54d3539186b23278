import { execFileSync } from "node:child_process"
import { linkSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import {
  assertStateFile,
  isOwnFolder,
  makeStateFolder,
  readStateFile,
  stateTextOf,
  writeStateFile,
} from "./state-files.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "state-"))
  return () => rmSync(folder, { recursive: true, force: true })
})

const at = (name: string) => join(folder, name)

/** Everything that may stand where a file is looked for, by what is said of it. */
const TRAPS: Readonly<Record<string, { make: (path: string) => void; said: RegExp; code?: string }>> = {
  "a link to a device without end": { make: (path) => symlinkSync("/dev/zero", path), said: /link/ },
  "a link to a file elsewhere": { make: (path) => symlinkSync("/etc/passwd", path), said: /link/ },
  "a link to itself": { make: (path) => symlinkSync(path, path), said: /link/ },
  "a pipe": { make: (path) => execFileSync("mkfifo", [path]), said: /pipe|no regular file/ },
  "a directory": { make: (path) => mkdirSync(path), said: /directory|no regular file/ },
}

describe.skipIf(process.platform === "win32")("what stands in a file's place", () => {
  test.each(Object.entries(TRAPS))("%s is neither read nor waited for", (_name, { make, said }) => {
    make(at("file"))
    expect(() => readStateFile(at("file"))).toThrow(said)
    expect(stateTextOf(at("file"))).toBeUndefined()
  })

  test.each(Object.entries(TRAPS))("%s is not written through", (_name, { make, said }) => {
    make(at("file"))
    for (const how of ["replace", "append"] as const) {
      expect(() => writeStateFile(at("file"), "text", { how })).toThrow(said)
    }
    expect(() => writeStateFile(at("file"), "text", { how: "create" })).toThrow(/EEXIST/)
    expect(() => assertStateFile(at("file"))).toThrow(said)
  })

  test("a file with a second name elsewhere is not written", () => {
    writeFileSync(at("elsewhere"), "mine")
    linkSync(at("elsewhere"), at("file"))
    expect(() => writeStateFile(at("file"), "theirs")).toThrow(/second name/)
    expect(readFileSync(at("elsewhere"), "utf8")).toBe("mine")
  })

  test("a device is not read, not even where links may be followed", () => {
    symlinkSync("/dev/zero", at("zero"))
    expect(() => readStateFile(at("zero"), { follow: true })).toThrow(/no regular file/)
    writeFileSync(at("real"), "text")
    symlinkSync(at("real"), at("link"))
    expect(readStateFile(at("link"), { follow: true })?.toString()).toBe("text")
  })
})

test("no more is read than the limit, also of a file whose size is not told", () => {
  writeFileSync(at("large"), "x".repeat(100_001))
  expect(() => readStateFile(at("large"), { limit: 100_000 })).toThrow(/larger than 100000/)
  expect(readStateFile(at("large"), { limit: 100_001 })).toHaveLength(100_001)
  if (process.platform === "linux") expect(stateTextOf("/proc/self/stat")).toContain("(")
})

test("what is written is read again, replaced whole, appended and created once", () => {
  expect(readStateFile(at("file"))).toBeUndefined()
  writeStateFile(at("file"), "a longer text", { mode: 0o600 })
  expect(lstatSync(at("file")).mode & 0o777).toBe(0o600)
  writeStateFile(at("file"), "short")
  writeStateFile(at("file"), "er", { how: "append" })
  expect(stateTextOf(at("file"))).toBe("shorter")
  expect(() => writeStateFile(at("file"), "", { how: "create" })).toThrow(/EEXIST/)
})

test("a folder for state is made of real directories only", () => {
  expect(makeStateFolder(folder, "a", "b")).toBe(join(folder, "a", "b"))
  mkdirSync(at("elsewhere"))
  symlinkSync(at("elsewhere"), at("link"))
  expect(isOwnFolder(at("a"))).toBe(true)
  expect(isOwnFolder(at("link"))).toBe(false)
  expect(isOwnFolder(at("absent"))).toBe(false)
  expect(() => makeStateFolder(folder, "link", "runs")).toThrow(/link/)
  writeFileSync(at("file"), "")
  expect(() => makeStateFolder(folder, "file")).toThrow(/no directory/)
})
