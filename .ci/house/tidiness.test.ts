import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(join(root, file)))
const sources = files.filter(
  (file) => /^(packages|bench|examples|\.ci)\/.*\.(ts|js|mjs)$/.test(file) && !file.includes("/fixtures/"),
)
const OWN = ".ci/house/tidiness.test.ts"
const text = (file: string) => readFileSync(join(root, file), "utf8")

test("the root holds what a reader expects there and nothing else", () => {
  const expected = new Set([
    ".changeset",
    ".ci",
    ".editorconfig",
    ".gitattributes",
    ".github",
    ".gitignore",
    ".npmrc",
    ".oxfmtrc.json",
    ".oxlintrc.json",
    "AGENTS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "bench",
    "compose.yaml",
    "docker",
    "docs",
    "examples",
    "knip.json",
    "package-lock.json",
    "package.json",
    "packages",
    "training",
    "tsconfig.base.json",
    "tsconfig.json",
    "tsconfig.tests.json",
    "vitest.config.ts",
  ])
  expect([...new Set(files.map((file) => file.split("/")[0]!))].filter((name) => !expected.has(name))).toEqual([])
})

test("no file holds two ideas: 400 lines are the limit, tables aside", () => {
  const long = sources.filter((file) => !/\.test\.ts$|\/data\//.test(file) && text(file).split("\n").length > 401)
  expect(long).toEqual([])
})

test("nothing is left for later, and nothing is switched off", () => {
  const marks =
    /(\/\/|\*)\s*(TODO|FIXME|XXX)\b|@ts-(ignore|nocheck|expect-error)|\b(it|test|describe)\.(only|todo)\b|\bas any(?=\s*[;,)\].}]|$)/
  const lines = sources
    .filter((file) => file !== OWN)
    .flatMap((file) =>
      text(file)
        .split("\n")
        .map((line, index) => `${file}:${index + 1}: ${line.trim()}`),
    )
  const found = lines.filter((line) => marks.test(line) && !/^[^:]*\.test\.ts:\d+:.*["'`].*(\/\/|\*)\s*TODO/.test(line))
  expect(found).toEqual([])
})

test("every dependency has its line in docs/dependencies.md", () => {
  const documented = new Set(
    [...text("docs/dependencies.md").matchAll(/^\| `?([@\w./-]+)`? \|/gm)].map((match) => match[1]!),
  )
  const manifests = files.filter((file) => /^packages\/[^/]+\/package\.json$/.test(file))
  const missing = manifests.flatMap((file) => {
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
    } = JSON.parse(text(file)) as Record<string, Record<string, string> | undefined>
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
      .filter((name) => !name.startsWith("@toolwright/") && name !== "toolwright" && !documented.has(name))
      .map((name) => `${file}: ${name}`)
  })
  expect(missing).toEqual([])
})
