import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { commandFor } from "@toolwright/runtime"
import { describe, expect, test } from "vitest"
import { cli, folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"
import catalogue from "../tool-catalogue/catalogue.json" with { type: "json" }
import { OPTIONS } from "./tools.ts"
import { currentCatalogue } from "../tool-catalogue/current.ts"

describe("tools list", () => {
  test("comes from a catalogue that is equal to the tools (else: npm run generate -w packages/cli)", async () => {
    expect(catalogue).toEqual(await currentCatalogue())
  })

  test("is the same whether or not the tools are loaded for it, and says what cannot run", async () => {
    const cwd = folderWith()
    for (const [key, missing] of [
      ["", true],
      ["a-key", false],
    ] as const) {
      const env = { BRAVE_API_KEY: key }
      const [plain, loaded] = await Promise.all([
        here(["tools"], { cwd, env }),
        here(["tools", "list", "--root", "."], { cwd, env }),
      ])
      expect(plain).toEqual(loaded)
      expect(plain.code).toBe(0)
      expect(plain.stdout.includes("[not available here: set BRAVE_API_KEY]")).toBe(missing)
    }
  })

  test("as JSON holds the definitions; --split makes a tool of each action", async () => {
    const { stdout } = await here(["tools", "list", "--json", "--split"])
    const definitions = JSON.parse(stdout) as { name: string; schema: object; available: boolean }[]
    expect(definitions.find((each) => each.name === "search_grep")).toMatchObject({
      schema: { type: "object" },
      available: true,
    })
    expect(definitions.some((each) => each.name === "search")).toBe(false)
  })

  test("obeys the configuration", async () => {
    const cwd = folderWith({ "toolwright.yaml": "builtins: { only: [echo] }\n" })
    expect((await here(["tools", "list"], { cwd })).stdout.trimEnd().split("\n")).toHaveLength(1)
  })
})

test("tools show tells arguments, actions and examples; a near miss is named", async () => {
  const { stdout } = await here(["tools", "show", "search"])
  expect(stdout).toMatch(/^search {2}\(code[^]*Arguments:\n[^]*--max-results <number>[^]*search_grep[^]*Examples:/)
  const { schema } = JSON.parse((await here(["tools", "show", "search_grep", "--json"])).stdout) as {
    schema: { properties: object }
  }
  expect(schema.properties).not.toHaveProperty("action")
  expect(await here(["tools", "show", "serch"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Did you mean 'search'?"),
  })
})

describe("tools call", () => {
  test("keeps to the permissions of the configuration; what is to be asked about may run, since somebody typed it", async () => {
    const cwd = folderWith({
      "toolwright.yaml": "permissions:\n  deny: [write_file]\n  ask: [create_directory]\n  denyPaths: ['private/*']\n",
      "private/a.txt": "hidden\n",
    })
    const call = (name: string, ...args: string[]) => here(["tools", "call", name, ...args], { cwd })
    expect(await call("write_file", "--path", "b.txt", "--content", "x")).toMatchObject({ code: 1 })
    expect(existsSync(join(cwd, "b.txt"))).toBe(false)
    expect((await call("create_directory", "--path", "made")).code).toBe(0)
    const read = await call("read_text_file", "--path", "./private/a.txt")
    expect(read.code).toBe(1)
    expect(read.stdout + read.stderr).not.toContain("hidden")
    expect((await call("search_grep", "--pattern", "hid")).stdout).not.toContain("hidden")
  })

  const files = { "src/a.ts": "const a = 1 // TODO tidy\n", "src/b.js": "// TODO: ü\n", "notes.txt": "TODO\n" }

  test("takes arguments as flags, typed by the schema", async () => {
    const cwd = folderWith(files)
    const { code, stdout, stderr } = await cli(
      [
        "tools",
        "call",
        "search_grep",
        "--pattern",
        "todo",
        "--path",
        "src",
        "--ignore-case",
        "--max_results=1",
        "--json",
      ],
      { cwd },
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject({ success: true, executionTimeMs: expect.any(Number) })
    const text = await here(["tools", "call", "search", "--action", "grep", "--pattern", "TODO", "--path", "src"], {
      cwd,
    })
    expect(text.stdout).toContain("src/a.ts:1")
    expect(text.stdout).not.toContain("notes.txt")
  })

  test("takes them as JSON too: an option, standard input, a file; flags go before", async () => {
    const cwd = folderWith({ ...files, "args.json": '{"pattern": "TODO", "path": "notes.txt"}' })
    const json = '{"pattern": "TODO", "path": "src"}'
    const [option, input, dash, file] = await Promise.all([
      here(["tools", "call", "search_grep", "--args", json], { cwd }),
      cli(["tools", "call", "search_grep", "--args", "-"], { cwd, stdin: json }),
      here(["tools", "call", "search_grep", "-"], { cwd, stdin: json }),
      here(["tools", "call", "search_grep", "--args", "@args.json", "--path", "src"], { cwd }),
    ])
    expect(option.stdout).toContain("src/b.js:1")
    for (const other of [input, dash, file]) expect(other).toEqual(option)
  })

  test("touches only the roots; --read-only ones are not written", async () => {
    const cwd = folderWith(files)
    const write = (...args: string[]) =>
      here(["tools", "call", "file", "--action", "write", "--path", "new.txt", "--content", "x", ...args], { cwd })
    const outside = await here(["tools", "call", "file_read", "--path", join(cwd, "notes.txt"), "--root", "src"], {
      cwd,
    })
    expect(outside).toMatchObject({ code: 1, stderr: expect.stringContaining("not within allowed directories") })
    expect(await write("--read-only", ".")).toMatchObject({ code: 1 })
    expect(existsSync(join(cwd, "new.txt"))).toBe(false)
    expect(await write()).toMatchObject({ code: 0 })
    expect(readFileSync(join(cwd, "new.txt"), "utf8")).toBe("x")
    const before = await here(["tools", "call", "--root", "src", "--json", "search_grep", "--pattern", "TODO"], { cwd })
    expect(JSON.parse(before.stdout)).toMatchObject({ success: true })
  })

  test.each<[string, string[], number, string]>([
    ["an unknown tool", ["tools", "call", "serch_grep"], 2, "Did you mean 'search_grep'?"],
    ["no tool", ["tools", "call"], 2, "Which tool?"],
    [
      "an argument that the tool does not have",
      ["tools", "call", "search_grep", "--patern", "x"],
      2,
      "Did you mean '--pattern'?",
    ],
    ["a missing argument", ["tools", "call", "search_grep"], 2, "INVALID_ARGUMENTS"],
    [
      "a value of the wrong type",
      ["tools", "call", "search_grep", "--pattern", "x", "--max-results", "many"],
      2,
      "INVALID_ARGUMENTS",
    ],
    [
      "an argument given twice",
      ["tools", "call", "search_grep", "--pattern", "x", "--pattern", "y"],
      2,
      "takes one value",
    ],
    ["arguments that are no JSON", ["tools", "call", "echo", "--args", "{oops"], 2, "no JSON"],
    ["arguments that are no object", ["tools", "call", "echo", "--args", "[1]"], 2, "must be a JSON object"],
    ["a file that is not there", ["tools", "call", "echo", "--args", "@nowhere.json"], 2, "nowhere.json"],
    ["a bare word", ["tools", "call", "echo", "hello"], 2, "Arguments are flags"],
    ["a wrong time", ["tools", "call", "echo", "--message", "x", "--timeout", "soon"], 2, "--timeout soon"],
    ["a folder that is not there", ["tools", "call", "echo", "--message", "x", "--root", "/nowhere"], 2, "/nowhere"],
  ])("refuses %s", async (_, args, code, said) => {
    const finished = await here(args)
    expect(finished.code).toBe(code)
    expect(finished.stdout + finished.stderr).toContain(said)
  })

  test("that never returns is stopped when its time is over", async () => {
    const { code, stdout } = await cli(
      ["tools", "call", "bash", "--command", "sleep 600", "--timeout", "0.5", "--json"],
      { cwd: folderWith() },
    )
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ success: false, error: { code: "TIMEOUT" } })
  })

  test("a closed pipe is no failure", async () => {
    const cwd = folderWith(
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`f${index}.txt`, "TODO\n".repeat(20)])),
    )
    const { child, finished } = startCli(
      ["tools", "call", "search_grep", "--pattern", "TODO", "--max-results", "1000"],
      { cwd },
    )
    child.stdout?.destroy()
    expect((await finished).stderr).toBe("")
  })
})

