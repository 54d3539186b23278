import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { userConfig } from "./user-config.ts"

let home: string
beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "user-config-")))
  mkdirSync(join(home, "work"), { recursive: true })
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const FOLDERS = ["a1", "b-2", "c]", "x*y", "D4", "e 5"]
const PATTERNS = [
  "[ab]*",
  "[!a]*",
  "[^a]*",
  "[a-c]?",
  "[[:alpha:]][[:digit:]]",
  "[]c]*",
  "c[]]",
  "x[*]y",
  "x\\*y",
  "?[0-9]",
]
const MORE = ["[b-a]1", "[a", "*[-2]", "[[:upper:]]*", "e[[:space:]]5", "[a/]1", "{a1}", "a1|b"]

test("a conditional include with a set of characters holds for the folders that git says, and no other", async () => {
  const [config, more] = [join(home, ".gitconfig"), join(home, "more")]
  writeFileSync(more, "[user]\n\tname = included\n")
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_GLOBAL: config, GIT_CONFIG_NOSYSTEM: "1" }
  const wrong: string[] = []
  for (const folder of FOLDERS) {
    const path = join(home, "work", folder)
    mkdirSync(path, { recursive: true })
    execFileSync("git", ["init", "-q"], { cwd: path, env })
    for (const pattern of [...PATTERNS, ...MORE]) {
      const quoted = pattern.replaceAll("\\", "\\\\")
      writeFileSync(config, `[includeIf "gitdir:${home}/work/${quoted}/"]\n\tpath = ${more}\n`)
      const says = execFileSync("git", ["config", "--default", "", "--get", "user.name"], { cwd: path, env })
        .toString()
        .trim()
      const entries = userConfig(join(path, ".git"), env)
      const ours = entries.find(({ section, key }) => section === "user" && key === "name")?.value ?? ""
      if (says !== ours) wrong.push(`${folder} by ${pattern}: git ${says}, here ${ours}`)
    }
  }
  expect(wrong).toEqual([])
})
