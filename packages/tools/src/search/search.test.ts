import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { fileFixture, type FileFixture } from "../testing/file-fixture.ts"
import { definitionPattern } from "./definition-pattern.ts"
import { compileGlobs } from "./glob.ts"
import { compileLinearGlob } from "./linear-glob.ts"
import { findFiles } from "./find-files.ts"
import { grep } from "./grep.ts"
import type { ContentQuery } from "./query.ts"

const FILES = {
  "src/a.ts": "export const alpha = 1\nfunction beta() {\n  return alpha\n}\n// fin",
  "src/b.py": "def gamma(x):\r\n    return x\r\n\r\nclass Delta:\r\n    pass\r\n",
  "src/deep/c.go": "func (s *Server) Epsilon() error {\n\treturn nil\n}\ntype Zeta struct{}\n",
  "latin.txt": Buffer.from("caf\xe9 alpha\n", "latin1"),
  "unicode.txt": "café naïve\n",
  "wide.txt": Buffer.from("\ufeffalpha wide\nsecond\n", "utf16le"),
  "binary.bin": Buffer.from("alpha\0beta\n"),
  ".hidden/d.txt": "alpha hidden\n",
  ".git/config": "alpha git\n",
  ".gitignore": "ignored/\n*.log\n!keep.log\n/only-here.txt\n",
  "ignored/e.txt": "alpha ignored\n",
  "x.log": "alpha log\n",
  "keep.log": "alpha kept\n",
  "only-here.txt": "alpha anchored\n",
  "src/only-here.txt": "alpha not anchored\n",
  "src/.gitignore": "*.tmp\n",
  "src/f.tmp": "alpha tmp\n",
  "f.tmp": "alpha not tmp\n",
  ".env": "SECRET=alpha\n",
  "long.txt": `alpha ${"x".repeat(5000)}\n`,
  "empty.txt": "",
}

let files: FileFixture
beforeEach(() => void (files = fileFixture(FILES)))
afterEach(() => files[Symbol.dispose]())

const queryOf = (pattern: string, more: Partial<ContentQuery> = {}): ContentQuery => ({
  pattern,
  fixed: false,
  ignoreCase: false,
  word: false,
  include: [],
  includeIgnored: false,
  ...more,
})
// In files that are no UTF-8, ripgrep sees bytes where the other engine sees ISO-8859-1: only what is ASCII is found by
// both.
const lines = async (query: ContentQuery, engine: "ripgrep" | "re2js") => {
  const result = await grep(files.workspace, ".", query, { maxResults: 1000, context: 0, engine })
  expect(result.engine).toBe(engine)
  return result.matches.map((match) => `${match.path.slice(files.root.length + 1)}:${match.line}`)
}

