import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { patternsFor, spelledOut } from "./path-patterns.ts"
import { createPathPolicy } from "./policy.ts"

let folder = ""
let root = ""
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-patterns-")))
  root = join(folder, "ws")
  mkdirSync(join(root, "private"), { recursive: true })
  mkdirSync(join(folder, "tree"))
  symlinkSync(root, join(folder, "alias"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const readable = (denyRead: readonly string[], path: string, at = root): boolean =>
  createPathPolicy({ roots: [{ path: at }], denyRead }).readable(join(at, path))

describe("a pattern denies what it is about, however it is written", () => {
  test.each([
    ["private/../private/*"],
    ["./public/.././private/a.txt"],
    ["private//a.txt"],
    ["../ws/private"],
    ["../*/private/*"],
    ["[Pp]rivate/*"],
    ["[o-q]rivate/*"],
    ["[!x]rivate/*"],
    ["{public,private}/a.{md,txt}"],
    ["**/{a,b}.t[wx]t"],
    ["a.{pem,txt}"],
  ])("%s", (pattern) => {
    expect(readable([pattern], "private/a.txt")).toBe(false)
    expect(readable([pattern], "open/c.md")).toBe(true)
  })

  test("by a path that leads through a link, whether its end is there yet or not", () => {
    for (const name of ["private", "later", "later/deep/*"])
      expect(readable([join(folder, "alias", name)], `${name.replace("*", "x")}`)).toBe(false)
    expect(readable([join(folder, "alias/private")], "open")).toBe(true)
  })

  test("in the home folder", () => {
    expect(spelledOut("~/keys/*")).toEqual([join(homedir(), "keys/*")])
    expect(spelledOut("~")).toEqual([homedir()])
  })

  test("also where a backslash is part of a name", () => {
    expect(readable(["keys/a\\b.txt"], "keys/a\\b.txt")).toBe(false)
    expect(readable(["keys/a\\b.txt"], "keys/c.txt")).toBe(true)
  })

  test("also where its brackets are part of a name", () => {
    expect(readable(["pages/[id].ts"], "pages/[id].ts")).toBe(false)
    expect(readable(["pages/{a,b}"], "pages/{a,b}")).toBe(false)
  })

  test("with so many alternatives that they are not all written out", () => {
    expect(spelledOut("{a,b,c,d,e,f}".repeat(8)).length).toBeLessThan(500)
    expect(readable(["{a,b,c,d,e,f}".repeat(8)], "abcdefab")).toBe(false)
  })

  test.each([["./!.env"], [".//!.env"], ["x/../!.env"], ["{!.env,x}"], ["[!]!.env"], ["./{!.env,x}"], ["~/../!.env"]])(
    "and makes no exception that does not begin as one: %s",
    (pattern) => {
      expect(readable([".env", pattern], ".env")).toBe(false)
    },
  )

  test("and an exception lets through what it names letter by letter", () => {
    expect(readable(["*.txt", "![ab].txt"], "a.txt")).toBe(false)
    expect(readable(["*.txt", "!a.txt"], "a.txt")).toBe(true)
  })
})

describe("a folder that stands for another one is denied what that one is denied", () => {
  const written = (pattern: string) => pattern.replace("ROOT", root).replace("ALIAS", join(folder, "alias"))
  const at = (pattern: string, path: string, of = root): boolean =>
    readable(patternsFor([pattern], join(folder, "tree"), of, root), path, join(folder, "tree"))

  test.each([
    ["ROOT/private"],
    ["ROOT/private/*"],
    ["ROOT/**/a.txt"],
    ["ROOT/p*"],
    ["/*/private"],
    ["private/*"],
    ["**/private"],
    ["../ws/private"],
    ["ALIAS/private"],
    ["ALIAS/**/a.txt"],
  ])("a worktree: %s", (pattern) => {
    expect(at(written(pattern), "private/a.txt")).toBe(false)
    expect(at(written(pattern), "open/c.md")).toBe(true)
  })

  test.each([["sub/private"], ["ROOT/sub/private"], ["*/private/*"], ["s*/a.txt"], ["**/private/a.txt"]])(
    "the worktree of a folder below: %s",
    (pattern) => {
      expect(at(written(pattern), "private/a.txt", join(root, "sub"))).toBe(false)
      expect(at(written(pattern), "open/c.md", join(root, "sub"))).toBe(true)
    },
  )

  test("a folder below that is a root by itself, by the place that it has in the whole", () => {
    const below = join(root, "private")
    expect(readable(patternsFor(["private/keys/*"], below, below, root), "keys/a", below)).toBe(false)
    expect(readable(patternsFor(["other/keys/*"], below, below, root), "keys/a", below)).toBe(true)
  })

  test("with its exceptions, and with names as they are", () => {
    const patterns = [join(root, "private/*"), `!${join(root, "private/a.txt")}`, "*.key"]
    const there = patternsFor(patterns, join(folder, "tree"), root, root)
    expect(readable(there, "private/a.txt", join(folder, "tree"))).toBe(true)
    expect(readable(there, "private/b.txt", join(folder, "tree"))).toBe(false)
    expect(there.filter((pattern) => pattern.endsWith(".key"))).toEqual(["*.key"])
  })
})