test("a call that fails says to a person why, and what to do", async () => {
  const cwd = folderWith({ "src/math.ts": "", "toolwright.yaml": "permissions: { deny: [file] }\n" })
  const missing = await here(["tools", "call", "read_text_file", "--path", "src/maths.ts"], { cwd })
  expect(missing).toMatchObject({ code: 1, stdout: "" })
  expect(missing.stderr).toMatch(/^toolwright: NOT_FOUND: .*src\/maths\.ts.*\nDid you mean src\/math\.ts\?\n$/)
  const denied = await here(["tools", "call", "file", "--action", "read", "--path", "src/math.ts"], { cwd })
  expect(denied.stderr).toMatch(/^toolwright: PERMISSION_DENIED: .*\nThe configuration denies it/)
  expect(denied.stderr).not.toContain("Go on without")
})

test("a flag that the tool does not take is answered with those that it does", async () => {
  const { code, stderr } = await here(["tools", "call", "echo", "--zzz", "x"])
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("'echo' takes --message.") })
})

test("a hint says what to type, and writes no call of a model", async () => {
  const cwd = folderWith({ "a.txt": "a" })
  const wrong = await here(["tools", "call", "file"], { cwd })
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain(
    `A correct call: toolwright tools call file --args '{"action":"read","path":"src/index.ts"}'\n` +
      "'toolwright tools show file' lists the arguments.\n",
  )
  const parent = await here(["tools", "call", "write_file", "--path", "new/x.txt", "--content", "hi"], { cwd })
  expect(parent.stderr).toMatch(/type toolwright tools call create_directory --args '\{"path":"\S*new"\}'\.\n$/)
})

test("a call that somebody is to type is in flags, but for what flags cannot say or the command has for itself", () => {
  const typed = (args: Record<string, unknown>): string => commandFor({ name: "t", arguments: args } as never)
  expect(typed({})).toBe("toolwright tools call t")
  expect(typed({ path: "a/b.md", max_results: 5, deep: false, text: "it's so", sign: "-x" })).toBe(
    "toolwright tools call t --path a/b.md --max-results=5 --deep=false --text 'it'\\''s so' --sign='-x'",
  )
  for (const args of [{ list: ["a"] }, { of: { a: 1 } }, { text: "@file" }])
    expect(typed(args)).toBe(`toolwright tools call t --args '${JSON.stringify(args)}'`)
  for (const option of Object.keys(OPTIONS))
    expect(typed({ [option.replaceAll("-", "_")]: "v" }), option).toContain("--args ")
})