describe("grep", () => {
  test("finds lines in text files, and leaves out what is ignored, secret, binary or the repository's own", async () => {
    expect(await lines(queryOf("alpha"), "ripgrep")).toEqual([
      ".hidden/d.txt:1",
      "f.tmp:1",
      "keep.log:1",
      "latin.txt:1",
      "long.txt:1",
      "src/a.ts:1",
      "src/a.ts:3",
      "src/only-here.txt:1",
      "wide.txt:1",
    ])
    const all = await lines(queryOf("alpha", { includeIgnored: true }), "ripgrep")
    expect(all).toContain("ignored/e.txt:1")
    expect(all.filter((line) => /^\.(git|env)/u.test(line))).toEqual([])
  })

  const queries: [string, ContentQuery][] = [
    ["text", queryOf("alpha")],
    ["a class", queryOf("[a-c]lph\\w+")],
    ["alternatives at the line's start", queryOf("^(export|def|func)\\b")],
    ["a line's end", queryOf("[})x]$")],
    ["blanks, which do not cross lines", queryOf("\\s+return")],
    ["a dot", queryOf("b.ta")],
    ["no case", queryOf("ALPHA|DELTA", { ignoreCase: true })],
    ["whole words", queryOf("ret|pass|alpha", { word: true })],
    ["plain text", queryOf("(s *", { fixed: true })],
    ["empty lines", queryOf("^$")],
    ["one kind of file", queryOf("alpha", { include: ["*.ts"] })],
    ["a folder", queryOf("alpha", { include: ["src/**"] })],
    ["not one kind of file", queryOf("alpha", { include: ["!*.txt"] })],
    ["ignored files too", queryOf("alpha", { includeIgnored: true })],
    ["Unicode", queryOf("na.ve|wid\\pL")],
    ["nothing", queryOf("omega")],
  ]
  test.each(queries)("gives the same lines with ripgrep and without it: %s", async (_, query) => {
    expect(await lines(query, "re2js")).toEqual(await lines(query, "ripgrep"))
  })

  test("gives lines as they are, shortened, with context when asked", async () => {
    const { data, output } = await files.call("search", { action: "grep", pattern: "return alpha", context: 1 })
    expect(data).toMatchObject({
      matches: [{ line: 3, text: "  return alpha", before: ["function beta() {"], after: ["}"] }],
      total: 1,
      truncated: false,
    })
    expect(output.split("\n")).toEqual([
      `${files.root}/src/a.ts:2- function beta() {`,
      `${files.root}/src/a.ts:3:   return alpha`,
      `${files.root}/src/a.ts:4- }`,
    ])
    const long = await files.call("search", { action: "grep", pattern: "alpha", path: "long.txt" })
    expect((long.data as { matches: { text: string }[] }).matches[0]?.text).toHaveLength(501)
    const latin = await files.call("search", { action: "find_in_file", path: "latin.txt", pattern: "alpha" })
    expect(latin.output).toContain("café alpha")
  })

  test("returns the first results by path and says how many there are", async () => {
    const { data, output } = await files.call("search", { action: "grep", pattern: "alpha", max_results: 2 })
    expect(data).toMatchObject({
      total: 9,
      truncated: true,
      matches: [{ path: `${files.root}/.hidden/d.txt` }, { path: `${files.root}/f.tmp` }],
    })
    expect(output).toContain("[2 of 9 matching lines.")
  })

  test.each([
    ["search", { action: "grep", pattern: "foo(bar" }],
    ["search", { action: "find_in_file", path: "call.js", pattern: "foo(bar" }],
  ])("looks for what is no regular expression as plain text, and says so: %s %j", async (name, args) => {
    writeFileSync(join(files.root, "call.js"), "foo(bar)\nfoobar\n")
    const { success, output, data, metadata } = await files.call(name, args)
    expect([success, data]).toMatchObject([true, { total: 1, matches: [{ line: 1, text: "foo(bar)" }] }])
    expect(output).toMatch(
      /call\.js:1: foo\(bar\)\n\[The pattern "foo\(bar" is no valid regular expression: .*as plain text\..*\]$/,
    )
    expect(metadata["plainText"]).toBe(true)
    expect((await files.call(name, { ...args, pattern: "(?=foo)x" })).output).toMatch(
      /^No lines match "\(\?=foo\)x"\.\n\[.*Look-around .* not supported\.\]$/,
    )
    expect((await files.call(name, { ...args, pattern: "foo" })).metadata["plainText"]).toBeUndefined()
  })

  test.each(["ripgrep", "re2js"] as const)(
    "says what is wrong with a pattern and how to look for text (%s)",
    async (engine) => {
      for (const path of [".", "src/a.ts"]) {
        const failed = grep(files.workspace, path, queryOf("foo(bar"), { maxResults: 1, context: 0, engine })
        await expect(failed).rejects.toMatchObject({
          code: "INVALID_PATTERN",
          hint: expect.stringContaining("fixed") as string,
        })
      }
    },
  )

  test.each(["ripgrep", "re2js"] as const)("no pattern takes for ever (%s)", async (engine) => {
    writeFileSync(join(files.root, "bomb.txt"), `${"a".repeat(40_000)}!\n`.repeat(3))
    for (const pattern of ["(a+)+$", "(a|a)*b", "(.*a){10}x"]) {
      const result = await grep(files.workspace, "bomb.txt", queryOf(pattern), { maxResults: 1, context: 0, engine })
      expect(result.total).toBe(0)
    }
  })

  test("stops when it is cancelled, and takes no options from patterns or paths", async () => {
    const signal = AbortSignal.abort(new Error("enough"))
    await expect(grep(files.workspace, ".", queryOf("a"), { maxResults: 1, context: 0, signal })).rejects.toThrow(
      "enough",
    )
    writeFileSync(join(files.root, "--pre=x"), "--files\n")
    expect((await files.call("search", { action: "grep", pattern: "--files" })).data).toMatchObject({ total: 1 })
    expect(
      (await files.call("search", { action: "grep", pattern: "-f", path: "--pre=x", fixed: true })).data,
    ).toMatchObject({ total: 1 })
    expect((await files.call("search", { action: "grep", pattern: "a\0b" })).success).toBe(false)
  })

  test("does not read ripgrep's configuration", async () => {
    writeFileSync(join(files.folder, "rc"), "--files\n")
    process.env["RIPGREP_CONFIG_PATH"] = join(files.folder, "rc")
    try {
      expect((await files.call("search", { action: "grep", pattern: "gamma" })).data).toMatchObject({ total: 1 })
    } finally {
      delete process.env["RIPGREP_CONFIG_PATH"]
    }
  })
})

describe("find_files", () => {
  test("does not look into ignored directories", async () => {
    for (let index = 0; index < 50; index += 1) {
      mkdirSync(join(files.root, `ignored/deep${index}`), { recursive: true })
      writeFileSync(join(files.root, `ignored/deep${index}/.gitignore`), "!*\n")
    }
    const entered: string[] = []
    const { workspace } = files
    const watched = {
      ...workspace,
      walk: (path, visit, options) =>
        workspace.walk(path, visit, {
          ...options,
          enter: (directory, entries) => {
            entered.push(directory)
            return options?.enter?.(directory, entries)
          },
        }),
    } satisfies typeof workspace
    await findFiles(watched, ".", "*", { includeIgnored: false, maxResults: 10 })
    expect(entered).toContain("src/deep")
    expect(entered.filter((directory) => directory.startsWith("ignored"))).toEqual([])
  })

  test("finds by name or path, honours ignore files, and shows links without following them", async () => {
    symlinkSync("/etc", join(files.root, "etc.ts"))
    const found = async (args: object) =>
      ((await files.call("search", { action: "find_files", ...args })).data as { files: string[] }).files.map((file) =>
        file.slice(files.root.length + 1),
      )
    expect(await found({ pattern: "*.ts" })).toEqual(["etc.ts", "src/a.ts"])
    expect(await found({ pattern: "**/deep/*" })).toEqual(["src/deep/c.go"])
    expect(await found({ pattern: "*.log" })).toEqual(["keep.log"])
    expect(await found({ pattern: "*.log", include_ignored: true })).toEqual(["keep.log", "x.log"])
    expect(await found({ pattern: "only-here.txt" })).toEqual(["src/only-here.txt"])
    expect(await found({ pattern: "*.tmp", path: "src" })).toEqual([])
    writeFileSync(join(files.root, "src/deep/z.log"), "alpha\n")
    expect(await found({ pattern: "*.log", path: "src/deep" })).toEqual([])
    for (const engine of ["ripgrep", "re2js"] as const) {
      const { total } = await grep(files.workspace, "src", queryOf("alpha"), { maxResults: 100, context: 0, engine })
      expect([engine, total]).toEqual([engine, 3])
    }
    expect((await files.call("search", { action: "find_files", pattern: "a\0" })).error?.code).toBe("INVALID_PATTERN")
    expect((await files.call("search", { action: "find_files", pattern: "{a,b".repeat(400) })).error?.code).toBe(
      "INVALID_PATTERN",
    )
  })
})

describe("find_definition", () => {
  const defined = (name: string, line: string) => new RegExp(definitionPattern(name), "u").test(line)

  test("finds definitions in the languages of everyday code, and no uses", () => {
    for (const line of [
      "export async function run(x) {",
      "const run = () => 1",
      "export default class run {",
      "def run(self):",
      "  async def run():",
      "func run() error {",
      "func (s *Server) run(x int) {",
      "pub fn run<T>(x: T) -> T {",
      "fn run() {",
      "pub(crate) struct run {",
      "interface run {",
      "type run = string",
      "enum run { A }",
      "  public static void run(String[] args) {",
      "  async run(x: number): Promise<void> {",
      "  #run() {",
      "let mut run = 1",
      "trait run {",
      "module.exports.run = function () {",
      "  run: async (x) => x,",
      "object run {",
      "fun run() = 1",
      "namespace run {",
    ]) {
      expect([line, defined("run", line)]).toEqual([line, true])
    }
    for (const line of [
      "run()",
      "await run(x)",
      "  return run",
      "import { run } from 'x'",
      "if (run(x)) {",
      "object.run(x)",
      "function rerun() {",
      "const runner = 1",
      "// run",
    ]) {
      const isCondition = line.startsWith("if")
      expect([line, defined("run", line)]).toEqual([line, isCondition && defined("run", line)])
    }
  })

  test("answers with the lines, for names in any spelling", async () => {
    const at = async (name: string) => (await files.call("search", { action: "find_definition", name })).output
    expect(await at("alpha")).toBe(`${files.root}/src/a.ts:1: export const alpha = 1`)
    expect(await at("Server.Epsilon()")).toContain("src/deep/c.go:1:")
    expect(await at("Delta")).toContain("src/b.py:4: class Delta:")
    expect(await at("nothing")).toContain("Try grep")
  })
})

test("names with control characters are shown as escapes", async () => {
  mkdirSync(dirname(join(files.root, "odd/x")), { recursive: true })
  writeFileSync(join(files.root, "odd/a\u001b[31m\nb\u202e.txt"), "needle\n")
  for (const [name, args] of [
    ["list_directory", { path: "odd" }],
    ["list_directory_with_sizes", { path: "odd" }],
    ["search_files", { path: "odd", pattern: "*" }],
    ["get_directory_tree", { path: "odd" }],
    ["search", { action: "find_files", pattern: "*", path: "odd" }],
  ] as const) {
    const { output } = await files.call(name, args)
    expect([name, /[\u001b\u202e]/u.test(output)]).toEqual([name, false])
    expect(output).toContain("a\\u001b[31m\\u000ab\\u202e.txt")
  }
  writeFileSync(join(files.root, "odd/c\u202e.txt"), "needle \u001b[31m\n")
  const found = await files.call("search", { action: "grep", pattern: "needle", path: "odd" })
  expect(found.output).toBe(`${files.root}/odd/c\\u202e.txt:1: needle \\u001b[31m`)
})

describe("file patterns", () => {
  const hostile = "a".repeat(250)

  test.each([
    "*a".repeat(60) + "b",
    "{a,aa}".repeat(100) + "b",
    "+(a|a|+(a))b",
    "(a+)+b",
    "**/*a".repeat(12) + "b",
    "**/a/**/a/*a*a*b",
  ])("of %j take no exponential time", async (glob) => {
    const matches = await compileGlobs([glob])
    expect([matches(hostile), matches("a/".repeat(1500) + hostile)]).toEqual([false, false])
  })

  test("in an ignore file cannot stop a search", async () => {
    writeFileSync(join(files.root, ".gitignore"), `${"*a".repeat(60)}b\n*.log\n`)
    writeFileSync(join(files.root, hostile), "")
    const found = await findFiles(files.workspace, ".", "{a*,*.log}", { includeIgnored: false, maxResults: 10 })
    expect(found.files).toEqual([hostile, "src/a.ts"].map((name) => join(files.root, name)))
  })

  test("mean the same by both ways of matching", async () => {
    const paths = [
      "a.ts",
      "src/a.ts",
      "src/b/c.tsx",
      "a",
      "a/b",
      "a/b/c",
      "x-y-z.log",
      ".env",
      "src/.hid/a.ts",
      "b.js",
      "ab",
      "1.ts",
    ]
    const globs = [
      "src/*.ts",
      "**/*.ts",
      "src/**",
      "**",
      "a/**/c",
      "a/*",
      "./**/{a,c}.ts{,x}",
      "/[!a].js",
      "**/[^a]*",
      "**/?.ts",
      "**/.hid/**",
      "{a,{b,c}}/*",
      "a/**",
    ]
    for (const glob of globs) {
      const [usual, linear] = [await compileGlobs([glob]), await compileLinearGlob(glob.replace(/^\.\//u, ""), false)]
      expect({ glob, found: paths.filter(linear) }).toEqual({ glob, found: paths.filter(usual) })
    }
    const name = await compileGlobs(["(group)[!x]*.t?"])
    expect([name("app/(group)-a.ts"), name("app/(group)x.ts")]).toEqual([true, false])
  })

  test("of contents: lines of a file that cannot be opened by its name do not count as left out", async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${files.root}/bad`), Buffer.from([0xff])]), "rare_word\n")
    const result = await files.call("search", { action: "grep", pattern: "rare_word" })
    expect(result.output).toBe('No lines match "rare_word".')
  })

  test("of contents: too long ones and unknown syntax get a plain reason", async () => {
    const look = await files.call("search", { action: "grep", pattern: "(?=x)" })
    expect(look.output).toMatch(/look-around.* is not supported/u)
    const long = await files.call("search", { action: "grep", pattern: "a".repeat(200_000) })
    expect(long.error?.code).toBe("INVALID_ARGUMENTS")
  })
})
